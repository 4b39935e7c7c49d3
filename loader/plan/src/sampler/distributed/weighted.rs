//! Weighted draws across ranks. PyTorch has no such sampler.

use std::sync::Arc;

use super::{Rank, Seed};
use crate::error::LoaderError;
use crate::rng::Generator;
use crate::sampler::epoch::{BlockEpoch, Blocks, single_block_epoch};
use crate::sampler::weighted::num_samples_argument;
use crate::sampler::{Draws, Epoch, IndexIter, Sampler};

/// [`WeightedRandomSampler`](crate::sampler::WeightedRandomSampler) for several ranks. PyTorch has no such sampler.
///
/// All ranks draw the same list of `num_samples` indices from a separate generator with seed `seed + epoch`. Each rank
/// yields every `num_replicas`-th index, as in [`DistributedSampler`](super::DistributedSampler). Together, the ranks
/// yield the draws of a single process. Without replacement an index is only repeated to give all ranks equally
/// many.
#[derive(Debug)]
pub struct DistributedWeightedSampler {
    weights: Arc<[f64]>,
    num_samples: usize,
    replacement: bool,
    rank: Rank,
    seed: Seed,
    drop_last: bool,
}

impl DistributedWeightedSampler {
    /// Creates the share of `rank` in `num_samples` draws of all ranks together. The defaults are seed 0, and repeated
    /// indices if the draws do not divide evenly.
    ///
    /// # Errors
    /// ValueError if `num_samples` is not positive or `rank` is not in `0..num_replicas`.
    pub fn new(
        weights: impl Into<Arc<[f64]>>,
        num_samples: i64,
        replacement: bool,
        num_replicas: i64,
        rank: i64,
    ) -> Result<Self, LoaderError> {
        Ok(Self {
            num_samples: num_samples_argument(&num_samples.into())?,
            rank: Rank::new(num_replicas, rank)?,
            weights: weights.into(),
            replacement,
            seed: Seed::default(),
            drop_last: false,
        })
    }

    /// Sets the seed, which must be the same for all ranks.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed.seed = seed;
        self
    }

    /// Drops draws instead of repeating some, so that all ranks have equally many.
    #[must_use]
    pub fn drop_last(mut self, drop_last: bool) -> Self {
        self.drop_last = drop_last;
        self
    }

    fn start(&self) -> BlockEpoch<impl Blocks + use<>> {
        let (seed, rank, drop_last) = (self.seed.now(), self.rank, self.drop_last);
        let (count, replacement) = (self.num_samples, self.replacement);
        let (mine, weights) = (self.len(), Arc::clone(&self.weights));
        single_block_epoch(move || {
            let drawn = Generator::new(seed).multinomial(&weights, count, replacement)?;
            rank.share_of(drawn, mine, drop_last)
        })
    }
}

impl Sampler for DistributedWeightedSampler {
    /// Returns the number of indices of this rank in an epoch.
    fn len(&self) -> usize {
        self.rank.num_samples(self.num_samples, self.drop_last)
    }

    fn iter(&self) -> IndexIter {
        Box::new(self.start())
    }

    fn epoch(&self) -> Box<dyn Epoch> {
        Box::new(self.start())
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
    use crate::rng::shared_generator;
    use crate::sampler::{RandomSource, WeightedRandomSampler};
    use proptest::prelude::*;

    fn items(sampler: &dyn Sampler) -> Vec<usize> {
        sampler.iter().map(Result::unwrap).collect()
    }

    proptest! {
        #[test]
        fn shares_of_the_ranks_equal_the_draws_of_one_process(
            weights in prop::collection::vec(0.1..2.0, 20..60),
            count in 1i64..20,
            replacement: bool,
            drop_last: bool,
            world in 1i64..6,
            seed: u64,
            epoch in 0u64..3,
        ) {
            let source = RandomSource::Generator(shared_generator(seed.wrapping_add(epoch)));
            let alone = WeightedRandomSampler::new(weights.clone(), count, replacement, source).unwrap();
            let alone = items(&alone);
            for rank in 0..world {
                let sampler = DistributedWeightedSampler::new(weights.clone(), count, replacement, world, rank);
                let sampler = sampler.unwrap().seed(seed).drop_last(drop_last);
                sampler.set_epoch(epoch);
                let mine = items(&sampler);
                prop_assert_eq!(mine.len(), sampler.len());
                for (i, &index) in mine.as_slice().iter().enumerate() {
                    let position = rank as usize + i * world as usize;
                    prop_assert_eq!(index, alone[position % alone.len()]);
                }
            }
        }
    }
}
