//! Wrapper of any dataset that slows down its samples.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::delegate::delegate_to_inner;
use super::simulated_cost::sleep_until;
use super::{Dataset, IterableDataset, SampleClock, SampleError, SampleStream};

/// A dataset whose samples each take `factor` times as long.
pub struct SlowMotion<D: ?Sized> {
    inner: Arc<D>,
    factor: u32,
}

impl<D: ?Sized> SlowMotion<D> {
    /// Slows down `inner` by `factor`.
    pub fn new(inner: Arc<D>, factor: u32) -> Self {
        Self { inner, factor }
    }
}

/// Sleeps for the rest of `factor` times the time since `start`.
fn slow_down(start: Instant, factor: u32, clock: &mut SampleClock) {
    let spent = start.elapsed();
    let rest = spent.saturating_mul(factor.saturating_sub(1));
    if rest > Duration::ZERO {
        let watch = clock.cancellation_only();
        let until = start + spent;
        clock.stage("slow motion", || {
            sleep_until(until, rest, || watch.is_cancelled());
        });
    }
}

impl<D: Dataset + ?Sized> Dataset for SlowMotion<D> {
    type Sample = D::Sample;

    fn len(&self) -> usize {
        self.inner.len()
    }

    fn get(&self, index: usize, clock: &mut SampleClock) -> Result<Self::Sample, SampleError> {
        let start = Instant::now();
        let sample = self.inner.get(index, clock);
        slow_down(start, self.factor, clock);
        sample
    }

    delegate_to_inner!(samples);
}

impl<D: IterableDataset + ?Sized> IterableDataset for SlowMotion<D> {
    type Sample = D::Sample;

    fn iter(&self) -> Result<Box<dyn SampleStream<D::Sample>>, SampleError> {
        Ok(Box::new(SlowMotionStream {
            stream: self.inner.iter()?,
            factor: self.factor,
        }))
    }

    delegate_to_inner!(stream);
}

struct SlowMotionStream<S> {
    stream: Box<dyn SampleStream<S>>,
    factor: u32,
}

impl<S> SampleStream<S> for SlowMotionStream<S> {
    fn next(&mut self, clock: &mut SampleClock) -> Option<Result<S, SampleError>> {
        let start = Instant::now();
        let sample = self.stream.next(clock)?;
        slow_down(start, self.factor, clock);
        Some(sample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::{Digits, Slowed};

    #[test]
    fn stretched_samples_are_equal_but_ten_times_slower() {
        let digits = Arc::new(Digits::new().expect("they are built in"));
        let slowed = Slowed::new(Arc::clone(&digits), "cost_ms=4").expect("sound words");
        let stretched = SlowMotion::new(Arc::new(slowed), 10);
        let mut clock = SampleClock::off();
        let start = Instant::now();
        let sample = stretched.get(3, &mut clock).expect("it does not fail");
        assert!(start.elapsed() >= Duration::from_millis(40));
        assert!(sample.same(&digits.get(3, &mut clock).expect("it is built in")));
        assert_eq!((stretched.len(), stretched.classes().len()), (1797, 10));
    }
}
