//! Datasets that make a whole batch at once, without samples in between.

use std::sync::Arc;

use loadscope_words::say;

use super::{Dataset, SampleClock, SampleError};
use crate::batch::Batch;
use crate::error::LoaderError;
use crate::fetch::{Fetch, FetchError, FetchScope, Fetcher, Request};

/// A dataset that lies in memory and can copy samples from there straight into a batch.
pub trait Gather: Dataset {
    /// What it makes.
    type Batch: Batch;

    /// The batch that collating the samples at `indices` would make, in one step.
    ///
    /// # Errors
    /// `IndexError` beyond the end.
    fn gather(
        &self,
        indices: &[usize],
        clock: &mut SampleClock,
    ) -> Result<Self::Batch, SampleError>;
}

/// Fetches whole batches from a dataset that can [`Gather`]. There are no samples in it to be timed one by one.
pub struct GatherFetcher<D: ?Sized> {
    dataset: Arc<D>,
}

impl<D: ?Sized> GatherFetcher<D> {
    /// Batches from `dataset`.
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
        scope.collating();
        Ok(Some(batch.map_err(LoaderError::from)?))
    }
}
