//! `torch.utils.data.BatchSampler`.

use std::fmt;
use std::sync::Arc;

use super::{Draws, Epoch, PyArg, Sampler, boolean_argument, positive_int_argument};
use crate::error::{ExceptionKind, LoaderError};
use crate::rng::SharedGenerator;

/// Batches of one epoch. The iterator ends after an error.
pub type BatchIter = Box<dyn Iterator<Item = Result<Vec<usize>, LoaderError>> + Send>;

/// Value that a loader accepts as `batch_sampler`: it creates lists of indices for each epoch.
pub trait BatchSource: Send + Sync {
    /// Returns `len(batch_sampler)`, the batches per epoch.
    fn len(&self) -> usize;

    /// Returns true if an epoch has no batches.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns `iter(batch_sampler)`, the batches of an epoch.
    fn iter(&self) -> BatchIter;

    /// Returns the number of 32-bit words that a complete epoch draws. Returns `None` if the number is unknown.
    fn draws(&self) -> Option<Draws> {
        None
    }

    /// `batch_sampler.sampler.set_epoch(epoch)`: sets the next epoch.
    fn set_epoch(&self, _epoch: u64) {}

    /// Returns the generators that an epoch draws from, so that their state can be saved.
    fn generators(&self) -> Vec<SharedGenerator> {
        Vec::new()
    }
}

/// PyTorch also accepts a list of lists as a batch sampler.
impl BatchSource for Vec<Vec<usize>> {
    fn len(&self) -> usize {
        self.as_slice().len()
    }

    fn iter(&self) -> BatchIter {
        Box::new(self.clone().into_iter().map(Ok))
    }

    fn draws(&self) -> Option<Draws> {
        Some(Draws::NONE)
    }
}

/// Batch sampler that groups the indices of a sampler.
#[derive(Clone)]
pub struct BatchSampler {
    sampler: Arc<dyn Sampler>,
    batch_size: usize,
    drop_last: bool,
}

impl fmt::Debug for BatchSampler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchSampler")
            .field("batch_size", &self.batch_size)
            .field("drop_last", &self.drop_last)
            .finish_non_exhaustive()
    }
}

impl BatchSampler {
    /// Creates batches of `batch_size` indices. With `drop_last` an incomplete last batch is dropped.
    ///
    /// # Errors
    /// ValueError if `batch_size` is not positive.
    pub fn new(
        sampler: Arc<dyn Sampler>,
        batch_size: i64,
        drop_last: bool,
    ) -> Result<Self, LoaderError> {
        Self::from_args(sampler, &batch_size.into(), &drop_last.into())
    }

    /// Creates batches from arguments of any Python type.
    ///
    /// # Errors
    /// ValueError if `batch_size` is not a positive int, or if `drop_last` is not a bool, checked in this order.
    pub fn from_args(
        sampler: Arc<dyn Sampler>,
        batch_size: &PyArg,
        drop_last: &PyArg,
    ) -> Result<Self, LoaderError> {
        let kind = ExceptionKind::VALUE_ERROR;
        Ok(Self {
            sampler,
            batch_size: positive_int_argument("batch_size", batch_size, false)?,
            drop_last: boolean_argument("drop_last", drop_last, kind)?,
        })
    }

    /// Returns the sampler whose indices are grouped.
    pub fn sampler(&self) -> &Arc<dyn Sampler> {
        &self.sampler
    }

    /// Returns the number of indices in a full batch.
    pub fn batch_size(&self) -> usize {
        self.batch_size
    }

    /// Returns true if an incomplete last batch is dropped.
    pub fn drop_last(&self) -> bool {
        self.drop_last
    }
}

impl BatchSource for BatchSampler {
    fn len(&self) -> usize {
        if self.drop_last {
            self.sampler.len() / self.batch_size
        } else {
            self.sampler.len().div_ceil(self.batch_size)
        }
    }

    fn iter(&self) -> BatchIter {
        Box::new(Batches {
            of: self.clone(),
            indices: None,
            done: false,
        })
    }

    fn draws(&self) -> Option<Draws> {
        self.sampler.draws()
    }

    fn set_epoch(&self, epoch: u64) {
        self.sampler.set_epoch(epoch);
    }

    fn generators(&self) -> Vec<SharedGenerator> {
        self.sampler.generators()
    }
}

struct Batches {
    of: BatchSampler,
    /// Created at the first pull, because PyTorch's `__iter__` is a generator function.
    indices: Option<Box<dyn Epoch>>,
    done: bool,
}

impl Iterator for Batches {
    type Item = Result<Vec<usize>, LoaderError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let size = self.of.batch_size;
        let indices = self.indices.get_or_insert_with(|| self.of.sampler.epoch());
        // The batch size may exceed the number of samples, so it must not determine the allocation.
        let mut batch = Vec::with_capacity(size.min(4096));
        match indices.fill(&mut batch, size) {
            Ok(count) if count == size => return Some(Ok(batch)),
            Ok(_) => self.done = true,
            Err(error) => {
                self.done = true;
                return Some(Err(error));
            }
        }
        let keep = !self.of.drop_last && !batch.is_empty();
        keep.then_some(Ok(batch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampler::SequentialSampler;
    use proptest::prelude::*;

    fn batches(n: usize, batch_size: i64, drop_last: bool) -> (usize, Vec<Vec<usize>>) {
        let sampler = Arc::new(SequentialSampler::new(n));
        let sampler = BatchSampler::new(sampler, batch_size, drop_last).unwrap();
        (
            BatchSource::len(&sampler),
            BatchSource::iter(&sampler).map(Result::unwrap).collect(),
        )
    }

    #[test]
    fn the_last_batch_is_short_or_dropped() {
        assert_eq!(batches(5, 2, false).1, [vec![0, 1], vec![2, 3], vec![4]]);
        assert_eq!(batches(5, 2, true).1, [vec![0, 1], vec![2, 3]]);
        assert_eq!(batches(1, i64::MAX, false).1, [vec![0]]);
    }

    #[test]
    fn a_batch_size_below_one_is_refused() {
        for size in [0, -3] {
            let error = BatchSampler::new(Arc::new(SequentialSampler::new(3)), size, false);
            assert_eq!(
                error.unwrap_err().to_string(),
                format!(
                    "ValueError: batch_size should be a positive integer value, but got batch_size={size}"
                )
            );
        }
    }

    #[test]
    fn a_list_of_lists_is_a_batch_sampler() {
        let list = vec![vec![0, 5], vec![3]];
        let source: &dyn BatchSource = &list;
        assert_eq!(source.len(), 2);
        assert_eq!(source.iter().count(), 2);
        assert_eq!(source.iter().count(), 2, "every epoch anew");
    }

    proptest! {
        #[test]
        fn batches_contain_the_indices_in_order(n in 0usize..200, size in 1i64..40, drop_last: bool) {
            let (len, batches) = batches(n, size, drop_last);
            prop_assert_eq!(len, batches.len());
            let kept = if drop_last { n - n % size as usize } else { n };
            prop_assert!(batches.concat().into_iter().eq(0..kept));
        }
    }
}
