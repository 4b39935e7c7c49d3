//! `DataLoader(dataset, …)` with all of PyTorch's arguments.

use std::marker::PhantomData;
use std::sync::Arc;

use loadscope_plan::processors;
use loadscope_trace::PinMemory;

use super::{Arguments, DataLoader, DatasetInfo, Index, LoaderOptions, too_many_workers};
use crate::dataset::{Dataset, IterableDataset, SampleError, data_len};
use crate::error::LoaderError;
use crate::fetch::{Collate, DefaultCollate, Fetch, MapFetcher, StreamFetcher};
use crate::rng::{SharedGenerator, default_generator};
use crate::sampler::{
    BatchSampler, BatchSource, PyArg, RandomSampler, RandomSource, Sampler, SequentialSampler,
};
use crate::worker::WorkerInitFn;

/// Marker of map-style datasets: samples by index.
#[derive(Debug)]
pub struct MapStyle<D: ?Sized>(PhantomData<fn() -> Box<D>>);

/// Marker of iterable-style datasets: samples in the order of a stream.
#[derive(Debug)]
pub struct Streaming<D: ?Sized>(PhantomData<fn() -> Box<D>>);

/// The arguments of `DataLoader(dataset, …)` under PyTorch's names.
///
/// [`build`](LoaderBuilder::build) checks them in PyTorch's order.
///
/// ```
/// use std::sync::Arc;
/// use loadscope_engine::{LoaderBuilder, dataset::Digits, rng::shared_generator};
///
/// # fn main() -> Result<(), loadscope_engine::LoaderError> {
/// let digits = Arc::new(Digits::new()?);
/// let mut loader = LoaderBuilder::new(digits)
///     .batch_size(64)
///     .shuffle(true)
///     .num_workers(2)
///     .generator(shared_generator(42))
///     .build()?;
/// assert_eq!(loader.len()?, 29);
/// for batch in loader.iter()? {
///     let batch = batch?;
///     assert!(batch.tensors()[0].size()[0] <= 64);
/// }
/// # Ok(())
/// # }
/// ```
pub struct LoaderBuilder<K, D: ?Sized, C> {
    dataset: Arc<D>,
    collate: C,
    arguments: Arguments,
    sampler: Option<Arc<dyn Sampler>>,
    batch_sampler: Option<Arc<dyn BatchSource>>,
    parts: LoaderParts,
    kind: PhantomData<K>,
}

impl<D: Dataset + ?Sized> LoaderBuilder<MapStyle<D>, D, DefaultCollate> {
    /// Creates a builder for a map-style dataset.
    pub fn new(dataset: Arc<D>) -> Self {
        Self::with(dataset, false)
    }
}

impl<D: IterableDataset + ?Sized> LoaderBuilder<Streaming<D>, D, DefaultCollate> {
    /// Creates a builder for an iterable-style dataset.
    pub fn iterable(dataset: Arc<D>) -> Self {
        Self::with(dataset, true)
    }
}

impl<K, D: ?Sized> LoaderBuilder<K, D, DefaultCollate> {
    fn with(dataset: Arc<D>, iterable: bool) -> Self {
        Self {
            dataset,
            collate: DefaultCollate,
            arguments: Arguments {
                iterable,
                ..Arguments::default()
            },
            sampler: None,
            batch_sampler: None,
            parts: LoaderParts::default(),
            kind: PhantomData,
        }
    }
}

impl<K, D: ?Sized, C> LoaderBuilder<K, D, C> {
    /// Sets the samples per batch. `None` disables batching. Default: 1.
    #[must_use]
    pub fn batch_size(self, batch_size: impl Into<Option<usize>>) -> Self {
        let arg = batch_size.into().map_or(PyArg::None, int);
        self.argument(|a| a.batch_size = arg)
    }

    /// Enables a new random order in every epoch.
    #[must_use]
    pub fn shuffle(self, shuffle: bool) -> Self {
        self.argument(|a| a.shuffle = PyArg::Bool(shuffle))
    }

    /// Sets the order of the samples, instead of `shuffle`.
    #[must_use]
    pub fn sampler(mut self, sampler: Arc<dyn Sampler>) -> Self {
        self.sampler = Some(sampler);
        self.argument(|a| a.sampler = PyArg::Other("Sampler".to_owned()))
    }

    /// Sets the batches, instead of `batch_size`, `shuffle`, `sampler` and `drop_last`.
    #[must_use]
    pub fn batch_sampler(mut self, batch_sampler: Arc<dyn BatchSource>) -> Self {
        self.batch_sampler = Some(batch_sampler);
        self.argument(|a| a.batch_sampler = PyArg::Other("BatchSampler".to_owned()))
    }

    /// Sets the number of worker threads. With 0 the caller's thread fetches.
    #[must_use]
    pub fn num_workers(mut self, num_workers: usize) -> Self {
        self.parts.options.num_workers = num_workers;
        self.argument(|a| a.num_workers = int(num_workers))
    }

    /// Drops a short last batch. With a stream, every worker drops its own.
    #[must_use]
    pub fn drop_last(self, drop_last: bool) -> Self {
        self.argument(|a| a.drop_last = PyArg::Bool(drop_last))
    }

    /// Sets the maximum wait for a worker in seconds, or 0 for no limit.
    #[must_use]
    pub fn timeout(mut self, seconds: f64) -> Self {
        self.parts.options.timeout = seconds;
        self.argument(|a| a.timeout = PyArg::Float(seconds))
    }

    /// Sets the start method of worker processes in Python. The method is checked but has no effect, because workers are threads.
    #[must_use]
    pub fn multiprocessing_context(self, method: &str) -> Self {
        let method = PyArg::Str(method.to_owned());
        self.argument(|a| a.multiprocessing_context = method)
    }

    /// Sets the batches in flight per worker. Default: 2.
    #[must_use]
    pub fn prefetch_factor(mut self, factor: usize) -> Self {
        self.parts.options.prefetch_factor = Some(factor);
        self.argument(|a| a.prefetch_factor = int(factor))
    }

    /// Keeps the workers alive between epochs.
    #[must_use]
    pub fn persistent_workers(mut self, persistent: bool) -> Self {
        self.parts.options.persistent_workers = persistent;
        self.argument(|a| a.persistent_workers = PyArg::Bool(persistent))
    }

    /// Yields batches in the order of the sampler. Default: true.
    #[must_use]
    pub fn in_order(mut self, in_order: bool) -> Self {
        self.parts.options.in_order = in_order;
        self
    }

    /// Copies batches to page-locked memory.
    #[must_use]
    pub fn pin_memory(mut self, pin_memory: PinMemory) -> Self {
        self.parts.options.pin_memory = pin_memory;
        self
    }

    /// Ignores `device` with a warning, because the argument is deprecated in PyTorch.
    #[must_use]
    pub fn pin_memory_device(mut self, device: &str) -> Self {
        device.clone_into(&mut self.parts.pin_memory_device);
        self
    }

    /// Sets a function that every new worker calls with its ID, after its random streams were seeded.
    #[must_use]
    pub fn worker_init_fn(
        mut self,
        init: impl Fn(usize) -> Result<(), SampleError> + Send + Sync + 'static,
    ) -> Self {
        self.parts.init = Some(Arc::new(init));
        self
    }

    /// Sets the generator of base seeds and, with `shuffle`, of permutations. Default: the default generator.
    #[must_use]
    pub fn generator(mut self, generator: SharedGenerator) -> Self {
        self.parts.generator = Some(generator);
        self
    }

    /// Sets the replacement of PyTorch's default generator. Default: [`default_generator`], the program's own.
    #[must_use]
    pub fn default_generator(mut self, generator: SharedGenerator) -> Self {
        self.parts.default_generator = Some(generator);
        self
    }

    /// Sets the function that makes a batch of samples. Default: [`DefaultCollate`].
    #[must_use]
    pub fn collate_fn<C2>(self, collate: C2) -> LoaderBuilder<K, D, C2> {
        LoaderBuilder {
            dataset: self.dataset,
            collate,
            arguments: self.arguments,
            sampler: self.sampler,
            batch_sampler: self.batch_sampler,
            parts: self.parts,
            kind: PhantomData,
        }
    }

    fn argument(mut self, set: impl FnOnce(&mut Arguments)) -> Self {
        set(&mut self.arguments);
        self
    }

    fn size(&self) -> Option<usize> {
        match self.arguments.batch_size {
            PyArg::Int(size) => usize::try_from(size).ok(),
            _ => None,
        }
    }

    fn drops_last(&self) -> bool {
        self.arguments.drop_last == PyArg::Bool(true)
    }
}

/// Settings that need no check of PyTorch's arguments.
#[derive(Default)]
pub(crate) struct LoaderParts {
    pub options: LoaderOptions,
    pub init: Option<WorkerInitFn>,
    pub generator: Option<SharedGenerator>,
    /// Replacement of PyTorch's default generator.
    pub default_generator: Option<SharedGenerator>,
    pub pin_memory_device: String,
}

impl LoaderParts {
    pub fn assemble<F: Fetch>(
        self,
        fetch: F,
        index: Index,
        dataset_info: DatasetInfo,
    ) -> Result<DataLoader<F>, LoaderError> {
        let default = self.default_generator.unwrap_or_else(default_generator);
        let mut loader = DataLoader::of(fetch, index, self.options, default)?;
        loader.dataset_info = Some(dataset_info);
        loader.init = self.init;
        loader.generator = self.generator;
        if self.options.pin_memory != PinMemory::Off && !self.pin_memory_device.is_empty() {
            loader.warned_at_iter.push(format!(
                "pin_memory_device is deprecated, the current accelerator will be used as the device,\
                 ignore pin_memory_device='{}'.",
                self.pin_memory_device
            ));
        }
        if let Some(text) = too_many_workers(self.options.num_workers, processors()) {
            // The constructor also warns, but it is not observed yet.
            loader.warnings.push(text.clone());
            loader.warned_at_iter.push(text);
        }
        Ok(loader)
    }
}

impl<D, C> LoaderBuilder<MapStyle<D>, D, C>
where
    D: Dataset + ?Sized,
    C: Collate<D::Sample>,
{
    /// Builds the loader.
    ///
    /// # Errors
    /// The exceptions of PyTorch's constructor, with its messages.
    pub fn build(self) -> Result<DataLoader<MapFetcher<D, C>>, LoaderError> {
        self.arguments.check()?;
        let index = self.index()?;
        let dataset_info = DatasetInfo {
            len: {
                let dataset = Arc::clone(&self.dataset);
                Arc::new(move || Some(dataset.len()))
            },
            name: "Dataset".to_owned(),
        };
        let fetch = MapFetcher::new(self.dataset, self.collate);
        self.parts.assemble(fetch, index, dataset_info)
    }

    fn index(&self) -> Result<Index, LoaderError> {
        if let Some(batches) = &self.batch_sampler {
            return Ok(Index::Batches(Arc::clone(batches)));
        }
        let len = data_len(&self.dataset);
        let sampler: Arc<dyn Sampler> = match &self.sampler {
            Some(sampler) => Arc::clone(sampler),
            None if self.arguments.shuffle == PyArg::Bool(true) => {
                let parts = &self.parts;
                let source = match (&parts.generator, &parts.default_generator) {
                    (Some(generator), _) => RandomSource::Generator(Arc::clone(generator)),
                    (None, Some(default)) => RandomSource::Default(Arc::clone(default)),
                    (None, None) => RandomSource::Default(default_generator()),
                };
                Arc::new(RandomSampler::new(len, false, None, source)?)
            }
            None => Arc::new(SequentialSampler::new(len)),
        };
        let Some(size) = self.size() else {
            return Ok(Index::Samples(sampler));
        };
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        let batches = BatchSampler::new(sampler, size, self.drops_last())?;
        Ok(Index::Batches(Arc::new(batches)))
    }
}

impl<D, C> LoaderBuilder<Streaming<D>, D, C>
where
    D: IterableDataset + ?Sized,
    C: Collate<D::Sample>,
{
    /// Builds the loader.
    ///
    /// # Errors
    /// The exceptions of PyTorch's constructor, with its messages.
    pub fn build(self) -> Result<DataLoader<StreamFetcher<D, C>>, LoaderError> {
        self.arguments.check()?;
        let drop_last = self.drops_last();
        let index = Index::Stream {
            batch_size: self.size(),
            drop_last,
        };
        let dataset_info = DatasetInfo {
            len: {
                let dataset = Arc::clone(&self.dataset);
                Arc::new(move || dataset.len())
            },
            name: self.dataset.type_name().to_owned(),
        };
        let fetch = StreamFetcher::new(self.dataset, self.collate, drop_last);
        self.parts.assemble(fetch, index, dataset_info)
    }
}

fn int(value: usize) -> PyArg {
    PyArg::Int(i64::try_from(value).unwrap_or(i64::MAX))
}
