//! What a loader pulls for its tasks: PyTorch's `_index_sampler`.

use std::sync::Arc;

use super::Request;
use crate::error::LoaderError;
use crate::rng::SharedGenerator;
use crate::sampler::{BatchSource, Sampler};

/// The requests of one epoch. After an error it is finished.
pub type RequestIter = Box<dyn Iterator<Item = Result<Request, LoaderError>> + Send>;

/// Where the loader's tasks come from.
#[derive(Clone)]
pub enum Index {
    /// A `batch_sampler`.
    Batches(Arc<dyn BatchSource>),
    /// A `sampler`, without batches (`batch_size=None`).
    Samples(Arc<dyn Sampler>),
    /// Nothing but "the next ones", for ever: an iterable dataset decides by itself. PyTorch's `_InfiniteConstantSampler`.
    Stream {
        /// Samples in a batch; `None`: no batches.
        batch_size: Option<usize>,
        /// Every worker leaves out its last batch if it is short.
        drop_last: bool,
    },
}

impl Index {
    /// `len(_index_sampler)`; 0 for streams, whose length is unknown.
    pub fn len(&self) -> usize {
        match self {
            Self::Batches(batches) => batches.len(),
            Self::Samples(sampler) => sampler.len(),
            Self::Stream { .. } => 0,
        }
    }

    /// True if there are no tasks; never for streams.
    pub fn is_empty(&self) -> bool {
        !matches!(self, Self::Stream { .. }) && self.len() == 0
    }

    /// The generators that an epoch draws from.
    pub fn generators(&self) -> Vec<SharedGenerator> {
        match self {
            Self::Batches(batches) => batches.generators(),
            Self::Samples(sampler) => sampler.generators(),
            Self::Stream { .. } => Vec::new(),
        }
    }

    /// `iter(_index_sampler)`
    pub fn iter(&self) -> RequestIter {
        match self {
            Self::Batches(batches) => Box::new(batches.iter().map(|b| b.map(Request::Batch))),
            Self::Samples(sampler) => Box::new(sampler.iter().map(|s| s.map(Request::Sample))),
            Self::Stream { batch_size, .. } => {
                let request = batch_size.map_or(Request::NextSample, Request::Next);
                Box::new(std::iter::repeat_with(move || Ok(request.clone())))
            }
        }
    }
}
