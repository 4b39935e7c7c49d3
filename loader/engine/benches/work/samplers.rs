//! Epochs of samplers, index by index.

use std::sync::Arc;

use loadscope_engine::LoaderError;
use loadscope_engine::rng::shared_generator;
use loadscope_engine::sampler::{
    DistributedSampler, IndexIter, RandomSampler, RandomSource, Sampler, WeightedRandomSampler,
};

/// `iter(RandomSampler(range(n), generator=Generator().manual_seed(0)))`
pub fn random(n: usize) -> Result<IndexIter, LoaderError> {
    let source = RandomSource::Generator(shared_generator(0));
    Ok(RandomSampler::new(n, false, None, source)?.iter())
}

/// `iter(DistributedSampler(range(n), num_replicas=world, rank=0, seed=0))`
pub fn distributed(n: usize, world: i64) -> Result<IndexIter, LoaderError> {
    Ok(DistributedSampler::new(n, world, 0)?.iter())
}

/// Returns the weights of w4: `1 + i % 10`.
pub fn weights(n: usize) -> Arc<[f64]> {
    (0..n).map(|i| (1 + i % 10) as f64).collect()
}

/// `iter(WeightedRandomSampler(weights, len(weights), replacement, generator=Generator().manual_seed(0)))`
pub fn weighted(weights: Arc<[f64]>, replacement: bool) -> Result<IndexIter, LoaderError> {
    let source = RandomSource::Generator(shared_generator(0));
    let n = weights.len() as i64;
    Ok(WeightedRandomSampler::new(weights, n, replacement, source)?.iter())
}
