//! Samplers: in which order the samples of a dataset are visited, and how they are grouped into batches.
//!
//! PyTorch has no weighted sampler that works across ranks: [`DistributedWeightedSampler`] is an addition.

mod arguments;
mod batch;
mod bucket;
mod distributed;
mod drawn;
mod epoch;
mod equi_batch;
mod group;
mod infinite;
mod list;
mod random;
mod sequential;
mod source;
mod subset;
#[cfg(test)]
mod tests;
mod weighted;

use std::fmt;
use std::sync::Arc;

pub use arguments::{PyArg, boolean_argument, positive_int_argument};
pub use batch::{BatchIter, BatchSampler, BatchSource};
pub use bucket::LengthBucketBatchSampler;
pub(crate) use distributed::Rank;
pub use distributed::{DistributedSampler, DistributedWeightedSampler};
pub use epoch::{Epoch, IndexIter};
pub use equi_batch::DistributedEquiBatchSampler;
pub use group::DistinctGroupBatchSampler;
pub use infinite::InfiniteSampler;
pub use random::RandomSampler;
pub use sequential::SequentialSampler;
pub use source::{Draws, RandomSource};
pub use subset::SubsetRandomSampler;
pub use weighted::{WeightedRandomSampler, balanced_weights};

use crate::error::LoaderError;
use crate::rng::SharedGenerator;

/// PyTorch's `Sampler`: an order of indices, anew for every epoch.
pub trait Sampler: Send + Sync {
    /// `len(sampler)`: indices in an epoch.
    fn len(&self) -> usize;

    /// True if an epoch has no indices.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `iter(sampler)`: the indices of an epoch. Random samplers draw from their generator at the first pull, not here.
    fn iter(&self) -> IndexIter;

    /// The same epoch as of [`iter`](Self::iter), for consumers that take many indices at a time.
    fn epoch(&self) -> Box<dyn Epoch> {
        Box::new(epoch::OneByOne(self.iter()))
    }

    /// How many 32-bit words an epoch draws that is run to its end; `None` = the sampler does not say.
    fn draws(&self) -> Option<Draws> {
        None
    }

    /// `len(sampler)` of samplers that may have none.
    ///
    /// # Errors
    /// TypeError if the sampler has no length.
    fn checked_len(&self) -> Result<usize, LoaderError> {
        Ok(self.len())
    }

    /// `sampler.set_epoch(epoch)`: tells which epoch begins. Only samplers that all ranks seed alike want to know.
    fn set_epoch(&self, _epoch: u64) {}

    /// The generators that an epoch draws from, so that their state can be saved.
    fn generators(&self) -> Vec<SharedGenerator> {
        Vec::new()
    }
}

/// `len(data_source)`, asked anew at every use because a dataset may grow between epochs.
#[derive(Clone)]
pub struct DataLen(Arc<dyn Fn() -> usize + Send + Sync>);

impl DataLen {
    /// A length that is computed when it is needed.
    pub fn from_fn(len: impl Fn() -> usize + Send + Sync + 'static) -> Self {
        Self(Arc::new(len))
    }

    /// The length now.
    pub fn get(&self) -> usize {
        (self.0)()
    }
}

impl From<usize> for DataLen {
    fn from(len: usize) -> Self {
        Self::from_fn(move || len)
    }
}

impl fmt::Debug for DataLen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DataLen").field(&self.get()).finish()
    }
}
