//! Snapshots of the batches in flight, from which the state at any instant is computed.

use std::sync::Arc;

use crate::{Nanos, Stage};

/// Batches in flight before a certain transition. A query starts from the nearest keyframe, so its cost does not grow with the recording.
#[derive(Clone, Debug)]
pub(crate) struct Keyframe {
    /// Number of earlier transitions.
    pub step: usize,
    /// Batches in flight, in order of dispatch.
    pub in_flight: Arc<[InFlightBatch]>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct InFlightBatch {
    /// Position of the batch in the run.
    pub batch: u32,
    pub stage: Stage,
    /// True if the batch passed the pin thread.
    pub pinned: bool,
    /// Time of entering the stage.
    pub since: Nanos,
}

impl Keyframe {
    /// Minimum number of transitions between keyframes.
    const MIN_DISTANCE: usize = 512;

    /// Returns true if a keyframe is needed before the next transition. Between two keyframes are at least as many transitions as batches
    /// in the later one. Therefore, all keyframes together grow no faster than the list of transitions.
    pub fn is_due(last: Option<&Self>, transitions: usize, in_flight: usize) -> bool {
        let before = last.map_or(0, |k| k.step);
        transitions - before >= Self::MIN_DISTANCE.max(in_flight)
    }

    /// Returns the memory use.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.in_flight)
    }

    /// Creates the keyframe after `step` transitions. `in_flight` can have any order.
    pub fn new(step: usize, mut in_flight: Vec<InFlightBatch>) -> Self {
        in_flight.sort_unstable_by_key(|f| f.batch);
        Self {
            step,
            in_flight: in_flight.into(),
        }
    }
}
