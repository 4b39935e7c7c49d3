//! Source of a loader's tasks: PyTorch's `_index_sampler`.

use std::sync::Arc;

use super::Request;
use crate::error::LoaderError;
use crate::rng::SharedGenerator;
use crate::sampler::{BatchSource, Sampler};

/// Requests of one epoch. The iterator ends after an error.
pub type RequestIter = Box<dyn Iterator<Item = Result<Request, LoaderError>> + Send>;

/// Source of the loader's tasks.
#[derive(Clone)]
pub enum Index {
    /// `batch_sampler`.
    Batches(Arc<dyn BatchSource>),
    /// `sampler` without batches (`batch_size=None`).
    Samples(Arc<dyn Sampler>),
    /// Infinite requests for the next samples of an iterable-style dataset. PyTorch's `_InfiniteConstantSampler`.
    Stream {
        /// Samples per batch. `None`: no batching.
        batch_size: Option<usize>,
        /// True if every worker drops an incomplete last batch.
        drop_last: bool,
    },
}

impl Index {
    /// Returns `len(_index_sampler)`. Returns 0 for streams, whose length is unknown.
    pub fn len(&self) -> usize {
        match self {
            Self::Batches(batches) => batches.len(),
            Self::Samples(sampler) => sampler.len(),
            Self::Stream { .. } => 0,
        }
    }

    /// Returns true if an epoch has no tasks. Always returns false for streams.
    pub fn is_empty(&self) -> bool {
        !matches!(self, Self::Stream { .. }) && self.len() == 0
    }

    /// Returns the generators that an epoch draws from.
    pub fn generators(&self) -> Vec<SharedGenerator> {
        match self {
            Self::Batches(batches) => batches.generators(),
            Self::Samples(sampler) => sampler.generators(),
            Self::Stream { .. } => Vec::new(),
        }
    }

    /// Returns `iter(_index_sampler)`.
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
