//! Possible results of `next(iterator)`.

use crate::batch::Loaded;
use crate::error::LoaderError;
use crate::fetch::Fetch;

/// A yielded batch, or its error.
pub(super) type IterItem<F> = Result<Loaded<<F as Fetch>::Batch>, LoaderError>;

/// Outcome of a call of `next`.
pub(super) enum NextOutcome<F: Fetch> {
    /// A batch or an error.
    Item(IterItem<F>),
    /// One `None` because the dataset raised `StopIteration`. More batches may follow.
    StopIteration,
    /// `None` from now on.
    End,
}
