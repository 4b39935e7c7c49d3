//! Significance of a difference.

use oorandom::Rand64;
use serde::Serialize;

/// The interval holds the truth with this probability.
pub(super) const CONFIDENCE: f64 = 0.95;

/// Fewer pieces say nothing of chance.
pub(super) const FEW_PIECES: usize = 5;

/// The same two recordings give the same intervals.
pub(super) const SEED: u128 = 0;

/// Any one of them, each as likely as the others. There is one.
pub(super) fn any_of<'a, T>(all: &'a [T], random: &mut Rand64) -> &'a T {
    &all[random.rand_range(0..all.len() as u64) as usize]
}

/// Significance of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Improved, beyond chance.
    Improved,
    /// Worse, beyond chance.
    Worse,
    /// It may be chance, or there is no difference.
    Unclear,
}
