//! Waits of the trainer.

use crate::Nanos;

/// Waits per running sum.
pub(super) const BLOCK: usize = 64;

/// Running sum of the first waits of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WaitSum {
    /// Total time.
    pub total: Nanos,
    /// Time of the longest wait.
    longest: Nanos,
    /// Position of the longest wait, the first of equal ones. `None` without waits.
    pub longest_at: Option<u32>,
}

impl WaitSum {
    pub fn add(&mut self, took: Nanos, at: usize) {
        self.total += took;
        if self.longest_at.is_none() || took > self.longest {
            (self.longest, self.longest_at) = (took, u32::try_from(at).ok());
        }
    }
}

/// Wait of the trainer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Time of the call of `next`.
    pub start: Nanos,
    /// Time at which `next` returned, or [`Nanos::MAX`] while it waits.
    pub end: Nanos,
    /// Position in [`Run::batches`](super::Run::batches) of the batch that arrived. `None` while the trainer waits and at the end of an
    /// epoch.
    pub batch: Option<u32>,
    /// Number of earlier transitions.
    pub(crate) step: u32,
}
