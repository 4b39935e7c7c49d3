//! Instant after which the rest of a run is hidden.

use crate::Nanos;

/// Instant of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Number of transitions so far. Several transitions can have the same time.
    pub step: usize,
    /// Time on the run's clock.
    pub at: Nanos,
}
