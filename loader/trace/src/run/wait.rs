//! When the trainer waited.

use crate::Nanos;

/// A stretch in which the trainer waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// `next` was called.
    pub start: Nanos,
    /// `next` returned; [`Nanos::MAX`] while it lasts.
    pub end: Nanos,
    /// Position in [`Run::batches`](super::Run::batches) of the batch that came; `None` while it lasts and at the end of an epoch.
    pub batch: Option<u32>,
    /// Number of transitions before it.
    pub(crate) step: u32,
}
