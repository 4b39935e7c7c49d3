//! Samplers for several processes. Every rank draws the same list and yields its share.

mod share;
mod weighted;

pub(crate) use share::Rank;
pub(super) use share::Seed;
pub use weighted::DistributedWeightedSampler;

use super::epoch::{BlockEpoch, Blocks, single_block_epoch};
use super::{DataLen, Draws, Epoch, IndexIter, Sampler};
use crate::error::LoaderError;
use crate::rng::Generator;

/// `torch.utils.data.distributed.DistributedSampler`: the part of a dataset for one of several ranks.
///
/// All ranks draw the same order from a separate generator with seed `seed + epoch`. No shared generator is
/// used. Without [`set_epoch`](Sampler::set_epoch) the order is the same in every epoch.
#[derive(Debug)]
pub struct DistributedSampler {
    len: DataLen,
    /// Length at the creation of the sampler. It determines `num_samples` permanently.
    planned: usize,
    rank: Rank,
    shuffle: bool,
    seed: Seed,
    drop_last: bool,
}

impl DistributedSampler {
    /// Creates the sampler of `rank`, one of `num_replicas` ranks. As in PyTorch, the defaults are a shuffled order with seed 0,
    /// padded to a multiple of the ranks.
    ///
    /// # Errors
    /// ValueError if `rank` is not in `0..num_replicas`.
    pub fn new(len: impl Into<DataLen>, num_replicas: i64, rank: i64) -> Result<Self, LoaderError> {
        let rank = Rank::new(num_replicas, rank)?;
        let len = len.into();
        Ok(Self {
            planned: len.get(),
            len,
            rank,
            shuffle: true,
            seed: Seed::default(),
            drop_last: false,
        })
    }

    /// `shuffle=`: true for a random order.
    #[must_use]
    pub fn shuffle(mut self, shuffle: bool) -> Self {
        self.shuffle = shuffle;
        self
    }

    /// `seed=`: must be the same for all ranks.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed.seed = seed;
        self
    }

    /// `drop_last=`: drops indices instead of repeating some, so that all ranks have equally many.
    #[must_use]
    pub fn drop_last(mut self, drop_last: bool) -> Self {
        self.drop_last = drop_last;
        self
    }

    /// Returns `sampler.num_samples`: indices per epoch of each rank.
    pub fn num_samples(&self) -> usize {
        self.rank.num_samples(self.planned, self.drop_last)
    }

    /// Returns `sampler.total_size`: indices per epoch of all ranks.
    pub fn total_size(&self) -> usize {
        self.num_samples().saturating_mul(self.rank.num_replicas)
    }

    fn start(&self) -> BlockEpoch<impl Blocks + use<>> {
        // PyTorch creates the whole list here. Only the epoch and the length must be read now.
        let (n, seed) = (self.len.get(), self.seed.now());
        let (rank, num_samples, drop_last) = (self.rank, self.num_samples(), self.drop_last);
        let shuffle = self.shuffle;
        single_block_epoch(move || {
            if !shuffle {
                return rank.share_of_range(n, num_samples, drop_last);
            }
            let order = Generator::new(seed).randperm(n)?;
            rank.share_of(order, num_samples, drop_last)
        })
    }
}

impl Sampler for DistributedSampler {
    fn len(&self) -> usize {
        self.num_samples()
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
    use proptest::prelude::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn items(sampler: &dyn Sampler) -> Vec<usize> {
        sampler.iter().map(Result::unwrap).collect()
    }

    #[test]
    fn the_share_of_a_rank_is_fixed_at_construction() {
        let len = Arc::new(AtomicUsize::new(10));
        let source = Arc::clone(&len);
        let source = DataLen::from_fn(move || source.load(Ordering::Relaxed));
        let sampler = DistributedSampler::new(source, 2, 0).unwrap();
        let error = |now| {
            len.store(now, Ordering::Relaxed);
            let outcome: Result<Vec<usize>, LoaderError> = sampler.iter().collect();
            outcome.map_err(|error| error.to_string())
        };
        assert_eq!(error(4).unwrap().len(), 5);
        assert_eq!(
            error(12).unwrap_err(),
            "AssertionError: Number of indices (22) does not match total_size (10)"
        );
        assert_eq!(error(0).unwrap_err(), "ZeroDivisionError: division by zero");
    }

    #[test]
    fn an_epoch_is_fixed_when_it_begins() {
        let sampler = DistributedSampler::new(100, 3, 1).unwrap();
        let first = items(&sampler);
        let epoch = sampler.iter();
        sampler.set_epoch(1);
        assert_eq!(epoch.map(Result::unwrap).collect::<Vec<_>>(), first);
        assert_ne!(items(&sampler), first);
    }

    proptest! {
        #[test]
        fn ranks_share_all_samples(n in 0usize..200, world in 1i64..20, shuffle: bool, drop_last: bool, seed: u64) {
            let mut all = Vec::new();
            for rank in 0..world {
                let sampler = DistributedSampler::new(n, world, rank).unwrap();
                let sampler = sampler.shuffle(shuffle).seed(seed).drop_last(drop_last);
                sampler.set_epoch(3);
                let mine = items(&sampler);
                prop_assert_eq!(mine.len(), sampler.len());
                prop_assert_eq!(sampler.total_size(), sampler.len() * world as usize);
                all.extend(mine);
            }
            all.sort_unstable();
            all.dedup();
            let lost = if drop_last { n % world as usize } else { 0 };
            prop_assert_eq!(all.len(), n - lost);
        }
    }
}
