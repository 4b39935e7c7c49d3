//! Waits of the trainer.

use super::Run;
use crate::Nanos;

/// Waits per running sum.
pub(super) const BLOCK: usize = 64;

/// Running sum of the first waits of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WaitSum {
    /// Total time.
    total: Nanos,
    /// Time of the longest wait.
    longest: Nanos,
    /// Position of the longest wait, the first of equal ones. `None` without waits.
    longest_at: Option<u32>,
}

impl WaitSum {
    fn add(&mut self, took: Nanos, at: usize) {
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

impl Run {
    /// Returns the total time of the waits, up to the last event.
    pub fn waited(&self) -> Nanos {
        self.wait_sum().total
    }

    /// Returns the position of the longest wait in [`Run::waits`], the first of equal ones. Returns `None` without waits.
    pub fn longest_wait(&self) -> Option<usize> {
        self.wait_sum().longest_at.map(|at| at as usize)
    }

    /// Stores a running sum before the first wait of a block.
    pub(super) fn sum_waits(&mut self) {
        if self.waits.len().is_multiple_of(BLOCK) {
            self.wait_sums.push(self.wait_sum());
        }
    }

    /// Returns the sum of all waits. The last one counts up to the last event.
    fn wait_sum(&self) -> WaitSum {
        let Some(last) = self.waits.len().checked_sub(1) else {
            return WaitSum::default();
        };
        let block = last / BLOCK;
        let mut sum = self.wait_sums.get(block).copied().unwrap_or_default();
        let waits = self.waits.range(block * BLOCK..).iter();
        for (at, wait) in (block * BLOCK..).zip(waits) {
            sum.add(wait.end.min(self.last) - wait.start, at);
        }
        sum
    }
}
