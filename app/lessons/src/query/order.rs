//! Queries about the samplers: indices, their order, and their ranks.

use std::collections::BTreeMap;

use loadscope_plan::dataset::SyntheticCatalog;
use loadscope_plan::order::{Order, order, samples_of_dataset};
use loadscope_plan::rng::shared_generator;
use loadscope_plan::sampler::{
    BatchSource, DistributedEquiBatchSampler, RandomSource, Sampler, WeightedRandomSampler,
};
use loadscope_plan::simulate::simulate;
use loadscope_trace::{Run, RunOptions};

use crate::phrase::phrases;
use crate::value::Value;

phrases! {
    /// A query about the samplers.
    #[derive(Clone, Debug, PartialEq)]
    OrderQuery, ORDER_QUERIES:
    "len of the loader", "len(loader)" => Len;
    "batches of epoch N", "number of batches" => Batches(u32);
    "first N indices of epoch N", "a list" => First(usize, u32);
    "same order in epochs N and N", "yes or no" => SameOrder(u32, u32);
    "times a sample comes", "largest count of one sample in an epoch" => MostOften;
    "different samples", "number of different samples in an epoch" => Distinct;
    "samples that never come", "in one epoch" => Never;
    "samples that come", "in one epoch, repetitions included" => All;
    "samples of a rank", "in one epoch" => OfRank;
    "samples of all ranks", "in one epoch, repetitions included" => OfAllRanks;
    "samples repeated over all ranks", "in one epoch" => RepeatedOverRanks;
    "slowest rank", "the rank whose epoch takes longest" => SlowestRank;
    "N weighted draws from WEIGHTS with seed N", "WeightedRandomSampler: `4 weighted draws from 1,1,8 with seed 0`" => Weighted(usize, Vec<f64>, u64);
    "class N in a balanced batch of N from SIZES", "DistributedEquiBatchSampler: `class 0 in a balanced batch of 8 from 10,1000`" => Balanced(usize, i64, Vec<usize>);
}

impl OrderQuery {
    /// Returns true if the Sampling workspace shows the answer. It shows the indices of a run, but no durations.
    pub fn is_of_indices(&self) -> bool {
        !matches!(
            self,
            Self::SlowestRank | Self::Weighted(..) | Self::Balanced(..)
        )
    }

    /// Returns the answer for these options, if the samplers give one.
    pub(super) fn answer(&self, options: &RunOptions) -> Option<Value> {
        match self {
            Self::Len => Some(Value::count(known(options, 0)?.len?)),
            Self::Batches(epoch) => {
                let order = known(options, *epoch)?;
                Some(Value::count(order.epochs.get(*epoch as usize)?.len()))
            }
            Self::First(count, epoch) => {
                let first = indices(options, *epoch)?.into_iter().take(*count);
                Some(Value::List(
                    first.map(|i| Value::Number(i as f64)).collect(),
                ))
            }
            Self::SameOrder(one, other) => Some(Value::yes(
                indices(options, *one)? == indices(options, *other)?,
            )),
            Self::MostOften => Some(Value::count(times(options)?.into_values().max()?)),
            Self::Distinct => Some(Value::count(times(options)?.len())),
            Self::Never => {
                let all = samples_of_dataset(options, &SyntheticCatalog)
                    .ok()?
                    .count(0);
                Some(Value::Number(
                    all.saturating_sub(times(options)?.len() as u64) as f64,
                ))
            }
            Self::All | Self::OfRank => Some(Value::count(indices(options, 0)?.len())),
            Self::OfAllRanks => Some(Value::count(over_ranks(options)?.into_values().sum())),
            Self::RepeatedOverRanks => {
                let repeated = over_ranks(options)?.into_values().map(|times| times - 1);
                Some(Value::count(repeated.sum()))
            }
            Self::SlowestRank => slowest(options),
            Self::Weighted(count, weights, seed) => weighted(*count, weights, *seed),
            Self::Balanced(class, batch_size, sizes) => balanced(*class, *batch_size, sizes),
        }
    }
}

/// Returns the order of at least the epochs up to this one.
fn known(options: &RunOptions, epoch: u32) -> Option<Order> {
    let mut options = options.clone();
    options.epochs = options.epochs.max(epoch.saturating_add(1));
    if options.global_seed.is_none() {
        // The simulation also uses seed 0 if there is none.
        options.seed.get_or_insert(0);
    }
    let samples = samples_of_dataset(&options, &SyntheticCatalog).ok()?;
    order(&options, &samples).ok()
}

fn indices(options: &RunOptions, epoch: u32) -> Option<Vec<u64>> {
    let order = known(options, epoch)?;
    Some(order.epochs.get(epoch as usize)?.concat())
}

/// Returns the number of occurrences of each sample in the first epoch.
fn times(options: &RunOptions) -> Option<BTreeMap<u64, usize>> {
    let mut times = BTreeMap::new();
    for index in indices(options, 0)? {
        *times.entry(index).or_insert(0) += 1;
    }
    Some(times)
}

fn each_rank(options: &RunOptions) -> impl Iterator<Item = RunOptions> + '_ {
    (0..options.world_size).map(|rank| RunOptions {
        rank,
        ..options.clone()
    })
}

fn over_ranks(options: &RunOptions) -> Option<BTreeMap<u64, usize>> {
    let mut all = BTreeMap::new();
    for options in each_rank(options) {
        for (index, count) in times(&options)? {
            *all.entry(index).or_insert(0) += count;
        }
    }
    Some(all)
}

fn slowest(options: &RunOptions) -> Option<Value> {
    let took = |options: &RunOptions| {
        let mut run = Run::default();
        let events = simulate(options, &SyntheticCatalog).ok()?;
        events.iter().for_each(|event| run.apply(event));
        Some(run.end())
    };
    let ranks: Option<Vec<_>> = each_rank(options)
        .map(|o| Some((took(&o)?, o.rank)))
        .collect();
    let slowest = ranks?
        .into_iter()
        .max_by_key(|(took, rank)| (*took, u32::MAX - rank))?;
    Some(Value::Number(f64::from(slowest.1)))
}

fn weighted(count: usize, weights: &[f64], seed: u64) -> Option<Value> {
    let count = i64::try_from(count).ok()?;
    let source = RandomSource::Generator(shared_generator(seed));
    let sampler = WeightedRandomSampler::new(weights.to_vec(), count, true, source).ok()?;
    let all: Result<Vec<usize>, _> = sampler.iter().collect();
    Some(Value::List(
        all.ok()?.into_iter().map(Value::count).collect(),
    ))
}

fn balanced(class: usize, batch_size: i64, sizes: &[usize]) -> Option<Value> {
    let labels = sizes.iter().enumerate();
    let labels = labels.flat_map(|(class, size)| std::iter::repeat_n([class], *size));
    let classes = DistributedEquiBatchSampler::classes_of(labels);
    let wanted = classes.get(class)?.clone();
    let sampler = DistributedEquiBatchSampler::new(classes, batch_size, 1, 0).ok()?;
    let batch = sampler.iter().next()?.ok()?;
    Some(Value::count(
        batch
            .iter()
            .flatten()
            .filter(|i| wanted.contains(i))
            .count(),
    ))
}
