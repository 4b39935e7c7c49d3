//! Shuffling a stream.

use std::sync::Arc;

use super::{IterableDataset, SampleClock, SampleError, SampleStream};
use crate::error::{ExceptionKind, LoaderError};
use crate::rng::{SharedGenerator, lock_generator};
use crate::worker_info::with_worker_rng;

/// PyTorch 1.8's `BufferedShuffleDataset`: a stream shuffled within a buffer.
///
/// The first samples fill the buffer. Each further sample replaces a random sample of the buffer, which is yielded. At
/// the end the rest of the buffer is yielded in random order. A buffer of 1 keeps the order.
pub struct BufferedShuffleDataset<D: ?Sized> {
    dataset: Arc<D>,
    buffer_size: usize,
    generator: SharedGenerator,
}

impl<D: IterableDataset + ?Sized> BufferedShuffleDataset<D> {
    /// Shuffles `dataset` with a buffer of `buffer_size` samples.
    ///
    /// A worker uses its own random stream, so that each worker shuffles differently. Other threads use `generator`.
    ///
    /// # Errors
    /// AssertionError if `buffer_size` is not positive.
    pub fn new(
        dataset: Arc<D>,
        buffer_size: i64,
        generator: SharedGenerator,
    ) -> Result<Self, LoaderError> {
        match usize::try_from(buffer_size) {
            Ok(buffer_size) if buffer_size > 0 => Ok(Self {
                dataset,
                buffer_size,
                generator,
            }),
            _ => Err(LoaderError::python(
                ExceptionKind::ASSERTION_ERROR,
                "buffer_size should be larger than 0",
            )),
        }
    }
}

impl<D: IterableDataset + ?Sized> IterableDataset for BufferedShuffleDataset<D> {
    type Sample = D::Sample;

    fn iter(&self) -> Result<Box<dyn SampleStream<D::Sample>>, SampleError> {
        Ok(Box::new(Shuffle {
            source: Some(self.dataset.iter()?),
            // A huge buffer size means the whole stream, so memory is allocated as samples arrive.
            buffer: Vec::new(),
            buffer_size: self.buffer_size,
            generator: Arc::clone(&self.generator),
        }))
    }

    fn len(&self) -> Option<usize> {
        self.dataset.len()
    }

    fn type_name(&self) -> &str {
        "BufferedShuffleDataset"
    }
}

struct Shuffle<S> {
    /// The shuffled stream, or `None` after its end. Then the buffer is in reverse order of output.
    source: Option<Box<dyn SampleStream<S>>>,
    buffer: Vec<S>,
    buffer_size: usize,
    generator: SharedGenerator,
}

impl<S: Send> SampleStream<S> for Shuffle<S> {
    fn next(&mut self, clock: &mut SampleClock) -> Option<Result<S, SampleError>> {
        while let Some(source) = &mut self.source {
            match source.next(clock) {
                Some(Ok(sample)) if self.buffer.len() < self.buffer_size => {
                    self.buffer.push(sample);
                }
                Some(Ok(sample)) => {
                    let at = random_below(self.buffer.len(), &self.generator);
                    let slot = self.buffer.get_mut(at)?;
                    return Some(Ok(std::mem::replace(slot, sample)));
                }
                Some(Err(error)) => {
                    self.source = None;
                    self.buffer.clear();
                    return Some(Err(error));
                }
                None => {
                    self.source = None;
                    // `random.shuffle` swaps each element, from the last one, with one at or before its position.
                    for i in (1..self.buffer.len()).rev() {
                        self.buffer.swap(i, random_below(i + 1, &self.generator));
                    }
                }
            }
        }
        self.buffer.pop().map(Ok)
    }
}

/// Python's `random.randrange(n)`: draws as many random bits as n has, until the result is less than n.
fn random_below(n: usize, generator: &SharedGenerator) -> usize {
    let bits = usize::BITS - n.leading_zeros();
    if bits == 0 {
        return 0;
    }
    loop {
        let drawn = random_bits(bits, generator) as usize;
        if drawn < n {
            return drawn;
        }
    }
}

/// Python's `random.getrandbits(bits)` for 1 to 64 bits: low words first, and the high bits of the last word.
fn random_bits(bits: u32, generator: &SharedGenerator) -> u64 {
    let word = || {
        let drawn = with_worker_rng(|rng| rng.python.getrandbits(32) as u32);
        u64::from(drawn.unwrap_or_else(|| lock_generator(generator).next_u32()))
    };
    if bits <= 32 {
        return word() >> (32 - bits);
    }
    let low = word();
    low | (word() >> (64 - bits)) << 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::shared_generator;
    use proptest::prelude::*;

    struct Count(usize);

    impl IterableDataset for Count {
        type Sample = usize;

        fn iter(&self) -> Result<Box<dyn SampleStream<usize>>, SampleError> {
            Ok(Box::new((0..self.0).map(Ok)))
        }
    }

    fn shuffled(n: usize, buffer: i64, seed: u64) -> Vec<usize> {
        let data = BufferedShuffleDataset::new(Arc::new(Count(n)), buffer, shared_generator(seed));
        let mut stream = data.unwrap().iter().unwrap();
        let mut clock = SampleClock::off();
        std::iter::from_fn(|| stream.next(&mut clock))
            .map(Result::unwrap)
            .collect()
    }

    proptest! {
        #[test]
        fn a_shuffle_yields_each_sample_once_within_its_buffer(n in 0usize..100, buffer in 1i64..120, seed: u64) {
            let order = shuffled(n, buffer, seed);
            // Sample i can only be yielded after it has been read, which requires i + 1 − buffer yielded samples.
            for (position, &sample) in order.iter().enumerate() {
                prop_assert!(sample < position + buffer as usize);
            }
            let mut sorted = order;
            sorted.sort_unstable();
            prop_assert!(sorted.into_iter().eq(0..n));
        }
    }

    #[test]
    fn a_buffer_size_below_one_is_refused() {
        for size in [0, -3] {
            let made = BufferedShuffleDataset::new(Arc::new(Count(3)), size, shared_generator(0));
            assert_eq!(
                made.err().unwrap().to_string(),
                "AssertionError: buffer_size should be larger than 0"
            );
        }
        assert_eq!(shuffled(5, 1, 0), [0, 1, 2, 3, 4]);
        assert_ne!(shuffled(50, 50, 0), shuffled(50, 50, 1));
    }
}
