//! Properties of all samplers.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::error::LoaderError;
use crate::rng::{SharedGenerator, lock_generator, shared_generator};

/// Returns a sampler of each kind, with some arguments.
fn sampler(
    kind: usize,
    n: usize,
    count: usize,
    replacement: bool,
    source: RandomSource,
) -> Arc<dyn Sampler> {
    let weights: Vec<f64> = (0..n).map(|i| i as f64).collect();
    let samples = count as i64;
    match kind {
        0 => Arc::new(SequentialSampler::new(n)),
        1 => Arc::new(RandomSampler::new(n, replacement, Some(samples), source).unwrap()),
        2 => Arc::new(SubsetRandomSampler::new(
            (0..n).collect::<Vec<usize>>(),
            source,
        )),
        3 => Arc::new(WeightedRandomSampler::new(weights, samples, replacement, source).unwrap()),
        4 => Arc::new(
            DistributedSampler::new(n, 3, 1)
                .unwrap()
                .shuffle(replacement),
        ),
        5 => {
            Arc::new(DistributedWeightedSampler::new(weights, samples, replacement, 3, 1).unwrap())
        }
        _ => Arc::new((0..n).rev().collect::<Vec<usize>>()),
    }
}

/// Indices until the end, the first error, and the number of words drawn.
type Outcome = (Vec<usize>, Option<LoaderError>, u64);

fn one_by_one(sampler: &dyn Sampler, generator: &SharedGenerator) -> Outcome {
    let mut items = Vec::new();
    for item in sampler.iter() {
        match item {
            Ok(item) => items.push(item),
            Err(error) => return (items, Some(error), lock_generator(generator).draws()),
        }
    }
    (items, None, lock_generator(generator).draws())
}

fn in_bulk(sampler: &dyn Sampler, generator: &SharedGenerator, most: usize) -> Outcome {
    let mut items = Vec::new();
    let mut epoch = sampler.epoch();
    loop {
        match epoch.fill(&mut items, most) {
            Ok(count) if count == most => {}
            Ok(_) => return (items, None, lock_generator(generator).draws()),
            Err(error) => return (items, Some(error), lock_generator(generator).draws()),
        }
    }
}

fn source(default: bool, generator: &SharedGenerator) -> RandomSource {
    if default {
        RandomSource::Default(generator.clone())
    } else {
        RandomSource::Generator(generator.clone())
    }
}

proptest! {
    #[test]
    fn predicted_draws_match_the_real_draws(
        kind in 0usize..7,
        n in 0usize..300,
        count in 1usize..700,
        replacement: bool,
        default: bool,
        seed: u64,
    ) {
        let generator = shared_generator(seed);
        let sampler = sampler(kind, n, count, replacement, source(default, &generator));
        let predicted = sampler.draws().unwrap();
        prop_assert_eq!(if default { predicted.generator } else { predicted.default }, 0);
        let epoch = sampler.iter();
        prop_assert_eq!(lock_generator(&generator).draws(), 0, "nothing before the first pull");
        drop(epoch);
        let (items, error, drawn) = one_by_one(&*sampler, &generator);
        prop_assert_eq!(drawn, predicted.generator + predicted.default);
        if error.is_none() {
            prop_assert_eq!(items.len(), sampler.len());
        }
    }

    #[test]
    fn bulk_and_single_iteration_yield_the_same_items(
        kind in 0usize..7,
        n in 0usize..300,
        count in 1usize..700,
        replacement: bool,
        default: bool,
        seed: u64,
        most in 1usize..100,
    ) {
        let (a, b) = (shared_generator(seed), shared_generator(seed));
        let one = one_by_one(&*sampler(kind, n, count, replacement, source(default, &a)), &a);
        let many = in_bulk(&*sampler(kind, n, count, replacement, source(default, &b)), &b, most);
        prop_assert_eq!(one, many);
    }

    /// The iterator and the block interface draw equally much when stopped early.
    #[test]
    fn stopping_early_draws_equally_much_in_both_interfaces(
        n in 1usize..100,
        count in 1usize..300,
        replacement: bool,
        seed: u64,
        taken in 0usize..400,
    ) {
        let (a, b) = (shared_generator(seed), shared_generator(seed));
        let one = sampler(1, n, count, replacement, source(false, &a)).iter().take(taken).count();
        let mut items = Vec::new();
        let many = sampler(1, n, count, replacement, source(false, &b)).epoch().fill(&mut items, taken).unwrap();
        prop_assert_eq!((one, one), (many, items.len()));
        prop_assert_eq!(lock_generator(&a).draws(), lock_generator(&b).draws());
    }
}

#[test]
fn a_batch_sampler_passes_set_epoch_to_its_sampler() {
    let sampler: Arc<dyn Sampler> = Arc::new(DistributedSampler::new(100, 2, 0).unwrap());
    let batches: Arc<dyn BatchSource> = Arc::new(BatchSampler::new(sampler, 100, false).unwrap());
    let epoch = || batches.iter().next().unwrap().unwrap();
    let first = epoch();
    batches.set_epoch(5);
    assert_ne!(epoch(), first);
    batches.set_epoch(0);
    assert_eq!(epoch(), first);
}
