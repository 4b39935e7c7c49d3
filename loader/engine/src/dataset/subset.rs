//! Selection of samples of a dataset.

use std::sync::Arc;

use super::{Dataset, SampleClock, SampleError, wrap};

/// PyTorch's `Subset`: selected samples of a dataset, in a given order.
pub struct Subset<D: ?Sized> {
    dataset: Arc<D>,
    indices: Arc<[i64]>,
}

impl<D: ?Sized> Clone for Subset<D> {
    fn clone(&self) -> Self {
        Self {
            dataset: Arc::clone(&self.dataset),
            indices: Arc::clone(&self.indices),
        }
    }
}

impl<D: Dataset + ?Sized> Subset<D> {
    /// Selects the samples of `dataset` at `indices`.
    ///
    /// As in PyTorch, indices are checked only when they are used. Negative ones count from the end of `dataset`.
    pub fn new(dataset: Arc<D>, indices: impl Into<Arc<[i64]>>) -> Self {
        Self {
            dataset,
            indices: indices.into(),
        }
    }

    /// Returns the indices of the samples in the whole dataset.
    pub fn indices(&self) -> &[i64] {
        &self.indices
    }

    /// Returns the whole dataset.
    pub fn dataset(&self) -> &Arc<D> {
        &self.dataset
    }

    fn inner(&self, index: usize) -> Result<i64, SampleError> {
        let index = self.indices.get(index).copied();
        index.ok_or_else(|| SampleError::new("IndexError", "list index out of range"))
    }
}

impl<D: Dataset + ?Sized> Dataset for Subset<D> {
    type Sample = D::Sample;

    fn len(&self) -> usize {
        self.indices.len()
    }

    fn get(&self, index: usize, clock: &mut SampleClock) -> Result<D::Sample, SampleError> {
        self.dataset.get_at(self.inner(index)?, clock)
    }

    fn get_at(&self, index: i64, clock: &mut SampleClock) -> Result<D::Sample, SampleError> {
        // An index before the beginning is an IndexError, like one after the end.
        self.get(wrap(index, self.len()).unwrap_or(usize::MAX), clock)
    }

    /// Fetches all samples at once, if the dataset supports it.
    fn get_batch(
        &self,
        indices: &[usize],
        clock: &mut SampleClock,
    ) -> Option<Result<Vec<D::Sample>, SampleError>> {
        if !self.dataset.has_get_batch() {
            return None;
        }
        let len = self.dataset.len();
        let inner = |&index: &usize| {
            let inner = self.inner(index)?;
            // An index that does not exist gets the dataset's own error.
            Ok(wrap(inner, len).unwrap_or(usize::MAX))
        };
        match indices.iter().map(inner).collect::<Result<Vec<_>, _>>() {
            Ok(indices) => self.dataset.get_batch(&indices, clock),
            Err(error) => Some(Err(error)),
        }
    }

    fn classes(&self) -> &[String] {
        self.dataset.classes()
    }

    fn notes(&self) -> &[String] {
        self.dataset.notes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::ListDataset;
    use proptest::prelude::*;

    fn list(n: usize) -> Arc<ListDataset<usize>> {
        Arc::new((0..n).collect())
    }

    proptest! {
        #[test]
        fn nested_subsets_agree_with_composed_indices(
            a in prop::collection::vec(-10i64..10, 1..12),
            b in prop::collection::vec(any::<prop::sample::Index>(), 1..12),
        ) {
            let b: Vec<i64> = b.iter().map(|i| i.index(a.len()) as i64).collect();
            let outer = Subset::new(Arc::new(Subset::new(list(10), a.clone())), b.clone());
            let mut clock = SampleClock::off();
            let all: Vec<usize> = (0..b.len()).collect();
            let batch = outer.get_batch(&all, &mut clock).unwrap().unwrap();
            for (i, sample) in batch.into_iter().enumerate() {
                prop_assert_eq!(sample as i64, a[b[i] as usize].rem_euclid(10));
                prop_assert_eq!(outer.get(i, &mut clock), Ok(sample));
                prop_assert_eq!(outer.get_at(i as i64 - b.len() as i64, &mut clock), Ok(sample));
            }
            prop_assert!(outer.get(b.len(), &mut clock).is_err());
            prop_assert!(outer.get_at(-1 - b.len() as i64, &mut clock).is_err());
        }
    }
}
