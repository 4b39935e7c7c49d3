//! Data sets: where samples come from.

mod clock;
mod cost;
mod digits;
mod folder;
mod iterable;
mod picture;
mod slowed;
mod spec;
mod spend;
mod synthetic;

use std::fmt;

pub use clock::SampleClock;
pub use cost::{CostModel, Tail};
pub use digits::Digits;
pub use folder::ImageFolder;
pub use iterable::{IterableDataset, SampleStream};
pub use slowed::Slowed;
pub use spec::DatasetSpec;
pub use synthetic::Synthetic;

/// PyTorch's map-style `Dataset`: samples by index.
pub trait Dataset: Send + Sync + 'static {
    /// What [`get`](Self::get) returns.
    type Sample: Send + 'static;

    /// Number of samples.
    fn len(&self) -> usize;

    /// True if there are no samples.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// PyTorch's `__getitem__`.
    ///
    /// # Errors
    /// Whatever the data set meets, and `IndexError` beyond the end.
    fn get(&self, index: usize, clock: &mut SampleClock) -> Result<Self::Sample, SampleError>;

    /// PyTorch's `__getitems__`; `None` = not implemented, samples are fetched one by one. A data set that implements
    /// it calls [`SampleClock::begin_sample`] itself.
    fn get_batch(
        &self,
        _indices: &[usize],
        _clock: &mut SampleClock,
    ) -> Option<Result<Vec<Self::Sample>, SampleError>> {
        None
    }

    /// Names for labels (class names), if the data set has them.
    fn classes(&self) -> &[String] {
        &[]
    }

    /// What the person who chose the data set should know: files that were left out, and so on. Sentences.
    fn notes(&self) -> &[String] {
        &[]
    }
}

/// What a data set raises when a sample cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleError {
    /// Type of the exception as in Python: `IndexError`, `OSError`.
    pub kind: String,
    /// What is wrong, where, and what to do.
    pub message: String,
    /// True for a type that cannot be made from a message alone; workers hand it on as a RuntimeError, as PyTorch does.
    pub needs_arguments: bool,
}

impl SampleError {
    /// An error of the given Python type.
    pub fn new(kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            message: message.into(),
            needs_arguments: false,
        }
    }

    /// The same error, of a type that cannot be made from a message alone.
    #[must_use]
    pub fn with_arguments(self) -> Self {
        Self {
            needs_arguments: true,
            ..self
        }
    }

    /// `IndexError` for an index beyond the end.
    pub fn out_of_range(index: usize, len: usize) -> Self {
        Self::new(
            "IndexError",
            format!("index {index} is out of range for a data set of {len} samples"),
        )
    }
}

impl fmt::Display for SampleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.message)
    }
}

impl std::error::Error for SampleError {}
