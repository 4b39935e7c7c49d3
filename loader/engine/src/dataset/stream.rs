//! A stream with a given cost per sample, which shows whether workers share a stream correctly.

use super::{
    Dataset, IterableDataset, SampleClock, SampleError, SampleStream, StreamModel, Synthetic,
};
use crate::value::Value;
use crate::worker_info::get_worker_info;

/// An iterable dataset of a [`StreamModel`].
///
/// Its samples are those of [`Synthetic`]: `(uint8 of its shape, int)`. The int is the sample's number.
#[derive(Clone, Debug)]
pub struct SyntheticStream {
    model: StreamModel,
}

impl SyntheticStream {
    /// Creates a stream of that model.
    pub fn new(model: StreamModel) -> Self {
        Self { model }
    }

    /// Returns the model.
    pub fn model(&self) -> &StreamModel {
        &self.model
    }
}

impl IterableDataset for SyntheticStream {
    type Sample = Value;

    fn iter(&self) -> Result<Box<dyn SampleStream<Value>>, SampleError> {
        let worker = get_worker_info().map(|info| (info.id, info.num_workers));
        Ok(Box::new(Stream {
            numbers: self.model.samples(worker),
            samples: Synthetic::new(self.model.cost.clone()),
        }))
    }

    /// Returns the total number of samples, if each worker yields its share.
    fn len(&self) -> Option<usize> {
        Some(self.model.len())
    }

    fn type_name(&self) -> &str {
        "SyntheticStream"
    }
}

struct Stream {
    numbers: Box<dyn Iterator<Item = usize> + Send>,
    samples: Synthetic,
}

impl SampleStream<Value> for Stream {
    fn next(&mut self, clock: &mut SampleClock) -> Option<Result<Value, SampleError>> {
        let number = self.numbers.next()?;
        let sample = self.samples.get(number, clock);
        if sample.is_err() {
            self.numbers = Box::new(std::iter::empty());
        }
        Some(sample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_ends_after_an_error() {
        let data = SyntheticStream::new("len=5,cost_ms=0,fail=2".parse().unwrap());
        assert_eq!(data.len(), Some(5));
        let mut stream = data.iter().unwrap();
        let mut clock = SampleClock::off();
        let seen: Vec<bool> = std::iter::from_fn(|| stream.next(&mut clock))
            .map(|sample| sample.is_ok())
            .collect();
        assert_eq!(seen, [true, true, false]);
    }
}
