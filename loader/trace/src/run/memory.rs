//! Memory use of a run.

use std::sync::Arc;

use super::Run;
use crate::Spans;
use crate::rows::Rows;
use crate::series::Ticks;

/// Memory use of a run, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Number of spans of all tracks.
    pub spans: usize,
    /// Spans with their running sums.
    pub span_bytes: usize,
    /// Transitions with their keyframes.
    pub transition_bytes: usize,
    /// Batches and waits.
    pub batch_bytes: usize,
    /// Indices and times of samples.
    pub sample_bytes: usize,
    /// Sampled stacks.
    pub stack_bytes: usize,
}

impl Run {
    /// Returns a snapshot of the run for another thread. The cost does not depend on the length of the run, because snapshots share its
    /// chunks.
    pub fn snapshot(&self) -> Arc<Self> {
        Arc::new(self.clone())
    }

    /// Returns true while a snapshot shares part of the memory.
    pub fn is_shared(&self) -> bool {
        self.transitions.is_shared()
    }

    /// Marks the run as completely read, even if its last event is missing.
    pub fn close(&mut self) {
        self.closed = !self.ended;
    }

    /// Returns the memory use, without contents of batches such as images.
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
                + self.device_waits.bytes()
                + rows.sum::<usize>()
                + ticks.into_iter().map(Ticks::bytes).sum::<usize>(),
            sample_bytes: self.indices.bytes()
                + self.timings.bytes()
                + self.fetches.bytes()
                + self.steps.bytes()
                + self.stage_walls.bytes()
                + self.cpu_times.bytes(),
            stack_bytes: self.stacks.bytes(),
        }
    }
}
