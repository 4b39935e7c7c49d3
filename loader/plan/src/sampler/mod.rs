//! Samplers: the order of a dataset's samples, and their division into batches.
//!
//! PyTorch has no weighted sampler for several ranks. [`DistributedWeightedSampler`] is an addition.

mod arguments;
mod batch;
mod bucket;
mod deferred;
mod distributed;
mod epoch;
mod equi_batch;
mod group;
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
pub use random::RandomSampler;
pub use sequential::SequentialSampler;
pub use source::{Draws, RandomSource};
pub use subset::SubsetRandomSampler;
pub use weighted::{WeightedRandomSampler, balanced_weights};

use crate::rng::SharedGenerator;

/// PyTorch's `Sampler`: an order of indices for each epoch.
pub trait Sampler: Send + Sync {
    /// Returns `len(sampler)`, the indices per epoch.
    fn len(&self) -> usize;

    /// Returns true if an epoch has no indices.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns `iter(sampler)`, the indices of an epoch. Random samplers draw at the first pull, not here.
    fn iter(&self) -> IndexIter;

    /// Returns the epoch of [`iter`](Self::iter) for consumers that read many indices at once.
    fn epoch(&self) -> Box<dyn Epoch> {
        Box::new(epoch::IterEpoch(self.iter()))
    }

    /// Returns the number of 32-bit words that a complete epoch draws. Returns `None` if the number is unknown.
    fn draws(&self) -> Option<Draws> {
        None
    }

    /// `sampler.set_epoch(epoch)`: sets the next epoch. Only samplers with a shared seed of all ranks use it.
    fn set_epoch(&self, _epoch: u64) {}

    /// Returns the generators that an epoch draws from, so that their state can be saved.
    fn generators(&self) -> Vec<SharedGenerator> {
        Vec::new()
    }
}

/// `len(data_source)`. It is evaluated at every use because a dataset may grow between epochs.
#[derive(Clone)]
pub struct DataLen(Arc<dyn Fn() -> usize + Send + Sync>);

impl DataLen {
    /// Creates a length that is computed on demand.
    pub fn from_fn(len: impl Fn() -> usize + Send + Sync + 'static) -> Self {
        Self(Arc::new(len))
    }

    /// Returns the current length.
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
