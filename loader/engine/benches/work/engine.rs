//! All calls of the loader's interface. If the interface changes, only this file changes, and no benchmark.

use std::sync::Arc;

use loadscope_engine::dataset::{Dataset, Gather, GatherFetcher};
use loadscope_engine::fetch::{Collate, Fetch};
use loadscope_engine::rng::shared_generator;
use loadscope_engine::sampler::{
    BatchSampler, RandomSampler, RandomSource, Sampler, SequentialSampler,
};
use loadscope_engine::{DataLoader, LoaderBuilder, LoaderError, LoaderOptions, MapFetcher, Probe};

/// Arguments of a loader that the benchmarks vary.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    pub batch_size: usize,
    pub shuffle: bool,
    pub num_workers: usize,
    pub persistent_workers: bool,
}

/// `DataLoader(dataset, …, collate_fn=collate, generator=Generator().manual_seed(0))`
pub fn loader<D, C>(
    dataset: Arc<D>,
    collate: C,
    setup: Setup,
    probe: Probe,
) -> Result<DataLoader<MapFetcher<D, C>>, LoaderError>
where
    D: Dataset,
    C: Collate<D::Sample>,
{
    let loader = LoaderBuilder::new(dataset)
        .batch_size(setup.batch_size)
        .shuffle(setup.shuffle)
        .num_workers(setup.num_workers)
        .persistent_workers(setup.persistent_workers)
        .generator(shared_generator(0))
        .collate_fn(collate)
        .build()?;
    Ok(loader.observed(probe))
}

/// Returns the same loader for the first `items` of a dataset that makes whole batches.
pub fn gathering<D: Gather>(
    dataset: Arc<D>,
    items: usize,
    setup: Setup,
    probe: Probe,
) -> Result<DataLoader<GatherFetcher<D>>, LoaderError> {
    let generator = shared_generator(0);
    let len = items.min(dataset.len());
    let sampler: Arc<dyn Sampler> = if setup.shuffle {
        let source = RandomSource::Generator(generator.clone());
        Arc::new(RandomSampler::new(len, false, None, source)?)
    } else {
        Arc::new(SequentialSampler::new(len))
    };
    let batches = BatchSampler::new(sampler, setup.batch_size as i64, false)?;
    let options = LoaderOptions {
        num_workers: setup.num_workers,
        persistent_workers: setup.persistent_workers,
        ..LoaderOptions::default()
    };
    let fetch = GatherFetcher::new(dataset);
    Ok(DataLoader::new(fetch, Arc::new(batches), options, generator)?.observed(probe))
}

/// Runs an epoch, passes every batch to `see` and returns the number of batches.
pub fn epoch<F: Fetch>(
    loader: &mut DataLoader<F>,
    mut see: impl FnMut(&F::Batch),
) -> Result<usize, LoaderError> {
    let mut batches = 0;
    for batch in loader.iter()? {
        see(&*batch?);
        batches += 1;
    }
    Ok(batches)
}

/// Starts an epoch and takes its first batch. The rest is not loaded.
pub fn first_batch<F: Fetch>(loader: &mut DataLoader<F>) -> Result<(), LoaderError> {
    if let Some(batch) = loader.iter()?.next() {
        batch?;
    }
    Ok(())
}
