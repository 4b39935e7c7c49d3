//! Reference counts from all events, with little memory.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};

use loadscope_trace::{BatchId, Event, EventKind, Level, Nanos, Stage};

use crate::counts::{LONG, LongWait, SLOWEST, Sum, Totals, minute_of};
use crate::fingerprint::{Fingerprint, hash_text};

/// Counts so far.
#[derive(Default)]
pub struct ReferenceCounts {
    /// Total counts.
    pub totals: Totals,
    /// Counts of each minute, from the first.
    pub minutes: Vec<Sum>,
    /// Waits of at least [`LONG`].
    pub long: Vec<LongWait>,
    /// Times and hashes of errors and warnings.
    pub messages: Vec<(Nanos, u64)>,
    slowest: BinaryHeap<Reverse<(Nanos, BatchId)>>,
    /// Batches in flight.
    in_flight: HashMap<BatchId, InFlight>,
    /// Open epochs, with the number of their next batch.
    epochs: BTreeMap<u32, u32>,
    newest: Option<u32>,
    wait: Option<Nanos>,
    training: BTreeSet<BatchId>,
    now: Nanos,
}

/// Batch in flight.
struct InFlight {
    stage: Stage,
    since: Nanos,
    indices: usize,
    timed: usize,
    was_held: bool,
    was_yielded: bool,
    /// Time in fetching and collating.
    fetch: Nanos,
    fingerprint: Fingerprint,
}

impl ReferenceCounts {
    /// Counts an event. A late event counts at the current time.
    pub fn apply(&mut self, event: &Event) {
        self.now = self.now.max(event.at);
        self.totals.events += 1;
        match &event.kind {
            EventKind::EpochStarted { epoch } if self.newest.is_none_or(|n| *epoch > n) => {
                self.newest = Some(*epoch);
                self.epochs.insert(*epoch, 0);
                self.totals.epochs += 1;
            }
            EventKind::EpochEnded { epoch } => self.end_epoch(*epoch),
            EventKind::RunEnded => {
                let open: Vec<u32> = self.epochs.keys().copied().collect();
                open.into_iter().for_each(|epoch| self.end_epoch(epoch));
                self.end_wait(None);
            }
            EventKind::Dispatched(dispatch) => {
                self.dispatch(dispatch.batch, dispatch.worker, &dispatch.indices);
            }
            EventKind::Entered { batch, stage } => self.enter(*batch, *stage),
            EventKind::Fetched(fetched) => {
                if let Some(of) = self.in_flight.get_mut(&fetched.batch)
                    && of.timed == 0
                {
                    of.timed = fetched.samples.len();
                }
            }
            EventKind::Consumer { waiting: true } if self.wait.is_none() => {
                // A request for the next batch ends the training step of the previous one.
                if let Some(batch) = self.training.first().copied() {
                    self.enter(batch, Stage::Done);
                }
                self.wait = Some(self.now);
            }
            EventKind::Consumer { waiting: false } => self.end_wait(None),
            EventKind::Message(message) if message.level >= Level::Warning => {
                let count = match message.level {
                    Level::Error => &mut self.totals.errors,
                    _ => &mut self.totals.warnings,
                };
                *count += 1;
                self.messages.push((self.now, hash_text(&message.text)));
            }
            EventKind::Dropped { count } => self.totals.dropped += count,
            _ => {}
        }
    }

    /// Returns the slowest batches, without ties with the fastest of them.
    pub fn slowest(&self) -> Vec<BatchId> {
        let least = self.slowest.peek().map(|Reverse((took, _))| *took);
        let all = self.slowest.iter();
        let is_slower = |took: Nanos| self.slowest.len() < SLOWEST || Some(took) > least;
        all.filter(|Reverse((took, _))| is_slower(*took))
            .map(|Reverse((_, batch))| *batch)
            .collect()
    }

    fn dispatch(&mut self, batch: BatchId, worker: Option<u16>, indices: &[u64]) {
        let Some(next) = self.epochs.get_mut(&batch.epoch) else {
            return;
        };
        if batch.idx < *next {
            return;
        }
        *next = batch.idx + 1;
        let in_flight = InFlight {
            stage: Stage::Queued,
            since: self.now,
            indices: indices.len(),
            timed: 0,
            was_held: false,
            was_yielded: false,
            fetch: Nanos::ZERO,
            fingerprint: Fingerprint::new(self.now, worker, indices),
        };
        self.in_flight.insert(batch, in_flight);
    }

    fn enter(&mut self, batch: BatchId, stage: Stage) {
        let now = self.now;
        let Some(of) = self.in_flight.get_mut(&batch) else {
            return;
        };
        if !of.stage.may_enter(stage) {
            return;
        }
        if matches!(of.stage, Stage::Fetching | Stage::Collating) {
            of.fetch += now - of.since;
        }
        (of.stage, of.since) = (stage, now);
        of.was_held |= stage == Stage::Held;
        of.was_yielded |= stage == Stage::Training;
        of.fingerprint = of.fingerprint.entered(now, stage);
        match stage {
            Stage::Training => self.training.insert(batch),
            _ => self.training.remove(&batch),
        };
        if matches!(stage, Stage::Training | Stage::Failed) {
            self.end_wait(Some(batch));
        }
        if stage.is_final()
            && let Some(of) = self.in_flight.remove(&batch)
        {
            self.record_finished(batch, &of);
        }
    }

    /// Counts a finished batch.
    fn record_finished(&mut self, batch: BatchId, of: &InFlight) {
        let mut sum = Sum::default();
        if of.was_yielded {
            sum.batches = 1;
            sum.samples = of.indices.max(of.timed) as u64;
        }
        sum.failed = u64::from(of.stage == Stage::Failed);
        sum.discarded = u64::from(of.stage == Stage::Discarded && !of.was_yielded);
        self.totals.held += u64::from(of.was_held);
        self.add(sum);
        if of.fetch <= Nanos::ZERO {
            return;
        }
        let least = self.slowest.peek().map(|Reverse((took, _))| *took);
        if self.slowest.len() < SLOWEST || Some(of.fetch) > least {
            self.slowest.push(Reverse((of.fetch, batch)));
            if self.slowest.len() > SLOWEST {
                self.slowest.pop();
            }
        }
    }

    fn end_wait(&mut self, batch: Option<BatchId>) {
        let Some(start) = self.wait.take() else {
            return;
        };
        let waited = (self.now - start).0;
        self.add(Sum {
            waited,
            ..Sum::default()
        });
        if waited < LONG.0 {
            return;
        }
        let of = |batch: BatchId| {
            let of = self.in_flight.get(&batch)?;
            Some((batch, of.fingerprint.timed(of.timed)))
        };
        self.long.push(LongWait {
            time: (start, self.now),
            batch: batch.and_then(of),
        });
    }

    fn end_epoch(&mut self, epoch: u32) {
        if self.epochs.remove(&epoch).is_none() {
            return;
        }
        self.end_wait(None);
        let left = self.in_flight.keys().filter(|batch| batch.epoch == epoch);
        let left: Vec<BatchId> = left.copied().collect();
        for batch in left {
            let end = match self.training.contains(&batch) {
                true => Stage::Done,
                false => Stage::Discarded,
            };
            self.enter(batch, end);
        }
    }

    fn add(&mut self, sum: Sum) {
        let minute = minute_of(self.now);
        if self.minutes.len() <= minute {
            self.minutes.resize(minute + 1, Sum::default());
        }
        self.minutes[minute] += sum;
        self.totals.sum += sum;
    }
}
