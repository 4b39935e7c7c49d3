//! Data sets: where samples come from.

mod any;
mod clock;
mod concat;
mod cost;
mod digits;
mod folder;
mod gather;
mod iterable;
mod list;
mod picture;
mod shuffle;
mod slowed;
mod spec;
mod spend;
mod split;
mod stack;
mod stream;
mod subset;
mod synthetic;
mod tensor;
mod tokens;

use std::fmt;

pub use any::AnyDataset;
pub use clock::SampleClock;
pub use concat::{ChainDataset, ConcatDataset};
pub use cost::{CostModel, Tail};
pub use digits::Digits;
pub use folder::ImageFolder;
pub use gather::{Gather, GatherFetcher};
pub use iterable::{IterableDataset, SampleStream};
pub use list::ListDataset;
pub use shuffle::BufferedShuffleDataset;
pub use slowed::Slowed;
pub(crate) use slowed::extra_cost;
pub use spec::{DatasetSpec, TokenSpec};
pub use split::{Split, SplitLength, random_split};
pub use stack::StackDataset;
pub use stream::{Sharing, StreamModel, SyntheticStream};
pub use subset::Subset;
pub use synthetic::Synthetic;
pub use tensor::TensorDataset;
pub use tokens::{TokenDtype, TokenWindows};

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

    /// `dataset[index]` as Python's lists have it: −1 is the last sample.
    ///
    /// # Errors
    /// As [`get`](Self::get), and `IndexError` below −len.
    fn get_at(&self, index: i64, clock: &mut SampleClock) -> Result<Self::Sample, SampleError> {
        match wrap(index, self.len()) {
            Some(index) => self.get(index, clock),
            None => Err(SampleError::new(
                "IndexError",
                format!(
                    "index {index} is out of range for a data set of {} samples",
                    self.len()
                ),
            )),
        }
    }

    /// PyTorch's `__getitems__`; `None` = not implemented, samples are fetched one by one. A data set that implements
    /// it calls [`SampleClock::begin_sample`] itself, and answers to no indices at all with `Some` of no samples.
    fn get_batch(
        &self,
        _indices: &[usize],
        _clock: &mut SampleClock,
    ) -> Option<Result<Vec<Self::Sample>, SampleError>> {
        None
    }

    /// Whether [`get_batch`](Self::get_batch) is implemented.
    fn has_get_batch(&self) -> bool {
        self.get_batch(&[], &mut SampleClock::off()).is_some()
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

/// Where Python's index is in a sequence of `len` elements: negative ones count from the end. `None` = before the begin; what
/// is behind the end stays there.
fn wrap(index: i64, len: usize) -> Option<usize> {
    match usize::try_from(index) {
        Ok(index) => Some(index),
        Err(_) => len.checked_sub(usize::try_from(index.unsigned_abs()).ok()?),
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
