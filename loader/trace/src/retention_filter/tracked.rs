//! State of a run in a stream of events: a [`Run`] of the latest events, and the events of its batches in flight.

use std::collections::BTreeMap;

use crate::{BatchId, Event, EventKind, Nanos, Run, RunInfo, Sums};

/// Maximum distance between the batches in flight of an epoch. After lost events, some batches never finish.
const MAX_DISTANCE: u32 = 1 << 19;

/// Maximum number of stored batches in flight.
const MAX_IN_FLIGHT: usize = 1 << 19;

/// Maximum number of stored events per batch. Usual batches have about a dozen.
const MAX_EVENTS: usize = 256;

/// Size limit for kept batch contents, bytes.
const MAX_CONTENT: usize = 64 << 10;

/// Size of a run at which it starts again from its state, bytes.
const MAX_RUN: u64 = 1 << 20;

/// Finished wait or batch, with its events.
#[derive(Debug)]
pub(super) enum Finished {
    /// A wait and the events of the batch that ended it.
    Wait {
        wait: (Nanos, Nanos),
        events: Vec<Event>,
    },
    /// A batch and its time of fetching and collating.
    Fetched { took: Nanos, events: Vec<Event> },
}

/// State of a run in a stream of events.
#[derive(Debug)]
pub(super) struct Tracked {
    /// Time and part of the first event.
    pub(super) since: (Nanos, u32),
    /// Run of the latest events. It starts again from its state, so its size is limited.
    pub(super) run: Run,
    /// Estimated size of the run, and of the state at its start, bytes.
    bytes: (u64, u64),
    /// Sums of the events before the run started again.
    sums: Sums,
    /// Events of each batch in flight.
    pub(super) in_flight: BTreeMap<BatchId, Vec<Event>>,
}

impl Tracked {
    pub fn new(at: Nanos, part: u32) -> Self {
        Self {
            since: (at, part),
            run: Run::default(),
            bytes: (0, 0),
            sums: Sums::default(),
            in_flight: BTreeMap::new(),
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

    /// Returns the description of the loader.
    pub fn info(&self) -> RunInfo {
        self.run.info.finite()
    }

    /// Applies an event. Appends finished batches, and waits of at least `long_wait`.
    pub fn apply(&mut self, event: &Event, long_wait: Nanos, finished: &mut Vec<Finished>) {
        let run = &self.run;
        let (waits, batches) = (run.waits.len(), run.batches.len());
        let (transitions, inconsistent) = (run.transitions.len(), run.inconsistent);
        let was_waiting = run.waits.last().is_some_and(|w| w.end == Nanos::MAX);
        match &event.kind {
            // Contents are large, and the sums do not depend on them. Recorders send none of the other kinds.
            EventKind::Content(_)
            | EventKind::Retention(_)
            | EventKind::Summed(_)
            | EventKind::Kept(_)
            | EventKind::State(_) => self.sums.events += 1,
            _ => {
                self.run.apply(event);
                self.bytes.0 += event.bytes_in_run();
            }
        }
        if self.run.inconsistent == inconsistent || self.run.batches.len() > batches {
            self.note(event);
        }
        if was_waiting {
            finished.extend(self.long_wait(waits - 1, long_wait));
        }
        for transition in self.run.transitions.range(transitions..) {
            let row = transition.batch as usize;
            if transition.stage.is_final()
                && let Some(mut events) = self.in_flight.remove(&self.run.batches[row].id)
            {
                events.retain(is_small);
                let took = self.run.fetch_time(row);
                finished.extend((took > Nanos::ZERO).then_some(Finished::Fetched { took, events }));
            }
        }
        if self.bytes.0 >= MAX_RUN.max(2 * self.bytes.1) {
            self.start_again();
        }
    }

    /// Stores an event of a batch in flight.
    fn note(&mut self, event: &Event) {
        let Some(batch) = event.kind.batch() else {
            return;
        };
        let events = match &event.kind {
            EventKind::Dispatched(_) => {
                self.drop_stuck(batch);
                Some(self.in_flight.entry(batch).or_default())
            }
            EventKind::Aside(_) | EventKind::DeviceWait(_) => None,
            _ => self.in_flight.get_mut(&batch),
        };
        if let Some(events) = events.filter(|events| events.len() < MAX_EVENTS) {
            events.push(event.clone());
        }
    }

    /// Drops a batch that never finishes, before a dispatch.
    fn drop_stuck(&mut self, next: BatchId) {
        let is_stuck = |id: &BatchId| id.epoch == next.epoch && next.idx - id.idx >= MAX_DISTANCE;
        let of_epoch = BatchId { idx: 0, ..next }..next;
        let first = self.in_flight.range(of_epoch).next().map(|(id, _)| *id);
        if let Some(stuck) = first.filter(is_stuck) {
            self.in_flight.remove(&stuck);
        }
        if self.in_flight.len() >= MAX_IN_FLIGHT {
            self.in_flight.pop_first();
        }
    }

    /// Returns the wait at a position if it has ended and is long.
    fn long_wait(&self, at: usize, long_wait: Nanos) -> Option<Finished> {
        let wait = self.run.waits.get(at)?;
        if wait.end == Nanos::MAX || wait.end - wait.start < long_wait {
            return None;
        }
        let batch = self
            .run
            .batches
            .get(wait.batch.unwrap_or(u32::MAX) as usize);
        let events = batch.and_then(|batch| self.in_flight.get(&batch.id));
        let events = events.into_iter().flatten();
        Some(Finished::Wait {
            wait: (wait.start, wait.end),
            events: events.filter(|event| is_small(event)).cloned().collect(),
        })
    }

    /// Starts the run again from its state, and adds the rest to the sums.
    fn start_again(&mut self) {
        self.sums.add(&self.run.sums());
        let mut events = self.state_events(self.run.end());
        events.retain(|event| !matches!(event.kind, EventKind::Content(_)));
        let bytes = events.iter().map(Event::bytes_in_run).sum();
        self.bytes = (bytes, bytes);
        self.run = self.run.started_again(events);
    }

    /// Returns the sums since the previous call, or `None` if there were no events.
    pub fn sum_up(&mut self) -> Option<Sums> {
        self.start_again();
        let sums = std::mem::take(&mut self.sums);
        (sums.events > 0).then_some(sums)
    }
}

/// Returns true if an event can be kept with a wait or batch. Large contents, such as images, are not kept.
fn is_small(event: &Event) -> bool {
    match &event.kind {
        EventKind::Content(content) => content.nbytes() <= MAX_CONTENT,
        _ => true,
    }
}
