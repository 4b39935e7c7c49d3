//! A batch in flight: what has to be known of it until it comes to its end.

use std::collections::BTreeMap;

use crate::{Awaited, Event, EventKind, Nanos, Stage};

/// Events of a batch that are kept. Usual ones have a dozen.
pub(super) const MOST_EVENTS: usize = 256;

/// Contents of batches larger than this are not kept with them.
const MOST_CONTENT: usize = 64 << 10;

/// A batch in flight.
#[derive(Debug)]
pub(super) struct Flying {
    pub(super) stage: Stage,
    /// Since when.
    since: Nanos,
    pub(super) indices: usize,
    /// Samples whose times are known.
    pub(super) timings: usize,
    pub(super) was_held: bool,
    pub(super) was_yielded: bool,
    /// In fetching and collating so far.
    pub(super) fetch: Nanos,
    pub(super) events: Vec<Event>,
}

impl Flying {
    /// A batch that was just dispatched. `events` is an empty list.
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

    /// Keeps an event about it, if there is room.
    pub fn note(&mut self, event: &Event) {
        if self.events.len() < MOST_EVENTS {
            self.events.push(event.clone());
        }
    }

    /// True if that stage may come next.
    pub fn may_enter(&self, stage: Stage) -> bool {
        self.stage.may_enter(stage)
    }

    /// Enters a stage. Answers which one was before, and how long it took.
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

/// Adds to `waited` what a wait was for, stage by stage of the batch that ended it, if one did.
pub(super) fn add_awaited(
    of: Option<&Flying>,
    (start, mut end): (Nanos, Nanos),
    waited: &mut BTreeMap<Awaited, Nanos>,
) {
    for event in of.into_iter().flat_map(|of| of.events.iter().rev()) {
        let (entered, stage) = match &event.kind {
            EventKind::Entered { stage, .. } => (event.at, *stage),
            EventKind::Dispatched(_) => (event.at, Stage::Queued),
            _ => continue,
        };
        let from = entered.max(start);
        if from < end {
            *waited.entry(Awaited::of(stage)).or_default() += end - from;
            end = from;
        }
    }
    if start < end {
        let what = match of {
            Some(_) => Awaited::NotDispatched,
            None => Awaited::End,
        };
        *waited.entry(what).or_default() += end - start;
    }
}

/// True if an event may be kept with a wait or a batch. Contents may be pictures: those stay where everything is kept.
pub(super) fn is_small(event: &Event) -> bool {
    match &event.kind {
        EventKind::Content(content) => content.nbytes() <= MOST_CONTENT,
        _ => true,
    }
}
