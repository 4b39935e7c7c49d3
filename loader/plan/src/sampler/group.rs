//! `DistinctGroupBatchSampler`: batches whose samples all have different groups.

use std::sync::Arc;

use loadscope_words::say;

use super::arguments::positive_int_argument;
use super::deferred::{deferred_batches, shuffled};
use super::distributed::{Rank, Seed};
use super::{BatchIter, BatchSource, Draws};
use crate::error::LoaderError;
use crate::rng::Generator;

/// Batches with at most one sample of each group, such as a patient, a speaker or a place. PyTorch has no such sampler.
///
/// Each epoch has every sample once. The number of batches is the minimum for the batch size and the largest group. Their sizes differ
/// by at most one. With `drop_last` all batches are full, and random samples are dropped. The order is drawn from a
/// separate generator with seed `seed + epoch`, which is the same for all ranks. Every rank yields each `num_replicas`-th sample of
/// every batch.
#[derive(Debug)]
pub struct DistinctGroupBatchSampler {
    /// Samples of each group.
    groups: Arc<[Vec<usize>]>,
    batches: usize,
    /// Size of every batch with `drop_last`. `None`: batches may be short.
    full: Option<usize>,
    rank: Rank,
    seed: Seed,
}

impl DistinctGroupBatchSampler {
    /// Creates batches of `batch_size` samples for all ranks together. `groups` has the group of each sample.
    ///
    /// # Errors
    /// ValueError if `rank` is not in `0..num_replicas`, or if `batch_size` is not positive or leaves a rank without samples.
    /// With `drop_last`, also if `batch_size` exceeds the number of groups.
    pub fn new(
        groups: &[u32],
        batch_size: i64,
        drop_last: bool,
        num_replicas: i64,
        rank: i64,
    ) -> Result<Self, LoaderError> {
        let rank = Rank::new(num_replicas, rank)?;
        let batch_size = positive_int_argument("batch_size", &batch_size.into(), false)?;
        if batch_size < rank.num_replicas {
            return Err(LoaderError::value_error(say!(
                "batch_size should be at least num_replicas so that every rank gets a part of each batch, but got \
                 batch_size={batch_size} and num_replicas={num_replicas}"
            )));
        }
        let groups = samples_of(groups);
        let count: usize = groups.as_slice().iter().map(Vec::len).sum();
        let largest = groups
            .as_slice()
            .iter()
            .map(Vec::len)
            .max()
            .unwrap_or_default();
        let batches = if drop_last {
            full_batches(&groups, batch_size)
        } else {
            count.div_ceil(batch_size).max(largest)
        };
        if drop_last && batches == 0 && count > 0 {
            return Err(LoaderError::value_error(say!(
                "there are only {} groups, but drop_last needs {batch_size} for a full batch. Choose a smaller batch_size.",
                groups.len()
            )));
        }
        Ok(Self {
            groups: groups.into(),
            batches,
            full: drop_last.then_some(batch_size),
            rank,
            seed: Seed::default(),
        })
    }

    /// Sets the seed, which must be the same for all ranks (default 0).
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed.seed = seed;
        self
    }
}

/// Returns the samples of each group, in the order of the group numbers.
fn samples_of(groups: &[u32]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by_key(|sample| groups.get(*sample));
    let same = order.chunk_by(|a, b| groups.get(*a) == groups.get(*b));
    same.map(<[usize]>::to_vec).collect()
}

/// Returns the maximum number of full batches. Each batch has at most one sample of a group.
fn full_batches(groups: &[Vec<usize>], batch_size: usize) -> usize {
    let enough = |batches: usize| {
        let usable: usize = groups.iter().map(|group| group.len().min(batches)).sum();
        usable >= batches.saturating_mul(batch_size)
    };
    let count: usize = groups.iter().map(Vec::len).sum();
    // If the samples suffice for some number of batches, they suffice for fewer.
    let (mut yes, mut no) = (0, count / batch_size + 1);
    while no - yes > 1 {
        let middle = yes.midpoint(no);
        if enough(middle) {
            yes = middle;
        } else {
            no = middle;
        }
    }
    yes
}

/// Returns the batches of an epoch. The samples are ordered by group and distributed round robin. Thus no batch has two samples of
/// a group, if the group is not larger than the number of batches.
fn deal(
    groups: &[Vec<usize>],
    batches: usize,
    full: Option<usize>,
    generator: &mut Generator,
) -> Result<Vec<Vec<usize>>, LoaderError> {
    let mut row: Vec<usize> = Vec::new();
    for group in shuffled(groups, generator)? {
        let most = if full.is_some() { batches } else { group.len() };
        row.extend(shuffled(&group, generator)?.into_iter().take(most));
    }
    if let Some(size) = full {
        let keep = batches.saturating_mul(size);
        let order = generator.randperm(row.len())?;
        let mut kept: Vec<usize> = order.iter().take(keep).collect();
        kept.sort_unstable();
        row = kept
            .into_iter()
            .filter_map(|at| row.get(at).copied())
            .collect();
    }
    let dealt: Vec<Vec<usize>> = (0..batches)
        .map(|batch| row.iter().skip(batch).step_by(batches).copied().collect())
        .collect();
    shuffled(&dealt, generator)
}

impl BatchSource for DistinctGroupBatchSampler {
    fn len(&self) -> usize {
        self.batches
    }

    fn iter(&self) -> BatchIter {
        let (seed, batches, full, rank) = (self.seed.now(), self.batches, self.full, self.rank);
        let groups = Arc::clone(&self.groups);
        deferred_batches(rank, move || {
            deal(&groups, batches, full, &mut Generator::new(seed))
        })
    }

    fn draws(&self) -> Option<Draws> {
        Some(Draws::NONE)
    }

    fn set_epoch(&self, epoch: u64) {
        self.seed.set_epoch(epoch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn make(
        groups: &[u32],
        size: i64,
        drop_last: bool,
        world: i64,
        rank: i64,
    ) -> DistinctGroupBatchSampler {
        DistinctGroupBatchSampler::new(groups, size, drop_last, world, rank).unwrap()
    }

    fn epoch(sampler: &DistinctGroupBatchSampler) -> Vec<Vec<usize>> {
        sampler.iter().map(Result::unwrap).collect()
    }

    proptest! {
        #[test]
        fn batches_contain_each_sample_once_and_distinct_groups(
            groups in prop::collection::vec(0u32..12, 0..120), size in 1i64..20, seed: u64, drop_last: bool,
        ) {
            let made = DistinctGroupBatchSampler::new(&groups, size, drop_last, 1, 0);
            let distinct = groups.iter().collect::<HashSet<_>>().len();
            prop_assert_eq!(made.is_err(), drop_last && !groups.is_empty() && distinct < size as usize);
            let Ok(sampler) = made else { return Ok(()) };
            let batches = epoch(&sampler.seed(seed));
            for batch in &batches {
                let of: HashSet<u32> = batch.iter().map(|&sample| groups[sample]).collect();
                prop_assert_eq!(of.len(), batch.len(), "two samples of a group");
            }
            let all: Vec<usize> = batches.concat();
            let once: HashSet<usize> = all.iter().copied().collect();
            prop_assert_eq!(once.len(), all.len(), "a sample twice");
            if drop_last {
                prop_assert!(batches.as_slice().iter().all(|batch| batch.len() == size as usize));
                // One more full batch is impossible.
                let more = batches.len() + 1;
                let mut sizes = std::collections::HashMap::new();
                groups.iter().for_each(|group| *sizes.entry(group).or_insert(0usize) += 1);
                let usable: usize = sizes.values().map(|&n| n.min(more)).sum();
                prop_assert!(usable < more * size as usize);
            } else {
                prop_assert_eq!(all.len(), groups.len());
                let sizes = batches.as_slice().iter().map(Vec::len);
                prop_assert!(sizes.clone().max().unwrap_or(0) <= size as usize);
                prop_assert!(sizes.clone().max().unwrap_or(0) - sizes.min().unwrap_or(0) <= 1);
            }
        }

        #[test]
        fn ranks_share_each_batch(groups in prop::collection::vec(0u32..30, 1..100), seed: u64, world in 1i64..4) {
            let whole = epoch(&make(&groups, 8, false, 1, 0).seed(seed));
            for rank in 0..world {
                let mine = epoch(&make(&groups, 8, false, world, rank).seed(seed));
                let expected: Vec<Vec<usize>> = whole
                    .as_slice()
                    .iter()
                    .map(|batch| batch.iter().copied().skip(rank as usize).step_by(world as usize).collect())
                    .collect();
                prop_assert_eq!(mine, expected);
            }
        }

        #[test]
        fn each_epoch_has_its_own_repeatable_order(seed: u64) {
            let groups: Vec<u32> = (0..200).map(|i| i % 50).collect();
            let sampler = make(&groups, 10, false, 1, 0).seed(seed);
            let first = epoch(&sampler);
            prop_assert_eq!(&epoch(&sampler), &first);
            sampler.set_epoch(1);
            prop_assert_ne!(&epoch(&sampler), &first);
            sampler.set_epoch(0);
            prop_assert_eq!(&epoch(&sampler), &first);
        }
    }
}
