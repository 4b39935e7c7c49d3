//! State of a run in a stream of events: lasting state and data since the previous sums. It follows the rules of [`crate::Run`], which the
//! tests compare it with.

use std::collections::{BTreeMap, BTreeSet};

use super::gauges::Gauges;
use super::in_flight::{InFlightBatch, MAX_EVENTS, add_awaited, is_small};
use super::steps::Steps;
use crate::{BatchId, Event, EventKind, Fetched, Level, Nanos, RunInfo, Stage, Sums};

/// Maximum number of tracked batches in flight. Real loaders have fewer, but after lost events some batches never finish.
const MAX_IN_FLIGHT: usize = 1 << 20;

/// Number of event lists that are kept for reuse.
const SPARE: usize = 64;

/// Finished wait or batch, with its events.
#[derive(Debug)]
pub(super) enum Finished {
    /// A wait and the events of the batch that ended it.
    Wait {
        at: Nanos,
        wait: (Nanos, Nanos),
        events: Vec<Event>,
    },
    /// A batch and its time of fetching and collating.
    Fetched {
        at: Nanos,
        took: Nanos,
        events: Vec<Event>,
    },
}

/// State of a run in a stream of events.
#[derive(Debug)]
pub(super) struct Tracked {
    pub(super) since: (Nanos, u32),
    pub(super) info: Option<Box<RunInfo>>,
    /// Running epochs with the number of their next batch.
    pub(super) epochs: BTreeMap<u32, u32>,
    /// Highest started epoch.
    newest: Option<u32>,
    /// Epoch, start and latest dispatch of an iterator whose `next` was not called yet.
    pub(super) opened: Option<(u32, Nanos, Nanos)>,
    pub(super) wait: Option<Nanos>,
    pub(super) in_flight: BTreeMap<BatchId, InFlightBatch>,
    training: BTreeSet<BatchId>,
    steps: Steps,
    /// `WorkerStarted` and `WorkerSeeded` events of the running workers.
    pub(super) workers: Vec<Event>,
    /// Facts about the loader.
    pub(super) facts: Vec<Event>,
    /// Time of [`EventKind::RunEnded`].
    pub(super) ended: Option<Nanos>,
    /// Minimum length of a reported wait.
    pub(super) long_wait: Nanos,
    last: Nanos,
    sums: Sums,
    gauges: Gauges,
    spare: Vec<Vec<Event>>,
}

impl Tracked {
    pub fn new(at: Nanos, part: u32) -> Self {
        Self {
            since: (at, part),
            info: None,
            epochs: BTreeMap::new(),
            newest: None,
            opened: None,
            wait: None,
            in_flight: BTreeMap::new(),
            training: BTreeSet::new(),
            steps: Steps::default(),
            workers: Vec::new(),
            facts: Vec::new(),
            ended: None,
            long_wait: Nanos::ZERO,
            last: at,
            sums: Sums::default(),
            gauges: Gauges::default(),
            spare: Vec::new(),
        }
    }

    /// Returns the time of the first event.
    pub fn since(&self) -> Nanos {
        self.since.0
    }

    /// Returns the part of the first event.
    pub fn part(&self) -> u32 {
        self.since.1
    }

    pub fn info(&self) -> Option<&RunInfo> {
        self.info.as_deref()
    }

    /// Keeps an unused list for reuse.
    pub fn recycle(&mut self, mut events: Vec<Event>) {
        if self.spare.len() < SPARE && events.capacity() <= 2 * MAX_EVENTS {
            events.clear();
            self.spare.push(events);
        }
    }

    pub fn apply(&mut self, event: &Event, finished: &mut Vec<Finished>) {
        self.last = self.last.max(event.at);
        let at = self.last;
        self.sums.events += 1;
        match &event.kind {
            EventKind::RunStarted(info) => {
                self.steps.set_origin(&info.origin);
                self.info = Some(Box::new(info.finite()));
            }
            EventKind::EpochStarted { epoch } => self.start_epoch(at, *epoch),
            EventKind::EpochEnded { epoch } => self.end_epoch(at, *epoch, finished),
            EventKind::RunEnded => {
                for epoch in self.epochs.keys().copied().collect::<Vec<_>>() {
                    self.end_epoch(at, epoch, finished);
                }
                self.end_wait(at, None, finished);
                self.ended.get_or_insert(at);
            }
            EventKind::WorkerStarted(_) | EventKind::WorkerSeeded(_) => {
                self.workers.push(event.clone());
            }
            EventKind::WorkerEnded { worker, os_id, .. } => self.end_worker(*worker, *os_id),
            EventKind::Dispatched(dispatch) => {
                if self.dispatch(at, dispatch.batch, dispatch.indices.len()) {
                    self.note(dispatch.batch, event);
                }
            }
            EventKind::Entered { batch, stage } => {
                let in_flight = self.in_flight.get(batch);
                if in_flight.is_some_and(|of| of.may_enter(*stage)) {
                    self.note(*batch, event);
                    self.enter(at, *batch, *stage, finished);
                }
            }
            EventKind::Fetched(fetched) => self.apply_fetched(event, fetched),
            EventKind::Processor(time) => self.note(time.batch, event),
            EventKind::Aside(aside) => self.steps.aside(at, aside),
            EventKind::Content(content) => self.note(content.batch, event),
            EventKind::Consumer { waiting: true } => self.start_wait(at, finished),
            EventKind::Consumer { waiting: false } => self.end_wait(at, None, finished),
            EventKind::Gauge(gauge) if gauge.part.is_none() && gauge.value.is_finite() => {
                self.gauges.add(gauge.lane, gauge.what, gauge.value);
            }
            EventKind::Message(message) => {
                self.sums.errors += u64::from(message.level == Level::Error);
                self.sums.warnings += u64::from(message.level == Level::Warning);
            }
            EventKind::Dropped { count } => {
                self.sums.dropped = self.sums.dropped.saturating_add(*count);
            }
            EventKind::EpochContinued { epoch, first } => self.continue_epoch(at, *epoch, *first),
            EventKind::Fact(fact) => self.apply_fact(fact, event),
            // Recorders do not send these through the filter.
            EventKind::Gauge(_)
            | EventKind::Retention(_)
            | EventKind::Summed(_)
            | EventKind::Kept(_)
            | EventKind::State(_) => {}
        }
    }

    pub(super) fn note(&mut self, batch: BatchId, event: &Event) {
        if let Some(in_flight) = self.in_flight.get_mut(&batch) {
            in_flight.note(event);
        }
    }

    fn start_epoch(&mut self, at: Nanos, epoch: u32) {
        if self.newest.is_some_and(|newest| epoch <= newest) {
            return;
        }
        self.newest = Some(epoch);
        self.epochs.insert(epoch, 0);
        self.opened = Some((epoch, at, at));
        self.sums.epochs += 1;
    }

    /// Starts an epoch whose first batches are not recorded.
    fn continue_epoch(&mut self, at: Nanos, epoch: u32, first: u32) {
        self.start_epoch(at, epoch);
        self.opened = None;
        if let Some(next) = self.epochs.get_mut(&epoch) {
            *next = (*next).max(first);
        }
    }

    fn end_epoch(&mut self, at: Nanos, epoch: u32, finished: &mut Vec<Finished>) {
        if self.epochs.remove(&epoch).is_none() {
            return;
        }
        self.end_wait(at, None, finished);
        self.steps.leave_loop(at, epoch);
        let of_it = BatchId { epoch, idx: 0 }..=BatchId {
            epoch,
            idx: u32::MAX,
        };
        let left: Vec<BatchId> = self.in_flight.range(of_it).map(|(id, _)| *id).collect();
        for batch in left {
            let end = match self.training.contains(&batch) {
                true => Stage::Done,
                false => Stage::Discarded,
            };
            self.enter(at, batch, end, finished);
        }
    }

    /// Adds a batch in flight. Returns false if its number is not valid now.
    fn dispatch(&mut self, at: Nanos, batch: BatchId, indices: usize) -> bool {
        let Some(next) = self.epochs.get_mut(&batch.epoch) else {
            return false;
        };
        if batch.idx < *next {
            return false;
        }
        *next = batch.idx.saturating_add(1);
        if self.in_flight.len() >= MAX_IN_FLIGHT
            && let Some((oldest, _)) = self.in_flight.pop_first()
        {
            self.training.remove(&oldest);
        }
        if let Some((_, _, last)) = &mut self.opened {
            *last = at;
        }
        let spare = self.spare.pop().unwrap_or_default();
        self.in_flight
            .insert(batch, InFlightBatch::new(at, indices, spare));
        true
    }

    fn apply_fetched(&mut self, event: &Event, fetched: &Fetched) {
        if let Some(in_flight) = self.in_flight.get_mut(&fetched.batch)
            && in_flight.timings == 0
        {
            in_flight.timings = fetched.samples.len();
            self.note(fetched.batch, event);
        }
    }

    fn enter(&mut self, at: Nanos, batch: BatchId, stage: Stage, finished: &mut Vec<Finished>) {
        let Some(in_flight) = self.in_flight.get_mut(&batch) else {
            return;
        };
        if !in_flight.may_enter(stage) {
            return;
        }
        let (before, took) = in_flight.enter(at, stage);
        if before == Stage::Training {
            self.sums.steps.record(took);
            self.steps.end(batch, at, took);
            self.training.remove(&batch);
        }
        if stage == Stage::Training {
            self.training.insert(batch);
            self.steps.begin(batch, at);
        }
        if matches!(stage, Stage::Training | Stage::Failed) {
            self.end_wait(at, Some(batch), finished);
        }
        if stage.is_final() {
            self.finish_batch(at, batch, finished);
        }
    }

    /// Adds a finished batch to the sums.
    fn finish_batch(&mut self, at: Nanos, batch: BatchId, finished: &mut Vec<Finished>) {
        let Some(mut of) = self.in_flight.remove(&batch) else {
            return;
        };
        let sums = &mut self.sums;
        if of.was_yielded {
            sums.batches += 1;
            sums.samples += of.indices.max(of.timings) as u64;
        }
        sums.held += u64::from(of.was_held);
        sums.failed += u64::from(of.stage == Stage::Failed);
        sums.discarded += u64::from(of.stage == Stage::Discarded && !of.was_yielded);
        if of.fetch > Nanos::ZERO {
            sums.fetches.record(of.fetch);
            of.events.retain(is_small);
            finished.push(Finished::Fetched {
                at,
                took: of.fetch,
                events: of.events,
            });
        } else {
            self.recycle(of.events);
        }
    }

    fn start_wait(&mut self, at: Nanos, finished: &mut Vec<Finished>) {
        if self.wait.is_some() {
            return;
        }
        if let Some((_, start, last)) = self.opened.take() {
            self.sums.opening += last - start;
        }
        // The call for the next batch ends the training step.
        if let Some(batch) = self.training.first().copied() {
            self.enter(at, batch, Stage::Done, finished);
        }
        self.steps.end_at_next(at);
        self.wait = Some(at);
    }

    fn end_wait(&mut self, at: Nanos, batch: Option<BatchId>, finished: &mut Vec<Finished>) {
        let Some(start) = self.wait.take() else {
            return;
        };
        let of = batch.and_then(|batch| self.in_flight.get(&batch));
        add_awaited(of, (start, at), &mut self.sums.waited);
        self.sums.waits.record(at - start);
        if at - start < self.long_wait {
            return;
        }
        let mut events = self.spare.pop().unwrap_or_default();
        if let Some(of) = batch.and_then(|batch| self.in_flight.get(&batch)) {
            events.extend(of.events.iter().filter(|event| is_small(event)).cloned());
        }
        finished.push(Finished::Wait {
            at,
            wait: (start, at),
            events,
        });
    }

    /// Returns the sums since the previous call, or `None` if there were no events.
    pub fn sum_up(&mut self) -> Option<Sums> {
        if self.sums.events == 0 {
            return None;
        }
        let mut sums = std::mem::take(&mut self.sums);
        (sums.uncounted, sums.asides) = self.steps.sum_up();
        sums.gauges = std::mem::take(&mut self.gauges).sums();
        Some(sums)
    }
}
