//! What was changed to hide the end of a run.

use crate::batch::Batch;
use crate::lanes::ChangedSpan;
use crate::{EndReason, Nanos};

/// A moment of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// So many transitions have happened: several may share an instant.
    pub step: usize,
    /// The instant.
    pub at: Nanos,
}

/// What was changed, as it was before.
#[derive(Clone, Debug)]
pub(crate) struct Hidden {
    pub moment: Moment,
    pub last: Nanos,
    pub ended: bool,
    pub dropped: u64,
    pub batches: Vec<(usize, Batch)>,
    /// Batches whose tensors are shown as not yet in page-locked memory, with what each field said.
    pub pinned: Vec<(u32, Vec<bool>)>,
    /// The end of the wait that lasts at the moment, and the batch that came then.
    pub wait: Option<(Nanos, Option<u32>)>,
    pub spans: Vec<ChangedSpan>,
    /// Epochs of which a part is hidden, with their ends.
    pub epochs: Vec<(usize, Option<Nanos>)>,
    pub workers: Vec<(usize, (Nanos, EndReason))>,
    /// Positions of the batches that are in training at the moment.
    pub training: Vec<u32>,
}
