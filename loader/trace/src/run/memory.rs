//! What a run costs in memory.

use super::{Run, Transition, Wait};
use crate::batch::Batch;
use crate::rows::Rows;
use crate::series::Ticks;
use crate::{Nanos, Spans};

/// What a run costs in memory, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// How many stretches of time all tracks have.
    pub spans: usize,
    /// These, with their running sums.
    pub span_bytes: usize,
    /// The changes of stage, with the keyframes that make any instant of them quick to find.
    pub transition_bytes: usize,
    /// What is known of each batch, and of each wait for one.
    pub batch_bytes: usize,
    /// Indices and times of samples.
    pub sample_bytes: usize,
}

impl Run {
    /// What the run costs in memory. Pictures and other contents of batches are not in it.
    pub fn memory(&self) -> Memory {
        let tracks = || self.lanes.values().flat_map(Rows::iter);
        let ticks = [&self.yields, &self.dispatched, &self.arrived];
        let rows = self.epochs.iter().map(|e| e.rows.capacity());
        let keyframes = self.keyframes.iter().map(|k| k.bytes());
        Memory {
            spans: tracks().map(|t| t.all().len()).sum(),
            span_bytes: tracks().map(Spans::bytes).sum(),
            transition_bytes: self.transitions.capacity() * size_of::<Transition>()
                + keyframes.sum::<usize>(),
            batch_bytes: self.batches.capacity() * size_of::<Batch>()
                + self.waits.capacity() * size_of::<Wait>()
                + rows.sum::<usize>() * size_of::<u32>()
                + ticks.into_iter().map(Ticks::bytes).sum::<usize>(),
            sample_bytes: self.indices.capacity() * size_of::<u64>()
                + self.timings.bytes()
                + self.stage_walls.capacity() * size_of::<Nanos>(),
        }
    }
}
