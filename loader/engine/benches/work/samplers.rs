//! Epochs of samplers, index by index.

use loadscope_engine::EngineError;
use loadscope_engine::rng::{Generator, shared_generator};
use loadscope_engine::sampler::{RandomSampler, RandomSource, Sampler};

type Indices = Box<dyn Iterator<Item = Result<usize, EngineError>>>;

/// `iter(RandomSampler(range(n), generator=Generator().manual_seed(0)))`
pub fn random(n: usize) -> Result<Indices, EngineError> {
    let source = RandomSource::Generator(shared_generator(0));
    Ok(RandomSampler::new(n, false, None, source)?.iter())
}

/// `iter(DistributedSampler(range(n), num_replicas=world, rank=0, seed=0))`
pub fn distributed(n: usize, world: usize) -> Result<Indices, EngineError> {
    let order = Generator::new(0).randperm(n)?;
    let count = n.div_ceil(world.max(1));
    Ok(Box::new((0..count).map(move |at| {
        Ok(order.get(at * world % n).unwrap_or_default())
    })))
}

/// `iter(WeightedRandomSampler(weights, n, replacement, generator=Generator().manual_seed(0)))` for `n` weights
/// `1 + i % 10`.
pub fn weighted(n: usize, replacement: bool) -> Result<Indices, EngineError> {
    let weights: Vec<f64> = (0..n).map(|i| (1 + i % 10) as f64).collect();
    let mut generator = Generator::new(0);
    if replacement {
        let mut sums = weights;
        let mut total = 0.0;
        for sum in &mut sums {
            total += *sum;
            *sum = total;
        }
        sums.iter_mut().for_each(|sum| *sum /= total);
        return Ok(Box::new((0..n).map(move |_| {
            let drawn = generator.rand_f64();
            Ok(sums.partition_point(|sum| *sum < drawn))
        })));
    }
    let mut scores: Vec<(f64, usize)> = weights
        .into_iter()
        .map(|weight| weight / -(-generator.rand_f64()).ln_1p())
        .zip(0..)
        .collect();
    scores.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    Ok(Box::new(scores.into_iter().map(|(_, index)| Ok(index))))
}
