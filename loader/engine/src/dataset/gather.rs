//! Datasets that make a whole batch at once, without individual samples.

use std::sync::Arc;

use loadscope_words::say;

use super::{Dataset, SampleClock, SampleError};
use crate::batch::Batch;
use crate::error::LoaderError;
use crate::fetch::{Fetch, FetchError, FetchScope, Fetcher, Request};

/// A dataset in memory that can copy samples straight into a batch.
pub trait Gather: Dataset {
    /// Batch type.
    type Batch: Batch;

    /// Makes the batch that collating the samples at `indices` would make, in one step.
    ///
    /// # Errors
    /// `IndexError` beyond the end.
    fn gather(
        &self,
        indices: &[usize],
        clock: &mut SampleClock,
    ) -> Result<Self::Batch, SampleError>;
}

/// Fetcher of whole batches from a dataset that can [`Gather`]. Batches have no individual samples to time.
pub struct GatherFetcher<D: ?Sized> {
    dataset: Arc<D>,
}

impl<D: ?Sized> GatherFetcher<D> {
    /// Creates a fetcher of batches from `dataset`.
    pub fn new(dataset: Arc<D>) -> Self {
        Self { dataset }
    }
}

impl<D: Gather + ?Sized> Fetch for GatherFetcher<D> {
    type Batch = D::Batch;

    fn start(&self) -> Result<Box<dyn Fetcher<Batch = D::Batch>>, LoaderError> {
        Ok(Box::new(Self {
            dataset: Arc::clone(&self.dataset),
        }))
    }
}

impl<D: Gather + ?Sized> Fetcher for GatherFetcher<D> {
    type Batch = D::Batch;

    fn fetch(
        &mut self,
        request: &Request,
        scope: &mut FetchScope<'_>,
    ) -> Result<Option<D::Batch>, FetchError> {
        let Request::Batch(indices) = request else {
            return Err(LoaderError::type_error(say!(
                "this dataset returns whole batches. Choose a batch_size."
            ))
            .into());
        };
        let batch = self.dataset.gather(indices, &mut scope.stages);
        scope.begin_collating();
        Ok(Some(batch.map_err(LoaderError::from)?))
    }
}
