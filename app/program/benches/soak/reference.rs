//! Counts from all events, with little memory, compared with those of the recording. The tests of `loadscope-trace` compare every minute,
//! long wait and slow batch of short recordings.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use loadscope_session::open;
use loadscope_trace::{BatchId, Event, EventKind, Level, Nanos, RunId, Stage, Summary, count};

use crate::monitor::Monitor;

/// Minimum length of waits that are kept in full.
pub const LONG: Nanos = Nanos::from_millis(100);

/// Total counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Totals {
    events: u64,
    /// Events that the loader dropped for lack of room.
    dropped: u64,
    epochs: u64,
    /// Finished batches that the trainer received.
    batches: u64,
    /// Samples of these batches.
    samples: u64,
    /// Batches whose error was raised.
    failed: u64,
    /// Batches that never reached the trainer.
    discarded: u64,
    /// Batches that were held in the reorder buffer.
    held: u64,
    errors: u64,
    warnings: u64,
    /// Time that the trainer waited, ns.
    waited: i64,
}

/// Counts so far.
#[derive(Default)]
pub struct Reference {
    totals: Totals,
    /// Start and end of waits of at least [`LONG`].
    long: BTreeSet<(Nanos, Nanos)>,
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
    indices: usize,
    timed: usize,
    was_held: bool,
    was_yielded: bool,
}

impl Reference {
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
                self.end_wait();
            }
            EventKind::Dispatched(dispatch) => {
                self.dispatch(dispatch.batch, dispatch.indices.len());
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
            EventKind::Consumer { waiting: false } => self.end_wait(),
            EventKind::Message(message) if message.level >= Level::Warning => {
                let count = match message.level {
                    Level::Error => &mut self.totals.errors,
                    _ => &mut self.totals.warnings,
                };
                *count += 1;
            }
            EventKind::Dropped { count } => self.totals.dropped += count,
            _ => {}
        }
    }

    fn dispatch(&mut self, batch: BatchId, indices: usize) {
        let Some(next) = self.epochs.get_mut(&batch.epoch) else {
            return;
        };
        if batch.idx < *next {
            return;
        }
        *next = batch.idx + 1;
        let in_flight = InFlight {
            stage: Stage::Queued,
            indices,
            timed: 0,
            was_held: false,
            was_yielded: false,
        };
        self.in_flight.insert(batch, in_flight);
    }

    fn enter(&mut self, batch: BatchId, stage: Stage) {
        let Some(of) = self.in_flight.get_mut(&batch) else {
            return;
        };
        if !of.stage.may_enter(stage) {
            return;
        }
        of.stage = stage;
        of.was_held |= stage == Stage::Held;
        of.was_yielded |= stage == Stage::Training;
        match stage {
            Stage::Training => self.training.insert(batch),
            _ => self.training.remove(&batch),
        };
        if matches!(stage, Stage::Training | Stage::Failed) {
            self.end_wait();
        }
        if stage.is_final()
            && let Some(of) = self.in_flight.remove(&batch)
        {
            self.record_finished(&of);
        }
    }

    /// Counts a finished batch.
    fn record_finished(&mut self, of: &InFlight) {
        let totals = &mut self.totals;
        if of.was_yielded {
            totals.batches += 1;
            totals.samples += of.indices.max(of.timed) as u64;
        }
        totals.failed += u64::from(of.stage == Stage::Failed);
        totals.discarded += u64::from(of.stage == Stage::Discarded && !of.was_yielded);
        totals.held += u64::from(of.was_held);
    }

    fn end_wait(&mut self) {
        let Some(start) = self.wait.take() else {
            return;
        };
        self.totals.waited += (self.now - start).0;
        if self.now - start >= LONG {
            self.long.insert((start, self.now));
        }
    }

    fn end_epoch(&mut self, epoch: u32) {
        if self.epochs.remove(&epoch).is_none() {
            return;
        }
        self.end_wait();
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
}

/// Counts of a recording.
struct Found {
    totals: Totals,
    long: BTreeSet<(Nanos, Nanos)>,
    /// Number of errors and warnings that are stored in full.
    messages: u64,
    /// Number of waits and messages that the recording reports as left out.
    left_out: u64,
    /// True if the recording is complete and has one loader.
    is_whole: bool,
}

impl Found {
    fn read(path: &Path) -> Result<Self> {
        let opened = open(path, |_| true).with_context(|| path.display().to_string())?;
        let run = opened.fleet.get(RunId(0));
        let run = run.with_context(|| format!("there is no loader in {}", path.display()))?;
        let summary = Summary::of(run);
        let waits = run.waits().iter().filter(|wait| wait.end != Nanos::MAX);
        let mut long: BTreeSet<_> = waits.clone().map(|wait| (wait.start, wait.end)).collect();
        long.retain(|(start, end)| *end - *start >= LONG);
        let of_level = |level: Level| level >= Level::Warning;
        let recent = run.messages().iter();
        let mut messages = recent
            .filter(|(_, message)| of_level(message.level))
            .count();
        let (mut left_out, mut before) = (0, 0);
        if let Some(past) = run.past() {
            left_out = past.retention().map_or(0, |retention| retention.left_out);
            before = past.total().waited().0;
            for (_, kept) in past.kept() {
                long.extend(kept.wait);
                messages += usize::from(kept.wait.is_none() && kept.message().is_some());
            }
        }
        Ok(Self {
            totals: Totals {
                events: summary.events,
                dropped: summary.dropped,
                epochs: summary.epochs,
                batches: summary.batches,
                samples: summary.samples,
                failed: summary.failed,
                discarded: summary.discarded,
                held: summary.held,
                errors: summary.errors,
                warnings: summary.warnings,
                waited: before + waits.map(|wait| (wait.end - wait.start).0).sum::<i64>(),
            },
            long,
            messages: messages as u64,
            left_out,
            is_whole: !opened.cut && opened.notes.is_empty() && opened.fleet.runs().len() == 1,
        })
    }
}

/// Compares recordings with the reference counts of their events, and prints the rows.
///
/// # Errors
/// If a recording cannot be opened.
pub fn compare(monitor: &Monitor, all: &[(PathBuf, Reference)]) -> Result<()> {
    let (mut whole, mut same, mut left_out, mut dropped) = (0, 0, 0, 0);
    let (mut waits, mut messages) = ((0, 0), (0, 0));
    for (path, counted) in all {
        let found = Found::read(path)?;
        whole += u64::from(found.is_whole);
        same += u64::from(found.totals == counted.totals);
        if found.totals != counted.totals {
            let text = format!("{:?}, counted were {:?}", found.totals, counted.totals);
            monitor.row("totals of the recording", &text, Some(false));
        }
        waits.0 += found.long.intersection(&counted.long).count() as u64;
        waits.1 += found.long.union(&counted.long).count() as u64;
        messages.0 += found.messages;
        messages.1 += counted.totals.errors + counted.totals.warnings;
        left_out += found.left_out;
        dropped += counted.totals.dropped;
    }
    let files = all.len() as u64;
    monitor.share("recordings that are read again whole", whole, files);
    monitor.share(
        "events, epochs, batches, samples, errors, losses and waits as counted",
        same,
        files,
    );
    monitor.share("waits of 100 ms and more", waits.0, waits.1);
    monitor.share("errors and warnings, each in full", messages.0, messages.1);
    monitor.row(
        "left out for want of room",
        &count(left_out),
        Some(left_out == 0),
    );
    monitor.row(
        "events that were dropped, each counted",
        &count(dropped),
        None,
    );
    Ok(())
}
