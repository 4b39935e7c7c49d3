//! `DistributedEquiBatchSampler`: batches with equally many samples of each class.

use std::collections::BTreeMap;
use std::sync::Arc;

use loadscope_words::say;

use super::arguments::positive_int_argument;
use super::distributed::{Rank, Seed};
use super::{BatchIter, BatchSource, Draws};
use crate::error::LoaderError;
use crate::rng::Generator;

/// Batches for multi-label data and several ranks. Every class occurs equally often, regardless of its size. PyTorch has
/// no such sampler.
///
/// Each epoch shuffles the samples of each class, and truncates or repeats them at random to `balanced_coef` samples.
/// The batches cycle through the classes, so any run of as many samples as classes has one sample of each. Every rank yields each
/// `num_replicas`-th sample of every batch. Samples that do not fill a batch are dropped. All ranks have the same draws, from separate
/// generators with seed `seed + epoch`.
#[derive(Debug)]
pub struct DistributedEquiBatchSampler {
    /// Samples of each class.
    classes: Arc<[Vec<usize>]>,
    batch_size: usize,
    rank: Rank,
    balanced_coef: usize,
    seed: Seed,
}

impl DistributedEquiBatchSampler {
    /// Default number of samples per class and epoch.
    pub const BALANCED_COEF: usize = 3000;

    /// Creates batches of `batch_size` samples for all ranks together. `classes` contains the indices of each class's samples. A
    /// sample may belong to several classes.
    ///
    /// # Errors
    /// ValueError if `rank` is not in `0..num_replicas`, or if `batch_size` is not positive or leaves a rank without samples. ValueError if
    /// `classes` is empty or contains an empty class.
    pub fn new(
        classes: Vec<Vec<usize>>,
        batch_size: i64,
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
        if classes.is_empty() {
            return Err(LoaderError::value_error(say!(
                "there should be at least one class, but got none"
            )));
        }
        if let Some(class) = classes.as_slice().iter().position(Vec::is_empty) {
            return Err(LoaderError::value_error(say!(
                "every class should have at least one sample, but class {class} has none"
            )));
        }
        Ok(Self {
            classes: classes.into(),
            batch_size,
            rank,
            balanced_coef: Self::BALANCED_COEF,
            seed: Seed::default(),
        })
    }

    /// Returns the samples of each class, in the order of the labels, from the labels of each sample.
    pub fn classes_of<L: Ord, S: IntoIterator<Item = L>>(
        labels: impl IntoIterator<Item = S>,
    ) -> Vec<Vec<usize>> {
        let mut classes: BTreeMap<L, Vec<usize>> = BTreeMap::new();
        for (sample, labels) in labels.into_iter().enumerate() {
            for label in labels {
                classes.entry(label).or_default().push(sample);
            }
        }
        classes.into_values().collect()
    }

    /// Sets the number of samples per class and epoch (default 3000).
    #[must_use]
    pub fn balanced_coef(mut self, balanced_coef: usize) -> Self {
        self.balanced_coef = balanced_coef;
        self
    }

    /// Sets the seed, which must be the same for all ranks (default 0).
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed.seed = seed;
        self
    }
}

impl BatchSource for DistributedEquiBatchSampler {
    fn len(&self) -> usize {
        self.balanced_coef.saturating_mul(self.classes.len()) / self.batch_size
    }

    fn iter(&self) -> BatchIter {
        let (seed, coef) = (self.seed.now(), self.balanced_coef);
        let (batches, batch_size, rank) = (self.len(), self.batch_size, self.rank);
        let classes = Arc::clone(&self.classes);
        let mut lists: Option<Vec<Vec<usize>>> = None;
        let mut next = 0;
        Box::new(std::iter::from_fn(move || {
            if next >= batches {
                return None;
            }
            let drawn = match &lists {
                Some(drawn) => drawn,
                None => match balance(&classes, coef, &mut Generator::new(seed)) {
                    Ok(drawn) => lists.insert(drawn),
                    Err(error) => {
                        next = batches;
                        return Some(Err(error));
                    }
                },
            };
            let batch = next * batch_size..(next + 1) * batch_size;
            next += 1;
            let mine = batch.skip(rank.rank).step_by(rank.num_replicas);
            let sample = |position: usize| {
                let class = drawn.get(position % drawn.len())?;
                class.get(position / drawn.len()).copied()
            };
            Some(Ok(mine.filter_map(sample).collect()))
        }))
    }

    fn draws(&self) -> Option<Draws> {
        Some(Draws::NONE)
    }

    fn set_epoch(&self, epoch: u64) {
        self.seed.set_epoch(epoch);
    }
}

/// Shuffles each class and adjusts its length to `coef`.
fn balance(
    classes: &[Vec<usize>],
    coef: usize,
    generator: &mut Generator,
) -> Result<Vec<Vec<usize>>, LoaderError> {
    let balanced = |class: &Vec<usize>| {
        let element = |position: usize| class.get(position).copied();
        let order = generator.randperm(class.len())?;
        let mut list: Vec<usize> = order.iter().take(coef).filter_map(element).collect();
        let missing = coef - list.len();
        if missing > 0 {
            let high = i64::try_from(class.len()).unwrap_or(i64::MAX);
            let repeats = generator.randint(0, high, missing)?;
            list.extend(repeats.into_iter().filter_map(|i| element(i as usize)));
        }
        Ok(list)
    };
    classes.iter().map(balanced).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn epoch(sampler: &DistributedEquiBatchSampler) -> Vec<Vec<usize>> {
        sampler.iter().map(Result::unwrap).collect()
    }

    #[test]
    fn labels_are_grouped_into_sorted_classes() {
        let labels = [vec!["dog", "cat"], vec![], vec!["dog"], vec!["ant"]];
        let classes = DistributedEquiBatchSampler::classes_of(labels);
        assert_eq!(classes, [vec![3], vec![0], vec![0, 2]]);
    }

    #[test]
    fn classes_that_cannot_be_balanced_are_refused() {
        let make = |classes: &[usize], batch_size, world| {
            let classes = classes.iter().map(|&n| (0..n).collect()).collect();
            let made = DistributedEquiBatchSampler::new(classes, batch_size, world, 0);
            made.err().map(|error| error.to_string())
        };
        assert_eq!(make(&[1, 2], 2, 2), None);
        assert!(make(&[1, 0], 2, 2).unwrap().contains("class 1 has none"));
        assert!(make(&[], 2, 2).unwrap().contains("at least one class"));
        assert!(make(&[1], 2, 3).unwrap().contains("num_replicas=3"));
        assert!(make(&[1], 0, 1).unwrap().contains("got batch_size=0"));
    }

    proptest! {
        #[test]
        fn each_class_appears_in_turn(
            sizes in prop::collection::vec(1usize..40, 1..8),
            coef in 0usize..50,
            batch_size in 1i64..30,
            world in 1i64..5,
            seed: u64,
        ) {
            prop_assume!(batch_size >= world);
            // Sample numbers divided by 1000 are the class.
            let classes: Vec<Vec<usize>> =
                sizes.iter().enumerate().map(|(c, &n)| (0..n).map(|i| 1000 * c + i).collect()).collect();
            let make = |world, rank| {
                DistributedEquiBatchSampler::new(classes.clone(), batch_size, world, rank)
                    .unwrap()
                    .balanced_coef(coef)
                    .seed(seed)
            };
            let whole = make(1, 0);
            let batches = epoch(&whole);
            prop_assert_eq!(batches.len(), BatchSource::len(&whole));
            prop_assert!(batches.as_slice().iter().all(|batch| batch.len() == batch_size as usize));
            let all = batches.concat();
            prop_assert!(all.iter().enumerate().all(|(i, sample)| sample / 1000 == i % sizes.len()));
            for (c, &size) in sizes.iter().enumerate() {
                let mine: Vec<_> = all.iter().filter(|&&sample| sample / 1000 == c).collect();
                let distinct: HashSet<_> = mine.iter().take(size).collect();
                prop_assert_eq!(distinct.len(), mine.len().min(size), "repeats come last");
            }
            for rank in 0..world {
                let share = epoch(&make(world, rank));
                for (batch, mine) in batches.as_slice().iter().zip(share) {
                    let expected: Vec<_> = batch.iter().copied().skip(rank as usize).step_by(world as usize).collect();
                    prop_assert_eq!(mine, expected);
                }
            }
        }

        #[test]
        fn each_epoch_has_its_own_repeatable_order(seed: u64) {
            let sampler = DistributedEquiBatchSampler::new(vec![(0..100).collect()], 10, 2, 1).unwrap().seed(seed);
            let first = epoch(&sampler);
            prop_assert_eq!(&epoch(&sampler), &first);
            sampler.set_epoch(1);
            prop_assert_ne!(&epoch(&sampler), &first);
            sampler.set_epoch(0);
            prop_assert_eq!(&epoch(&sampler), &first);
        }
    }
}
