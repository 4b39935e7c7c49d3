//! Datasets: where samples come from.

mod any;
mod clock;
mod concat;
mod digits;
mod folder;
mod formats;
mod gather;
mod inner;
mod iterable;
mod known;
mod list;
mod open;
mod picture;
mod rows;
mod shuffle;
mod slowed;
mod spend;
mod split;
mod stack;
mod stream;
mod stretched;
mod subset;
mod synthetic;
mod tensor;
mod tokens;

pub use any::AnyDataset;
pub use clock::SampleClock;
pub use concat::{ChainDataset, ConcatDataset};
pub use digits::Digits;
pub use folder::ImageFolder;
pub use formats::StreamPlace;
pub(crate) use formats::dtype;
pub use gather::{Gather, GatherFetcher};
pub(crate) use inner::known_by_inner;
pub use iterable::{IterableDataset, SampleStream};
pub(crate) use known::table;
pub use list::ListDataset;
pub use open::{OpenDataset, Opening};
pub use shuffle::BufferedShuffleDataset;
pub use slowed::{Slowed, SlowedStream};
pub use split::{Split, SplitLength, random_split};
pub use stack::StackDataset;
pub use stream::SyntheticStream;
pub use stretched::Stretched;
pub use subset::Subset;
pub use synthetic::Synthetic;
pub use tensor::TensorDataset;
pub use tokens::TokenWindows;

use std::sync::Arc;

use crate::plan::Needed;
use crate::sampler::DataLen;

pub use loadscope_formats::InMemory;
pub use loadscope_plan::dataset::{
    Catalog, CostModel, DatasetSpec, Entry, MadeUp, Sharing, StreamModel, Tail, TokenDtype,
    TokenSpec,
};
pub use loadscope_plan::error::SampleError;

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
    /// Whatever the dataset meets, and `IndexError` beyond the end.
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
                    "index {index} is out of range for a dataset of {} samples",
                    self.len()
                ),
            )),
        }
    }

    /// PyTorch's `__getitems__`; `None` = not implemented, samples are fetched one by one. A dataset that implements
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

    /// All samples, where they are tensors that lie in memory: [`MapFetcher`](crate::fetch::MapFetcher) copies them straight into
    /// batches that are stacked, without making samples in between.
    fn in_memory(&self) -> Option<InMemory<'_>> {
        None
    }

    /// Names for labels (class names), if the dataset has them.
    fn classes(&self) -> &[String] {
        &[]
    }

    /// The class of each sample, where it is known without loading one.
    fn labels(&self) -> Option<Vec<u32>> {
        None
    }

    /// The group of each sample by a column, where it is known without loading one: numbers that are the same where the values
    /// are. `None`: there is no such column.
    fn groups(&self, column: &str) -> Option<Result<Vec<u32>, SampleError>> {
        let labels = (column == Needed::LABEL).then(|| self.labels());
        labels.flatten().map(Ok)
    }

    /// The length of each sample, where it is known without loading one.
    fn lengths(&self) -> Option<Vec<u64>> {
        None
    }

    /// What the person who chose the dataset should know: files that were left out, and so on. Sentences.
    fn notes(&self) -> &[String] {
        &[]
    }
}

/// `len(data_source)` of a map-style dataset.
pub fn data_len<D: Dataset + ?Sized>(dataset: &Arc<D>) -> DataLen {
    let dataset = Arc::clone(dataset);
    DataLen::from_fn(move || dataset.len())
}

/// Where Python's index is in a sequence of `len` elements: negative ones count from the end. `None` = before the begin; what
/// is behind the end stays there.
fn wrap(index: i64, len: usize) -> Option<usize> {
    match usize::try_from(index) {
        Ok(index) => Some(index),
        Err(_) => len.checked_sub(usize::try_from(index.unsigned_abs()).ok()?),
    }
}
