//! Samplers: in which order the samples of a data set are visited, and how they are grouped into batches.

mod arguments;
mod batch;
mod random;
mod sequential;

use std::fmt;
use std::sync::Arc;

pub use arguments::PyArg;
pub use batch::{BatchIter, BatchSampler, BatchSource};
pub use random::{RandomSampler, RandomSource};
pub use sequential::SequentialSampler;

use crate::dataset::Dataset;
use crate::error::EngineError;
use crate::rng::SharedGenerator;

/// The indices of one epoch. After an error it is finished, as a Python generator is.
pub type IndexIter = Box<dyn Iterator<Item = Result<usize, EngineError>> + Send>;

/// PyTorch's `Sampler`: an order of indices, anew for every epoch.
pub trait Sampler: Send + Sync {
    /// `len(sampler)`: indices in an epoch.
    fn len(&self) -> usize;

    /// True if an epoch has no indices.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The generators that an epoch draws from, so that their state can be saved.
    fn generators(&self) -> Vec<SharedGenerator> {
        Vec::new()
    }

    /// `iter(sampler)`: the indices of an epoch. Random samplers draw from their generator at the first pull, not here.
    fn iter(&self) -> IndexIter;
}

/// `len(data_source)`, asked anew at every use because a data set may grow between epochs.
#[derive(Clone)]
pub struct DataLen(Arc<dyn Fn() -> usize + Send + Sync>);

impl DataLen {
    /// The length of a data set.
    pub fn of<D: Dataset + ?Sized>(dataset: &Arc<D>) -> Self {
        let dataset = Arc::clone(dataset);
        Self(Arc::new(move || dataset.len()))
    }

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
