//! Wrapper of any dataset with artificial delays or failures.

use std::sync::Arc;
use std::time::Instant;

use loadscope_plan::dataset::extra_cost;

use super::delegate::delegate_to_inner;
use super::simulated_cost::simulate_cost;
use super::{CostModel, Dataset, IterableDataset, SampleClock, SampleError, SampleStream};
use crate::error::LoaderError;
use crate::limits;
use crate::worker_info::get_worker_info;

/// A dataset with artificial delays and failures.
///
/// It shows the effect of a slow disk or a heavy transform on a loader with real samples.
pub struct Slowed<D: ?Sized> {
    inner: Arc<D>,
    extra: CostModel,
}

impl<D: Dataset + ?Sized> Slowed<D> {
    /// Adds the extra cost in `text` to `inner`. The syntax is that of the synthetic dataset: `cost_ms=10,tail=0.01:40`.
    ///
    /// # Errors
    /// If the text is invalid, or sets the length or the shape, which are those of `inner`.
    pub fn new(inner: Arc<D>, text: &str) -> Result<Self, LoaderError> {
        let extra = extra_cost(text, inner.len())?;
        Ok(Self { inner, extra })
    }
}

impl<D: Dataset + ?Sized> Dataset for Slowed<D> {
    type Sample = D::Sample;

    fn len(&self) -> usize {
        self.inner.len()
    }

    fn get(&self, index: usize, clock: &mut SampleClock) -> Result<Self::Sample, SampleError> {
        simulate_cost(&self.extra, index, Instant::now(), clock)?;
        self.inner.get(index, clock)
    }

    delegate_to_inner!(samples);
}

/// A stream with artificial delays. The n-th sample that worker k of W yields counts as sample k + n·W.
pub struct SlowedStream<D: ?Sized> {
    inner: Arc<D>,
    extra: CostModel,
}

impl<D: IterableDataset + ?Sized> SlowedStream<D> {
    /// Adds the extra cost in `text` to `inner`.
    ///
    /// # Errors
    /// As [`Slowed::new`].
    pub fn new(inner: Arc<D>, text: &str) -> Result<Self, LoaderError> {
        let most = usize::try_from(limits::SAMPLES).unwrap_or(usize::MAX);
        let extra = extra_cost(text, inner.len().unwrap_or(most))?;
        Ok(Self { inner, extra })
    }
}

impl<D: IterableDataset + ?Sized> IterableDataset for SlowedStream<D> {
    type Sample = D::Sample;

    fn iter(&self) -> Result<Box<dyn SampleStream<D::Sample>>, SampleError> {
        let (id, workers) = get_worker_info().map_or((0, 1), |info| (info.id, info.num_workers));
        Ok(Box::new(SlowStream {
            stream: self.inner.iter()?,
            extra: self.extra.clone(),
            next: id,
            step: workers.max(1),
        }))
    }

    delegate_to_inner!(stream);
}

struct SlowStream<S> {
    stream: Box<dyn SampleStream<S>>,
    extra: CostModel,
    next: usize,
    step: usize,
}

impl<S> SampleStream<S> for SlowStream<S> {
    fn next(&mut self, clock: &mut SampleClock) -> Option<Result<S, SampleError>> {
        let start = Instant::now();
        let sample = self.stream.next(clock)?;
        let index = self.next;
        self.next = index.saturating_add(self.step);
        // The extra cost is added to the sample's own time.
        let spent = start.elapsed();
        match simulate_cost(&self.extra, index, start + spent, clock) {
            Ok(()) => Some(sample),
            Err(error) => Some(Err(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::dataset::{Digits, SyntheticStream};

    #[test]
    fn slowed_samples_are_equal_but_late() {
        let digits = Arc::new(Digits::new().expect("they are built in"));
        let slowed = Slowed::new(Arc::clone(&digits), "slow=3:30,fail=5").expect("sound words");
        let mut clock = SampleClock::off();
        let start = Instant::now();
        let sample = slowed.get(3, &mut clock).expect("it does not fail");
        assert!(start.elapsed() >= Duration::from_millis(30));
        assert!(sample.same(&digits.get(3, &mut clock).expect("it is built in")));
        assert!(
            slowed
                .get(5, &mut clock)
                .is_err_and(|e| e.message.contains("sample 5"))
        );
        assert_eq!((slowed.len(), slowed.classes().len()), (1797, 10));
    }

    #[test]
    fn streams_are_slowed_by_sample_position() {
        let stream = SyntheticStream::new("len=4,cost_ms=0".parse().expect("sound words"));
        let slowed = SlowedStream::new(Arc::new(stream), "slow=2:30,fail=3").expect("sound words");
        let mut samples = slowed.iter().expect("it opens");
        let mut clock = SampleClock::off();
        let mut took = Vec::new();
        while let Some(sample) = {
            let start = Instant::now();
            let sample = samples.next(&mut clock);
            took.push(start.elapsed() >= Duration::from_millis(30));
            sample
        } {
            assert_eq!(sample.is_ok(), took.len() < 4);
        }
        assert_eq!(took, [false, false, true, false, false]);
    }

    #[test]
    fn invalid_slowdown_options_are_refused() {
        let digits = Arc::new(Digits::new().expect("they are built in"));
        for (text, says) in [
            ("len=5", "Remove len"),
            ("slow=9999:1", "9999"),
            ("speed=3", "Valid: "),
        ] {
            let error = Slowed::new(Arc::clone(&digits), text)
                .err()
                .map(|e| e.to_string());
            assert!(
                error.as_ref().is_some_and(|e| e.contains(says)),
                "{error:?}"
            );
        }
    }
}
