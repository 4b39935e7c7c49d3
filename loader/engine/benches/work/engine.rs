//! All calls of the loader's own interface: when that changes, this file does, and no benchmark.

use std::sync::Arc;

use loadscope_engine::dataset::Dataset;
use loadscope_engine::fetch::{Collate, Fetch};
use loadscope_engine::rng::shared_generator;
use loadscope_engine::sampler::{
    BatchSampler, DataLen, RandomSampler, RandomSource, Sampler, SequentialSampler,
};
use loadscope_engine::{DataLoader, EngineError, LoaderOptions, MapFetcher, Probe};

/// The arguments of a loader that the benchmarks vary.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    pub batch_size: i64,
    pub shuffle: bool,
    pub num_workers: usize,
    pub persistent_workers: bool,
}

pub type Loader<D, C> = DataLoader<MapFetcher<D, C>>;

/// `DataLoader(dataset, …, collate_fn=collate, generator=Generator().manual_seed(0))`
pub fn loader<D, C>(
    dataset: D,
    collate: C,
    setup: Setup,
    probe: Probe,
) -> Result<Loader<D, C>, EngineError>
where
    D: Dataset,
    C: Collate<D::Sample>,
{
    let dataset = Arc::new(dataset);
    let generator = shared_generator(0);
    let len = DataLen::of(&dataset);
    let sampler: Arc<dyn Sampler> = if setup.shuffle {
        let source = RandomSource::Generator(generator.clone());
        Arc::new(RandomSampler::new(len, false, None, source)?)
    } else {
        Arc::new(SequentialSampler::new(len))
    };
    let batches = BatchSampler::new(sampler, setup.batch_size, false)?;
    let options = LoaderOptions {
        num_workers: setup.num_workers,
        persistent_workers: setup.persistent_workers,
        ..LoaderOptions::default()
    };
    let fetch = MapFetcher::new(dataset, collate);
    Ok(DataLoader::new(fetch, Arc::new(batches), options, generator)?.observed(probe))
}

/// Goes through an epoch, shows every batch to `see` and gives their number.
pub fn epoch<F: Fetch>(
    loader: &mut DataLoader<F>,
    mut see: impl FnMut(&F::Batch),
) -> Result<usize, EngineError> {
    let mut batches = 0;
    for batch in loader.iter()? {
        see(&*batch?);
        batches += 1;
    }
    Ok(batches)
}

/// Starts an epoch and takes its first batch; what follows is not loaded.
pub fn first_batch<F: Fetch>(loader: &mut DataLoader<F>) -> Result<(), EngineError> {
    if let Some(batch) = loader.iter()?.next() {
        batch?;
    }
    Ok(())
}
