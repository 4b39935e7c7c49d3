//! The simplest datasets: a list, and a shared dataset.

use std::sync::Arc;

use super::{Dataset, SampleClock, SampleError};

/// A list of samples. In Python, any list is a dataset.
#[derive(Clone, Debug)]
pub struct ListDataset<T> {
    samples: Vec<T>,
}

impl<T> From<Vec<T>> for ListDataset<T> {
    fn from(samples: Vec<T>) -> Self {
        Self { samples }
    }
}

impl<T> FromIterator<T> for ListDataset<T> {
    fn from_iter<I: IntoIterator<Item = T>>(samples: I) -> Self {
        Self {
            samples: samples.into_iter().collect(),
        }
    }
}

impl<T: Clone + Send + Sync + 'static> Dataset for ListDataset<T> {
    type Sample = T;

    fn len(&self) -> usize {
        self.samples.len()
    }

    fn get(&self, index: usize, _clock: &mut SampleClock) -> Result<T, SampleError> {
        let sample = self.samples.get(index).cloned();
        sample.ok_or_else(|| SampleError::new("IndexError", "list index out of range"))
    }

    /// Returns several samples.
    ///
    /// Python lists have no `__getitems__`. This dataset has one, because reading the clock per sample would take longer than the samples.
    fn get_batch(
        &self,
        indices: &[usize],
        clock: &mut SampleClock,
    ) -> Option<Result<Vec<T>, SampleError>> {
        let mut samples = Vec::with_capacity(indices.len());
        for &index in indices {
            clock.begin_sample();
            match self.get(index, clock) {
                Ok(sample) => samples.push(sample),
                Err(error) => return Some(Err(error)),
            }
        }
        Some(Ok(samples))
    }
}

/// A shared dataset is also a dataset.
impl<D: Dataset + ?Sized> Dataset for Arc<D> {
    type Sample = D::Sample;

    fn len(&self) -> usize {
        (**self).len()
    }

    fn get(&self, index: usize, clock: &mut SampleClock) -> Result<D::Sample, SampleError> {
        (**self).get(index, clock)
    }

    fn get_at(&self, index: i64, clock: &mut SampleClock) -> Result<D::Sample, SampleError> {
        (**self).get_at(index, clock)
    }

    fn get_batch(
        &self,
        indices: &[usize],
        clock: &mut SampleClock,
    ) -> Option<Result<Vec<D::Sample>, SampleError>> {
        (**self).get_batch(indices, clock)
    }

    fn has_get_batch(&self) -> bool {
        (**self).has_get_batch()
    }

    fn classes(&self) -> &[String] {
        (**self).classes()
    }

    fn labels(&self) -> Option<Vec<u32>> {
        (**self).labels()
    }

    fn groups(&self, column: &str) -> Option<Result<Vec<u32>, SampleError>> {
        (**self).groups(column)
    }

    fn lengths(&self) -> Option<Vec<u64>> {
        (**self).lengths()
    }

    fn notes(&self) -> &[String] {
        (**self).notes()
    }
}
