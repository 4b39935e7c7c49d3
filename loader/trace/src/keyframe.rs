//! The batches in flight at certain transitions, from which the state at any instant is found.

use std::sync::Arc;

use crate::{Nanos, Stage};

/// The batches in flight before a certain transition. The state at any instant is found from the nearest one, so a
/// recording of a million batches answers as fast as one of ten.
#[derive(Clone, Debug)]
pub(crate) struct Keyframe {
    /// Number of transitions before it.
    pub step: usize,
    /// Batches in flight, in order of dispatch: position, stage, when it was entered, whether it was pinned.
    pub in_flight: Arc<[Flying]>,
}

/// A batch in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flying {
    /// Its position.
    pub batch: u32,
    /// The stage it is in.
    pub stage: Stage,
    /// It was in the pin thread.
    pub pinned: bool,
    /// When it entered the stage.
    pub since: Nanos,
}

impl Keyframe {
    /// One keyframe per so many transitions.
    const EVERY: usize = 512;

    /// True if the next transition needs a keyframe before it. There are as many transitions between two keyframes as
    /// batches in the later one, or more: all keyframes together grow no faster than the list of transitions.
    pub fn is_due(last: Option<&Self>, transitions: usize, in_flight: usize) -> bool {
        let before = last.map_or(0, |k| k.step);
        transitions - before >= Self::EVERY.max(in_flight)
    }

    /// What it costs in memory.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.in_flight)
    }

    /// The batches in flight, in any order, before the transition that comes after `step` others.
    pub fn new(step: usize, mut in_flight: Vec<Flying>) -> Self {
        in_flight.sort_unstable_by_key(|f| f.batch);
        Self {
            step,
            in_flight: in_flight.into(),
        }
    }
}
