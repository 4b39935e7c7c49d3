//! Arguments of `DataLoader`, and the source of its tasks.

mod arguments;
mod index;
mod options;

use crate::error::LoaderError;

pub use arguments::{Arguments, check_assignable, too_many_workers};
pub use index::{Index, RequestIter};
pub use options::LoaderOptions;

impl LoaderOptions {
    /// Performs PyTorch's checks in the same order.
    ///
    /// # Errors
    /// ValueError as in PyTorch's constructor.
    pub fn check(&self) -> Result<(), LoaderError> {
        Arguments::of(self).check()
    }
}

/// Request of a task: PyTorch's `possibly_batched_index`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Batch of the samples with these dataset indices.
    Batch(Vec<usize>),
    /// Single sample without batching (`batch_size=None`).
    Sample(usize),
    /// Batch of the next samples of a stream, with its size.
    Next(usize),
    /// Next sample of a stream, without batching.
    NextSample,
}

impl Request {
    /// Returns the requested dataset indices. Empty for streams.
    pub fn indices(&self) -> &[usize] {
        match self {
            Self::Batch(indices) => indices,
            Self::Sample(index) => std::slice::from_ref(index),
            Self::Next(_) | Self::NextSample => &[],
        }
    }
}
