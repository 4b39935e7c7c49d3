//! Assumed cost of worker processes, for recordings without workers.

use crate::{Nanos, Origin};

/// Cost of a worker process, without fetching.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessCost {
    /// Time that the main process needs to start one worker. Workers are started sequentially.
    pub start: Nanos,
    /// Time from the start of a worker to its first fetch.
    pub begin: Nanos,
    /// Time at the end of an epoch until all workers have ended.
    pub end: Nanos,
}

impl ProcessCost {
    /// Cost of a forked process with PyTorch 2.13 on Linux, measured on idle hosts with two cores. A spawned process imports the program
    /// again and takes seconds.
    pub const FORKED: Self = Self {
        start: Nanos::from_millis(15),
        begin: Nanos::from_millis(15),
        end: Nanos::from_millis(25),
    };

    /// Returns the assumed cost for a program of this origin. Returns `None` if workers are threads or the cost is unknown.
    pub fn assumed(origin: &Origin) -> Option<Self> {
        matches!(origin, Origin::Pytorch(_)).then_some(Self::FORKED)
    }

    /// Returns the time from the first fork to the last end of `workers` workers, without their work.
    pub fn total_time(self, workers: usize) -> Nanos {
        let starts = (self.start.0).saturating_mul(i64::try_from(workers).unwrap_or(i64::MAX));
        Nanos(starts.saturating_add((self.begin + self.end).0))
    }
}
