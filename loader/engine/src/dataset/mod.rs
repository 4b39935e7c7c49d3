//! Datasets, the sources of samples.

mod any;
mod clock;
mod concat;
mod delegate;
mod digits;
mod folder;
mod formats;
mod gather;
mod iterable;
mod list;
mod open;
mod picture;
mod rows;
mod sample_table;
mod simulated_cost;
mod slow_motion;
mod slowed;
mod split;
mod stack;
mod stream;
mod subset;
mod synthetic;
mod tensor;
mod tokens;

pub use any::AnyDataset;
pub use clock::SampleClock;
pub use concat::{ChainDataset, ConcatDataset};
pub(crate) use delegate::delegate_to_inner;
pub use digits::Digits;
pub use folder::ImageFolder;
pub use formats::StreamPlace;
pub(crate) use formats::dtype;
pub use gather::{Gather, GatherFetcher};
pub use iterable::{IterableDataset, SampleStream};
pub use list::ListDataset;
pub use open::{OpenDataset, OpeningCatalog};
pub(crate) use sample_table::sample_table;
pub use slow_motion::SlowMotion;
pub use slowed::{Slowed, SlowedStream};
pub use split::{Split, SplitLength, random_split};
pub use stack::StackDataset;
pub use stream::SyntheticStream;
pub use subset::Subset;
pub use synthetic::Synthetic;
pub use tensor::TensorDataset;
pub use tokens::TokenWindows;

use std::sync::Arc;

use crate::plan::RequiredColumn;
use crate::sampler::DataLen;

pub use loadscope_formats::InMemory;
pub use loadscope_plan::dataset::{
    Catalog, CostModel, DatasetSpec, Entry, Sharing, StreamModel, SyntheticCatalog, Tail,
    TokenDtype, TokenSpec,
};
pub use loadscope_plan::error::SampleError;

/// PyTorch's map-style `Dataset`: samples by index.
pub trait Dataset: Send + Sync + 'static {
    /// Return type of [`get`](Self::get).
    type Sample: Send + 'static;

    /// Returns the number of samples.
    fn len(&self) -> usize;

    /// Returns true if there are no samples.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns sample `index`: PyTorch's `__getitem__`.
    ///
    /// # Errors
    /// Any error of the dataset, and `IndexError` beyond the end.
    fn get(&self, index: usize, clock: &mut SampleClock) -> Result<Self::Sample, SampleError>;

    /// Returns `dataset[index]` with the indices of a Python list: −1 is the last sample.
    ///
    /// # Errors
    /// As [`get`](Self::get), and `IndexError` below −len.
    fn get_at(&self, index: i64, clock: &mut SampleClock) -> Result<Self::Sample, SampleError> {
        match wrap(index, self.len()) {
            Some(index) => self.get(index, clock),
            None => Err(SampleError::new(
                "IndexError",
                format!(
                    "index {index} is out of range for a dataset of {} samples",
                    self.len()
                ),
            )),
        }
    }

    /// Returns several samples: PyTorch's `__getitems__`. Returns `None` if not implemented, and samples are fetched one by one.
    ///
    /// An implementation calls [`SampleClock::begin_sample`] itself, and returns `Some` of no samples for no indices.
    fn get_batch(
        &self,
        _indices: &[usize],
        _clock: &mut SampleClock,
    ) -> Option<Result<Vec<Self::Sample>, SampleError>> {
        None
    }

    /// Returns true if [`get_batch`](Self::get_batch) is implemented.
    fn has_get_batch(&self) -> bool {
        self.get_batch(&[], &mut SampleClock::off()).is_some()
    }

    /// Returns all samples, if they are tensors in memory.
    ///
    /// [`MapFetcher`](crate::fetch::MapFetcher) then copies them straight into stacked batches, without individual samples.
    fn in_memory(&self) -> Option<InMemory<'_>> {
        None
    }

    /// Returns the class names, or an empty slice.
    fn classes(&self) -> &[String] {
        &[]
    }

    /// Returns the class of each sample, or `None` if that requires loading samples.
    fn labels(&self) -> Option<Vec<u32>> {
        None
    }

    /// Returns the group of each sample by a column. Equal values have equal numbers.
    ///
    /// Returns `None` if the column does not exist or is not known without loading samples.
    fn groups(&self, column: &str) -> Option<Result<Vec<u32>, SampleError>> {
        let labels = (column == RequiredColumn::LABEL).then(|| self.labels());
        labels.flatten().map(Ok)
    }

    /// Returns the length of each sample, or `None` if that requires loading samples.
    fn lengths(&self) -> Option<Vec<u64>> {
        None
    }

    /// Returns notes for the user who chose the dataset, such as skipped files, one or more sentences each.
    fn notes(&self) -> &[String] {
        &[]
    }
}

/// Returns `len(data_source)` of a map-style dataset.
pub fn data_len<D: Dataset + ?Sized>(dataset: &Arc<D>) -> DataLen {
    let dataset = Arc::clone(dataset);
    DataLen::from_fn(move || dataset.len())
}

/// Converts a Python index into a sequence of `len` elements. Negative indices count from the end.
///
/// Returns `None` before the beginning. An index beyond the end is returned as it is.
fn wrap(index: i64, len: usize) -> Option<usize> {
    match usize::try_from(index) {
        Ok(index) => Some(index),
        Err(_) => len.checked_sub(usize::try_from(index.unsigned_abs()).ok()?),
    }
}
