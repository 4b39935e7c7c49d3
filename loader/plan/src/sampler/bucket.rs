//! `LengthBucketBatchSampler`: batches of samples with similar lengths.

use std::sync::Arc;

use loadscope_words::say;

use super::arguments::positive_int_argument;
use super::deferred::{deferred_batches, shuffled};
use super::distributed::{Rank, Seed};
use super::{BatchIter, BatchSource, Draws};
use crate::error::LoaderError;
use crate::rng::Generator;

/// Batches of samples with similar lengths, which need little padding. PyTorch has no such sampler.
///
/// Each epoch shuffles the samples and splits them into megabatches of [`STRETCH`](Self::STRETCH) batches, as Hugging Face's
/// `LengthGroupedSampler` does. Each megabatch is sorted by length and split into batches. The batches are shuffled. An incomplete batch
/// comes last, or is dropped with `drop_last`. The order is drawn from a separate generator with seed `seed + epoch`, which is the same for
/// all ranks. Every rank yields each `num_replicas`-th sample of every batch.
#[derive(Debug)]
pub struct LengthBucketBatchSampler {
    lengths: Arc<[u64]>,
    batch_size: usize,
    drop_last: bool,
    rank: Rank,
    seed: Seed,
}

impl LengthBucketBatchSampler {
    /// Batches per megabatch. More batches make lengths more similar, fewer make epochs differ more.
    pub const STRETCH: usize = 50;

    /// Creates batches of `batch_size` samples for all ranks together. `lengths` has the length of each sample.
    ///
    /// # Errors
    /// ValueError if `rank` is not in `0..num_replicas`, or if `batch_size` is not positive or leaves a rank without samples.
    pub fn new(
        lengths: impl Into<Arc<[u64]>>,
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
        Ok(Self {
            lengths: lengths.into(),
            batch_size,
            drop_last,
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

/// Returns the batches of an epoch.
fn cut(
    lengths: &[u64],
    size: usize,
    drop_last: bool,
    generator: &mut Generator,
) -> Result<Vec<Vec<usize>>, LoaderError> {
    let order: Vec<usize> = generator.randperm(lengths.len())?.iter().collect();
    let full = lengths.len() - lengths.len() % size;
    let (full, rest) = order.split_at_checked(full).unwrap_or((&order, &[]));
    let mut batches: Vec<Vec<usize>> = Vec::with_capacity(lengths.len() / size + 1);
    for stretch in full.chunks(size.saturating_mul(LengthBucketBatchSampler::STRETCH)) {
        let mut stretch = stretch.to_vec();
        stretch.sort_by_key(|sample| lengths.get(*sample));
        batches.extend(stretch.chunks(size).map(<[usize]>::to_vec));
    }
    batches = shuffled(&batches, generator)?;
    if !rest.is_empty() && !drop_last {
        batches.push(rest.to_vec());
    }
    Ok(batches)
}

impl BatchSource for LengthBucketBatchSampler {
    fn len(&self) -> usize {
        if self.drop_last {
            self.lengths.len() / self.batch_size
        } else {
            self.lengths.len().div_ceil(self.batch_size)
        }
    }

    fn iter(&self) -> BatchIter {
        let (seed, size, drop_last, rank) =
            (self.seed.now(), self.batch_size, self.drop_last, self.rank);
        let lengths = Arc::clone(&self.lengths);
        deferred_batches(rank, move || {
            cut(&lengths, size, drop_last, &mut Generator::new(seed))
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

    fn make(lengths: &[u64], size: i64, drop_last: bool) -> LengthBucketBatchSampler {
        LengthBucketBatchSampler::new(lengths, size, drop_last, 1, 0).unwrap()
    }

    fn epoch(sampler: &LengthBucketBatchSampler) -> Vec<Vec<usize>> {
        sampler.iter().map(Result::unwrap).collect()
    }

    /// Returns the amount of padding if each batch is as long as its longest sample.
    fn padding(batches: &[Vec<usize>], lengths: &[u64]) -> u64 {
        let of = |batch: &Vec<usize>| {
            let longest = batch.iter().map(|&i| lengths[i]).max().unwrap_or(0);
            batch.iter().map(|&i| longest - lengths[i]).sum::<u64>()
        };
        batches.iter().map(of).sum()
    }

    proptest! {
        #[test]
        fn batches_contain_each_sample_once(lengths in prop::collection::vec(0u64..1000, 0..300), size in 1i64..20, seed: u64, drop_last: bool) {
            let sampler = make(&lengths, size, drop_last).seed(seed);
            let batches = epoch(&sampler);
            prop_assert_eq!(batches.len(), BatchSource::len(&sampler));
            let mut all: Vec<usize> = batches.concat();
            all.sort_unstable();
            let count = all.len();
            all.dedup();
            prop_assert_eq!(all.len(), count, "a sample twice");
            let left = lengths.len() % size as usize;
            prop_assert_eq!(count, if drop_last { lengths.len() - left } else { lengths.len() });
            let short = batches.as_slice().iter().position(|batch| batch.len() < size as usize);
            prop_assert!(short.is_none_or(|at| at + 1 == batches.len() && !drop_last));
        }

        #[test]
        fn lengths_in_a_batch_are_similar(lengths in prop::collection::vec(0u64..10_000, 300..600), seed: u64) {
            let size = 4;
            let batches = epoch(&make(&lengths, size, true).seed(seed));
            // Batches of one megabatch do not overlap: no sample's length is within the range of another batch.
            let stretch = batches.len().min(LengthBucketBatchSampler::STRETCH);
            if batches.len() == stretch {
                let mut ranges: Vec<(u64, u64)> = batches
                    .as_slice()
                    .iter()
                    .map(|b| (b.iter().map(|&i| lengths[i]).min().unwrap(), b.iter().map(|&i| lengths[i]).max().unwrap()))
                    .collect();
                ranges.sort_unstable();
                prop_assert!(ranges.windows(2).all(|pair| pair[0].1 <= pair[1].0));
            }
            let order: Vec<usize> = Generator::new(seed).randperm(lengths.len()).unwrap().iter().collect();
            let shuffled: Vec<Vec<usize>> = order.chunks(size as usize).map(<[usize]>::to_vec).collect();
            prop_assert!(padding(&batches, &lengths) * 4 < padding(&shuffled, &lengths));
        }

        #[test]
        fn ranks_share_each_batch_and_epochs_differ(seed: u64, world in 1i64..4) {
            let lengths: Vec<u64> = (0..300).map(|i| i * 37 % 101).collect();
            let whole = make(&lengths, 8, false).seed(seed);
            let first = epoch(&whole);
            for rank in 0..world {
                let mine = LengthBucketBatchSampler::new(lengths.as_slice(), 8, false, world, rank).unwrap().seed(seed);
                let expected: Vec<Vec<usize>> = first
                    .as_slice()
                    .iter()
                    .map(|batch| batch.iter().copied().skip(rank as usize).step_by(world as usize).collect())
                    .collect();
                prop_assert_eq!(epoch(&mine), expected);
            }
            whole.set_epoch(1);
            prop_assert_ne!(&epoch(&whole), &first);
            whole.set_epoch(0);
            prop_assert_eq!(&epoch(&whole), &first);
        }
    }
}
