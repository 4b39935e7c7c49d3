//! Instant after which the rest of a run is hidden.

use crate::Nanos;

/// Instant of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Number of transitions so far. Several can share a time.
    pub step: usize,
    /// Time.
    pub at: Nanos,
}
