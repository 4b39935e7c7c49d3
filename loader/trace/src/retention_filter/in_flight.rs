//! State of a batch in flight.

use std::collections::BTreeMap;

use crate::{AwaitedStage, Event, EventKind, Nanos, Stage};

/// Maximum number of stored events per batch. Usual batches have about a dozen.
pub(super) const MAX_EVENTS: usize = 256;

/// Size limit for stored batch contents, bytes.
const MAX_CONTENT: usize = 64 << 10;

#[derive(Debug)]
pub(super) struct InFlightBatch {
    pub(super) stage: Stage,
    /// Time of entering the current stage.
    since: Nanos,
    pub(super) indices: usize,
    /// Number of samples with known times.
    pub(super) timings: usize,
    pub(super) was_held: bool,
    pub(super) was_yielded: bool,
    /// Time in fetching and collating so far.
    pub(super) fetch: Nanos,
    pub(super) events: Vec<Event>,
}

impl InFlightBatch {
    /// Creates a batch that was just dispatched. `events` is an empty list to reuse.
    pub fn new(at: Nanos, indices: usize, events: Vec<Event>) -> Self {
        Self {
            stage: Stage::Queued,
            since: at,
            indices,
            timings: 0,
            was_held: false,
            was_yielded: false,
            fetch: Nanos::ZERO,
            events,
        }
    }

    /// Stores an event of the batch, up to the limit.
    pub fn note(&mut self, event: &Event) {
        if self.events.len() < MAX_EVENTS {
            self.events.push(event.clone());
        }
    }

    /// Returns true if `stage` may come next.
    pub fn may_enter(&self, stage: Stage) -> bool {
        self.stage.may_enter(stage)
    }

    /// Enters a stage. Returns the previous stage and the time in it.
    pub fn enter(&mut self, at: Nanos, stage: Stage) -> (Stage, Nanos) {
        let before = std::mem::replace(&mut self.stage, stage);
        let took = at - std::mem::replace(&mut self.since, at);
        self.was_held |= stage == Stage::Held;
        self.was_yielded |= stage == Stage::Training;
        if matches!(before, Stage::Fetching | Stage::Collating) {
            self.fetch += took;
        }
        (before, took)
    }
}

/// Adds a wait to `waited`, split by the stages of the batch that ended it, if any.
pub(super) fn add_awaited(
    of: Option<&InFlightBatch>,
    (start, mut end): (Nanos, Nanos),
    waited: &mut BTreeMap<AwaitedStage, Nanos>,
) {
    for event in of.into_iter().flat_map(|of| of.events.iter().rev()) {
        let (entered, stage) = match &event.kind {
            EventKind::Entered { stage, .. } => (event.at, *stage),
            EventKind::Dispatched(_) => (event.at, Stage::Queued),
            _ => continue,
        };
        let from = entered.max(start);
        if from < end {
            *waited.entry(AwaitedStage::of(stage)).or_default() += end - from;
            end = from;
        }
    }
    if start < end {
        let what = match of {
            Some(_) => AwaitedStage::NotDispatched,
            None => AwaitedStage::End,
        };
        *waited.entry(what).or_default() += end - start;
    }
}

/// Returns true if an event can be kept with a wait or batch. Large contents, such as images, are not kept.
pub(super) fn is_small(event: &Event) -> bool {
    match &event.kind {
        EventKind::Content(content) => content.nbytes() <= MAX_CONTENT,
        _ => true,
    }
}
