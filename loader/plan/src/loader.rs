//! The arguments of `DataLoader`, and what its tasks are drawn from.

mod arguments;
mod index;
mod options;

use crate::error::LoaderError;

pub use arguments::{Arguments, check_assignable, too_many_workers};
pub use index::{Index, RequestIter};
pub use options::LoaderOptions;

impl LoaderOptions {
    /// PyTorch's checks, in PyTorch's order.
    ///
    /// # Errors
    /// ValueError where PyTorch's constructor raises one.
    pub fn check(&self) -> Result<(), LoaderError> {
        Arguments::of(self).check()
    }
}

/// What a task asks for: PyTorch's `possibly_batched_index`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// A batch of the samples with these dataset indices.
    Batch(Vec<usize>),
    /// One sample, as it is (`batch_size=None`).
    Sample(usize),
    /// A batch of the next samples of a stream, so many.
    Next(usize),
    /// The next sample of a stream, as it is.
    NextSample,
}

impl Request {
    /// The dataset indices asked for; none if samples come from a stream.
    pub fn indices(&self) -> &[usize] {
        match self {
            Self::Batch(indices) => indices,
            Self::Sample(index) => std::slice::from_ref(index),
            Self::Next(_) | Self::NextSample => &[],
        }
    }
}
