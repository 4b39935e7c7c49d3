//! Settings of the bootstrap, and the significance of a difference.

use oorandom::Rand64;
use serde::Serialize;

/// Confidence level of all intervals.
pub(super) const CONFIDENCE: f64 = 0.95;

/// Minimum number of pieces per run for a confidence interval.
pub(super) const FEW_PIECES: usize = 5;

/// Fixed seed of the bootstrap: the same recordings give the same intervals.
pub(super) const SEED: u128 = 0;

/// Returns a uniformly random element of `all`, which must not be empty.
pub(super) fn any_of<'a, T>(all: &'a [T], random: &mut Rand64) -> &'a T {
    &all[random.rand_range(0..all.len() as u64) as usize]
}

/// Significance of a difference at the 95 % confidence level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Significantly better: the confidence interval excludes zero.
    Improved,
    /// Significantly worse: the confidence interval excludes zero.
    Worse,
    /// Not significant, or too few batches for a confidence interval.
    Unclear,
}
