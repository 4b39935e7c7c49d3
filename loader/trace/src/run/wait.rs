//! Waits of the trainer.

use crate::Nanos;

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
