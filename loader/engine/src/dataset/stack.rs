//! Datasets stacked side by side.

use std::sync::Arc;

use super::{Dataset, SampleClock, SampleError};
use crate::error::LoaderError;
use crate::value::{Key, Value};

/// PyTorch's `StackDataset`: sample i is a tuple or a dict of sample i of every member.
pub struct StackDataset<S> {
    members: Vec<Arc<dyn Dataset<Sample = S>>>,
    /// Names of the members. Empty for tuples.
    names: Vec<Key>,
    len: usize,
}

impl<S: Into<Value> + Send + 'static> StackDataset<S> {
    /// `StackDataset(*args, **kwargs)`: `args` make tuples, `kwargs` make dicts.
    ///
    /// # Errors
    /// ValueError if there are no members, both kinds of members, or members of different lengths.
    pub fn new(
        args: Vec<Arc<dyn Dataset<Sample = S>>>,
        kwargs: Vec<(String, Arc<dyn Dataset<Sample = S>>)>,
    ) -> Result<Self, LoaderError> {
        if !args.is_empty() && !kwargs.is_empty() {
            // The error message has no space after `or`, as in PyTorch.
            return Err(LoaderError::value_error(
                "Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like input/output, but both types \
                 are given.",
            ));
        }
        let (names, named): (Vec<Key>, Vec<_>) = kwargs
            .into_iter()
            .map(|(name, member)| (name.into(), member))
            .unzip();
        let members = if named.is_empty() { args } else { named };
        let Some(first) = members.first() else {
            return Err(LoaderError::value_error(
                "At least one dataset should be passed",
            ));
        };
        let len = first.len();
        if members.iter().any(|member| member.len() != len) {
            return Err(LoaderError::value_error("Size mismatch between datasets"));
        }
        Ok(Self {
            members,
            names,
            len,
        })
    }

    /// Combines the members' samples of one index.
    fn stacked(&self, parts: Vec<Value>) -> Value {
        if self.names.is_empty() {
            Value::Tuple(parts)
        } else {
            Value::dict(self.names.iter().cloned().zip(parts))
        }
    }

    /// Returns the samples of one member.
    fn column(
        &self,
        member: &dyn Dataset<Sample = S>,
        indices: &[usize],
        clock: &mut SampleClock,
    ) -> Result<Vec<S>, SampleError> {
        match member.get_batch(indices, clock) {
            Some(samples) => {
                let samples = samples?;
                if samples.len() != indices.len() {
                    return Err(SampleError::new(
                        "ValueError",
                        format!(
                            "Nested dataset's output size mismatch. Expected {}, got {}",
                            indices.len(),
                            samples.len()
                        ),
                    ));
                }
                Ok(samples)
            }
            None => (indices.iter())
                .map(|&index| {
                    clock.begin_sample();
                    member.get(index, clock)
                })
                .collect(),
        }
    }
}

impl<S: Into<Value> + Send + 'static> Dataset for StackDataset<S> {
    type Sample = Value;

    fn len(&self) -> usize {
        self.len
    }

    fn get(&self, index: usize, clock: &mut SampleClock) -> Result<Value, SampleError> {
        let parts = self.members.iter().map(|m| Ok(m.get(index, clock)?.into()));
        Ok(self.stacked(parts.collect::<Result<_, _>>()?))
    }

    /// Passes the index to every member unchanged, as in PyTorch.
    fn get_at(&self, index: i64, clock: &mut SampleClock) -> Result<Value, SampleError> {
        let parts = self.members.iter();
        let parts = parts.map(|m| Ok(m.get_at(index, clock)?.into()));
        Ok(self.stacked(parts.collect::<Result<_, _>>()?))
    }

    /// Fetches member by member, each as a batch if it supports that.
    fn get_batch(
        &self,
        indices: &[usize],
        clock: &mut SampleClock,
    ) -> Option<Result<Vec<Value>, SampleError>> {
        // If no member supports batches, samples are fetched one by one, so that each is timed.
        if !self.members.iter().any(|member| member.has_get_batch()) {
            return None;
        }
        let mut rows: Vec<Vec<Value>> = indices
            .iter()
            .map(|_| Vec::with_capacity(self.members.len()))
            .collect();
        for member in &self.members {
            match self.column(&**member, indices, clock) {
                Ok(samples) => {
                    for (row, sample) in rows.iter_mut().zip(samples) {
                        row.push(sample.into());
                    }
                }
                Err(error) => return Some(Err(error)),
            }
        }
        Some(Ok(rows.into_iter().map(|row| self.stacked(row)).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::ListDataset;

    fn list(range: std::ops::Range<i64>) -> Arc<dyn Dataset<Sample = i64>> {
        Arc::new(range.collect::<ListDataset<i64>>())
    }

    /// A dataset whose batches are too short.
    struct Short;

    impl Dataset for Short {
        type Sample = i64;

        fn len(&self) -> usize {
            3
        }

        fn get(&self, index: usize, _: &mut SampleClock) -> Result<i64, SampleError> {
            Ok(index as i64)
        }

        fn get_batch(
            &self,
            _: &[usize],
            _: &mut SampleClock,
        ) -> Option<Result<Vec<i64>, SampleError>> {
            Some(Ok(vec![]))
        }
    }

    #[test]
    fn stacked_batches_equal_their_samples() {
        let mut clock = SampleClock::off();
        let named = ["a", "b"].map(str::to_owned).into_iter();
        for data in [
            StackDataset::new(vec![list(0..3), list(3..6)], vec![]),
            StackDataset::new(vec![], named.zip([list(0..3), list(3..6)]).collect()),
        ] {
            let data = data.unwrap();
            let batch = data.get_batch(&[2, 0, 2], &mut clock).unwrap().unwrap();
            for (sample, index) in batch.iter().zip([2i64, -3, -1]) {
                assert!(sample.same(&data.get_at(index, &mut clock).unwrap()));
            }
            assert!(data.get(3, &mut clock).is_err());
        }
        let data = StackDataset::new(vec![Arc::new(Short) as _], vec![]).unwrap();
        let error = data.get_batch(&[1, 2], &mut clock).unwrap().unwrap_err();
        assert_eq!(
            error.message,
            "Nested dataset's output size mismatch. Expected 2, got 0"
        );
    }
}
