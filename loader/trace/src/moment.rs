//! The moment after which the end of a run is hidden.

use crate::Nanos;

/// A moment of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Number of transitions that have happened: several may share an instant.
    pub step: usize,
    /// The instant.
    pub at: Nanos,
}
