//! Fetching of a batch for a request: PyTorch's `_MapDatasetFetcher` and `_IterableDatasetFetcher`.

mod collate;
mod scope;
mod stopwatch;
mod timing_granularity;

use std::sync::Arc;

pub use collate::{Collate, Convert, DefaultCollate, Stacking};
pub use scope::FetchScope;

use loadscope_words::say;

use crate::batch::Batch;
use crate::dataset::{Dataset, IterableDataset, SampleError, SampleStream, dtype};
use crate::error::LoaderError;
use crate::value::{new_tensor, torch_error};
use timing_granularity::TimingGranularity;

pub use loadscope_plan::loader::Request;

/// Factory of fetchers: a dataset and a collate function. All threads share it.
pub trait Fetch: Send + Sync + 'static {
    /// Batch type.
    type Batch: Batch;

    /// `_DatasetKind.create_fetcher(..)`: called once per epoch in every worker, or without workers in the consumer's thread.
    ///
    /// # Errors
    /// If the dataset cannot be iterated.
    fn start(&self) -> Result<Box<dyn Fetcher<Batch = Self::Batch>>, LoaderError>;
}

/// Fetcher of the batches of one epoch in one thread.
pub trait Fetcher: Send {
    /// Batch type.
    type Batch;

    /// `fetcher.fetch(possibly_batched_index)`. Returns `None` if the stream has ended (`StopIteration`).
    ///
    /// Reports its samples and the start of collation to `scope`.
    ///
    /// # Errors
    /// Any error of the dataset or the collate function.
    fn fetch(
        &mut self,
        request: &Request,
        scope: &mut FetchScope<'_>,
    ) -> Result<Option<Self::Batch>, FetchError>;

    /// Skips the samples of `request` without making a batch. Returns false if the stream has ended.
    ///
    /// Only streams need an implementation.
    fn skip(&mut self, request: &Request, scope: &mut FetchScope<'_>) -> bool {
        let _ = (request, scope);
        true
    }
}

/// Error of fetching a batch.
#[derive(Clone, Debug)]
pub struct FetchError {
    /// Dataset index of the failed sample, or `None` if the error is not of one sample.
    pub sample: Option<usize>,
    /// Error of the dataset or of the collate function.
    pub error: LoaderError,
}

impl From<LoaderError> for FetchError {
    fn from(error: LoaderError) -> Self {
        Self {
            sample: None,
            error,
        }
    }
}

impl FetchError {
    fn at(sample: Option<usize>, error: SampleError) -> Self {
        Self {
            sample,
            error: error.into(),
        }
    }
}

fn request_mismatch(request: &Request) -> FetchError {
    LoaderError::type_error(say!(
        "the dataset and the sampler do not match: the request was {request:?}"
    ))
    .into()
}

/// Fetcher of a map-style dataset that collates: PyTorch's `_MapDatasetFetcher`.
///
/// While it is observed, each sample is timed. After 32 successive batches with an average below 200 ns per sample,
/// batches are timed as a whole. Each sample is timed again once the average reaches 400 ns or a sample has named
/// stages.
pub struct MapFetcher<D: ?Sized, C> {
    dataset: Arc<D>,
    collate: Arc<C>,
    granularity: TimingGranularity,
}

impl<D: ?Sized, C> MapFetcher<D, C> {
    /// Creates a fetcher of samples from `dataset`, collated by `collate`.
    pub fn new(dataset: Arc<D>, collate: C) -> Self {
        Self {
            dataset,
            collate: Arc::new(collate),
            granularity: TimingGranularity::default(),
        }
    }
}

impl<D, C> Fetch for MapFetcher<D, C>
where
    D: Dataset + ?Sized,
    C: Collate<D::Sample>,
{
    type Batch = C::Batch;

    fn start(&self) -> Result<Box<dyn Fetcher<Batch = C::Batch>>, LoaderError> {
        Ok(Box::new(Self {
            dataset: Arc::clone(&self.dataset),
            collate: Arc::clone(&self.collate),
            granularity: TimingGranularity::default(),
        }))
    }
}

impl<D, C> MapFetcher<D, C>
where
    D: Dataset + ?Sized,
    C: Collate<D::Sample>,
{
    fn sample(&self, index: usize, scope: &mut FetchScope<'_>) -> Result<D::Sample, FetchError> {
        scope.begin_sample(Some(index));
        let sample = self.dataset.get(index, &mut scope.stages);
        let sample = sample.map_err(|e| FetchError::at(Some(index), e))?;
        scope.end_sample();
        Ok(sample)
    }

    /// Stacks samples in memory with one copy per sample. Returns `None` if the batch must be made of individual samples.
    ///
    /// This is also the case if an index does not exist.
    fn stacked(
        &mut self,
        indices: &[usize],
        scope: &mut FetchScope<'_>,
    ) -> Option<Result<C::Batch, FetchError>> {
        let batch_of = self.collate.stacking()?;
        let rows = self.dataset.in_memory()?;
        let in_range = indices.iter().all(|index| *index < rows.len());
        if indices.is_empty() || !in_range {
            return None;
        }
        let sizes = std::iter::once(indices.len()).chain(rows.shape().iter().copied());
        let size = sizes
            .map(i64::try_from)
            .collect::<Result<Vec<_>, _>>()
            .ok()?;
        let stack = new_tensor(&size, dtype(rows.dtype()), |out| {
            let mut places = out.chunks_exact_mut(rows.width());
            scope.stack(indices, &mut self.granularity, |index| {
                if let (Some(place), Some(row)) = (places.next(), rows.row(index)) {
                    place.copy_from_slice(row);
                }
            });
        });
        Some(match stack {
            Ok(stack) => {
                scope.begin_collating();
                Ok(batch_of(stack))
            }
            Err(error) => Err(torch_error(say!("allocate a batch"), &error).into()),
        })
    }

    fn samples(
        &mut self,
        indices: &[usize],
        scope: &mut FetchScope<'_>,
    ) -> Result<Vec<D::Sample>, FetchError> {
        if let Some(samples) = self.dataset.get_batch(indices, &mut scope.stages) {
            return samples.map_err(|e| FetchError::at(None, e));
        }
        let dataset = &self.dataset;
        let samples = scope.fetch_each(indices, &mut self.granularity, |index, clock| {
            dataset.get(index, clock)
        });
        samples.map_err(|(index, error)| FetchError::at(Some(index), error))
    }
}

impl<D, C> Fetcher for MapFetcher<D, C>
where
    D: Dataset + ?Sized,
    C: Collate<D::Sample>,
{
    type Batch = C::Batch;

    fn fetch(
        &mut self,
        request: &Request,
        scope: &mut FetchScope<'_>,
    ) -> Result<Option<C::Batch>, FetchError> {
        let batch = match request {
            Request::Batch(indices) => match self.stacked(indices, scope) {
                Some(batch) => batch?,
                None => {
                    let samples = self.samples(indices, scope)?;
                    scope.set_left_out(self.collate.left_out(&samples));
                    scope.begin_collating();
                    self.collate.collate(samples, scope.site())?
                }
            },
            Request::Sample(index) => {
                let sample = self.sample(*index, scope)?;
                scope.begin_collating();
                self.collate.convert(sample, scope.site())?
            }
            Request::Next(_) | Request::NextSample => return Err(request_mismatch(request)),
        };
        Ok(Some(batch))
    }
}

/// Fetcher of an iterable-style dataset that collates: PyTorch's `_IterableDatasetFetcher`.
pub struct StreamFetcher<D: ?Sized, C> {
    dataset: Arc<D>,
    collate: Arc<C>,
    drop_last: bool,
}

impl<D: ?Sized, C> StreamFetcher<D, C> {
    /// Creates a fetcher of samples from `dataset`, collated by `collate`. With `drop_last` every worker drops a short last batch.
    pub fn new(dataset: Arc<D>, collate: C, drop_last: bool) -> Self {
        Self {
            dataset,
            collate: Arc::new(collate),
            drop_last,
        }
    }
}

impl<D, C> Fetch for StreamFetcher<D, C>
where
    D: IterableDataset + ?Sized,
    C: Collate<D::Sample>,
{
    type Batch = C::Batch;

    fn start(&self) -> Result<Box<dyn Fetcher<Batch = C::Batch>>, LoaderError> {
        Ok(Box::new(IterableFetcher {
            stream: self.dataset.iter()?,
            collate: Arc::clone(&self.collate),
            drop_last: self.drop_last,
            ended: false,
        }))
    }
}

/// One pass through an iterable dataset.
struct IterableFetcher<S, C> {
    stream: Box<dyn SampleStream<S>>,
    collate: Arc<C>,
    drop_last: bool,
    ended: bool,
}

impl<S: Send + 'static, C: Collate<S>> IterableFetcher<S, C> {
    /// Returns the next sample, or `None` at the end.
    ///
    /// An error or a panic ends the stream, as an exception ends a Python generator.
    fn next_sample(&mut self, scope: &mut FetchScope<'_>) -> Result<Option<S>, FetchError> {
        // The flag is set before the call and reset after success, so that a panic also ends the stream.
        if std::mem::replace(&mut self.ended, true) {
            return Ok(None);
        }
        scope.begin_sample(None);
        let Some(sample) = self.stream.next(&mut scope.stages) else {
            return Ok(None);
        };
        let sample = sample.map_err(|error| FetchError::at(None, error))?;
        scope.end_sample();
        self.ended = false;
        Ok(Some(sample))
    }

    fn samples(&mut self, most: usize, scope: &mut FetchScope<'_>) -> Result<Vec<S>, FetchError> {
        // A batch size beyond the length of the stream is allowed, so it must not determine the allocation.
        let mut samples = Vec::with_capacity(most.min(4096));
        while samples.len() < most {
            match self.next_sample(scope)? {
                Some(sample) => samples.push(sample),
                None => break,
            }
        }
        Ok(samples)
    }
}

impl<S: Send + 'static, C: Collate<S>> Fetcher for IterableFetcher<S, C> {
    type Batch = C::Batch;

    fn fetch(
        &mut self,
        request: &Request,
        scope: &mut FetchScope<'_>,
    ) -> Result<Option<C::Batch>, FetchError> {
        match request {
            Request::Next(size) => {
                let samples = self.samples(*size, scope)?;
                if samples.is_empty() || (self.drop_last && samples.len() < *size) {
                    return Ok(None);
                }
                scope.set_left_out(self.collate.left_out(&samples));
                scope.begin_collating();
                Ok(Some(self.collate.collate(samples, scope.site())?))
            }
            Request::NextSample => match self.next_sample(scope)? {
                Some(sample) => {
                    scope.begin_collating();
                    Ok(Some(self.collate.convert(sample, scope.site())?))
                }
                None => Ok(None),
            },
            Request::Batch(_) | Request::Sample(_) => Err(request_mismatch(request)),
        }
    }

    fn skip(&mut self, request: &Request, scope: &mut FetchScope<'_>) -> bool {
        let size = match request {
            Request::Next(size) => *size,
            _ => 1,
        };
        // A failed batch was counted as yielded when it failed.
        match self.samples(size, scope) {
            Ok(samples) => !(samples.is_empty() || (self.drop_last && samples.len() < size)),
            Err(_) => true,
        }
    }
}
