//! What a run costs in memory.

use std::sync::Arc;

use super::Run;
use crate::Spans;
use crate::rows::Rows;
use crate::series::Ticks;

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
    /// The run as it is now, for another thread. The cost does not depend on the length of the run: snapshots share its chunks.
    pub fn snapshot(&self) -> Arc<Self> {
        Arc::new(self.clone())
    }

    /// True while a snapshot has a part of its memory.
    pub fn is_shared(&self) -> bool {
        self.transitions.is_shared()
    }

    /// Marks the run as read to its end, also if its last event is missing.
    pub fn close(&mut self) {
        self.closed = !self.ended;
    }

    /// What the run costs in memory. Pictures and other contents of batches are not in it.
    pub fn memory(&self) -> Memory {
        let tracks = || self.lanes.values().flat_map(Rows::iter);
        let ticks = [&self.yields, &self.dispatched, &self.arrived];
        let rows = self.epochs.iter().map(|e| e.rows.bytes());
        let keyframes = self.keyframes.iter().map(|k| k.bytes());
        Memory {
            spans: tracks().map(|t| t.all().len()).sum(),
            span_bytes: tracks().map(Spans::bytes).sum(),
            transition_bytes: self.transitions.bytes() + keyframes.sum::<usize>(),
            batch_bytes: self.batches.bytes()
                + self.waits.bytes()
                + rows.sum::<usize>()
                + ticks.into_iter().map(Ticks::bytes).sum::<usize>(),
            sample_bytes: self.indices.bytes()
                + self.timings.bytes()
                + self.fetches.bytes()
                + self.steps.bytes()
                + self.stage_walls.bytes()
                + self.processor.bytes(),
        }
    }
}
