//! What worker processes cost where a recording has none, so that it was not measured.

use crate::{Nanos, Origin};

/// What a worker process costs, beside fetching.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessCost {
    /// Starting one holds the main thread up for so long; they are started one after the other.
    pub start: Nanos,
    /// From then on until it begins to fetch.
    pub begin: Nanos,
    /// At the end of an epoch the main thread waits so long until all have ended.
    pub end: Nanos,
}

impl ProcessCost {
    /// Of a forked process of PyTorch 2.13 on Linux: in the middle of what idle and busy hosts were seen to take. A spawned one,
    /// which imports the program again, takes seconds.
    pub const FORKED: Self = Self {
        start: Nanos::from_millis(25),
        begin: Nanos::from_millis(25),
        end: Nanos::from_millis(40),
    };

    /// What is taken to be the cost with workers in a program of this origin; `None` if they are threads, or unknown.
    pub fn assumed(origin: &Origin) -> Option<Self> {
        matches!(origin, Origin::Pytorch(_)).then_some(Self::FORKED)
    }

    /// What `workers` of them take from the first fork to the last end, while they do nothing else.
    pub fn of(self, workers: usize) -> Nanos {
        let starts = (self.start.0).saturating_mul(i64::try_from(workers).unwrap_or(i64::MAX));
        Nanos(starts.saturating_add((self.begin + self.end).0))
    }
}
