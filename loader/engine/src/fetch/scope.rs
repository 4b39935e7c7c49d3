//! Timing and state of a fetch, reported to the observer.

use std::convert::Infallible;
use std::sync::Arc;

use loadscope_trace::{BatchId, Nanos, Stage, StageTiming};

use super::stopwatch::Stopwatch;
use super::timing_granularity::TimingGranularity;
use crate::collate::CollateSite;
use crate::dataset::SampleClock;
use crate::probe::Probe;

/// Observation of one fetch.
#[derive(Debug)]
pub struct FetchScope<'a> {
    probe: &'a Probe,
    batch: BatchId,
    site: CollateSite,
    /// Named stages inside the samples.
    pub stages: SampleClock,
    /// Stopwatch of the samples, or `None` if the fetch is not observed.
    stopwatch: Option<Stopwatch<'a>>,
    /// Dataset index of the current sample.
    current: Option<usize>,
    timings_recorded: bool,
    /// True if the clock was read at the end of the last sample, and no work was done since.
    is_stamped: bool,
    /// Positions of failed samples that are missing in the batch.
    left_out: Vec<u32>,
}

impl<'a> FetchScope<'a> {
    pub(crate) fn new(probe: &'a Probe, batch: BatchId, site: CollateSite) -> Self {
        let clock = probe.clock_ref();
        let stopwatch = clock.map(Stopwatch::new);
        let stages = clock.map_or_else(SampleClock::off, |clock| SampleClock::of(clock.clone()));
        Self {
            probe,
            batch,
            site,
            stages: stages
                .with_cancellation(Arc::clone(probe.done()))
                .for_batch(batch),
            left_out: Vec::new(),
            stopwatch,
            current: None,
            timings_recorded: false,
            is_stamped: false,
        }
    }

    /// Returns the thread that collates the batch.
    pub fn site(&self) -> CollateSite {
        self.site
    }

    /// Begins fetching the sample with dataset index `index`, or the next one of a stream if `None`.
    ///
    /// The samples of a batch must follow each other closely, because all time since the end of the previous sample
    /// counts for this one. Without an observer, only the index is recorded.
    #[inline]
    pub fn begin_sample(&mut self, index: Option<usize>) {
        self.current = index;
        if let Some(stopwatch) = &mut self.stopwatch {
            self.stages.begin_sample();
            stopwatch.begin();
        }
    }

    /// Ends the current sample.
    ///
    /// Samples much shorter than a microsecond are measured several at a time, and each is recorded with the mean.
    /// Samples of streams, which may have to wait, and samples with stages are always measured one by one.
    #[inline]
    pub fn end_sample(&mut self) {
        let streamed = self.current.take().is_none();
        if let Some(stopwatch) = &mut self.stopwatch {
            match self.stages.first_stage_start() {
                Some(at) => stopwatch.end_staged(at),
                None => stopwatch.end(streamed),
            }
        }
    }

    /// Fetches the samples at `indices` with `get`, up to the first error. `granularity` determines whether each is timed.
    #[inline]
    pub(super) fn fetch_each<T, E>(
        &mut self,
        indices: &[usize],
        granularity: &mut TimingGranularity,
        get: impl FnMut(usize, &mut SampleClock) -> Result<T, E>,
    ) -> Result<Vec<T>, (usize, E)> {
        match &self.stopwatch {
            None => self.untimed(indices, get),
            Some(_) if granularity.is_by_batch() => self.time_as_batch(indices, granularity, get),
            Some(_) => self.time_each_sample(indices, granularity, get),
        }
    }

    #[inline]
    fn untimed<T, E>(
        &mut self,
        indices: &[usize],
        mut get: impl FnMut(usize, &mut SampleClock) -> Result<T, E>,
    ) -> Result<Vec<T>, (usize, E)> {
        let mut samples = Vec::with_capacity(indices.len());
        // Only the index is recorded, for the error message if `get` panics.
        for &index in indices {
            self.current = Some(index);
            samples.push(get(index, &mut self.stages).map_err(|error| (index, error))?);
        }
        self.current = None;
        Ok(samples)
    }

    /// Times the batch as a whole, with the events that are recorded anyway.
    fn time_as_batch<T, E>(
        &mut self,
        indices: &[usize],
        granularity: &mut TimingGranularity,
        get: impl FnMut(usize, &mut SampleClock) -> Result<T, E>,
    ) -> Result<Vec<T>, (usize, E)> {
        let begin = self.probe.last_event_time();
        let samples = self.untimed(indices, get)?;
        self.is_stamped = true;
        match self.probe.stamp_next_event() {
            Some(end) if !self.stages.has_stages() => {
                granularity.record_batch(indices.len(), end - begin.unwrap_or(end));
            }
            // If samples have named stages, each sample must be timed.
            _ => granularity.reset(),
        }
        Ok(samples)
    }

    fn time_each_sample<T, E>(
        &mut self,
        indices: &[usize],
        granularity: &mut TimingGranularity,
        mut get: impl FnMut(usize, &mut SampleClock) -> Result<T, E>,
    ) -> Result<Vec<T>, (usize, E)> {
        let mut samples = Vec::with_capacity(indices.len());
        if let Some(stopwatch) = &mut self.stopwatch {
            stopwatch.reserve(indices.len());
        }
        for &index in indices {
            self.begin_sample(Some(index));
            samples.push(get(index, &mut self.stages).map_err(|error| (index, error))?);
            self.end_sample();
        }
        let wall = (self.stopwatch.as_mut()).map_or(Nanos::ZERO, Stopwatch::total_wall);
        match self.stages.has_stages() {
            true => granularity.reset(),
            false if granularity.record_batch(indices.len(), wall) => {
                self.probe.report_batch_timing(self.batch)
            }
            false => {}
        }
        Ok(samples)
    }

    /// Copies samples in memory with `copy`, like [`fetch_each`](Self::fetch_each).
    ///
    /// The copy is the whole time of a sample, so there are no stages.
    pub(super) fn stack(
        &mut self,
        indices: &[usize],
        granularity: &mut TimingGranularity,
        mut copy: impl FnMut(usize),
    ) {
        let copied = self.fetch_each(indices, granularity, |index, _| -> Result<(), Infallible> {
            copy(index);
            Ok(())
        });
        drop(copied);
    }

    /// Returns the dataset index of the current sample.
    pub(crate) fn current(&self) -> Option<usize> {
        self.current
    }

    /// Records the positions of failed samples that will be missing in the batch.
    pub(super) fn set_left_out(&mut self, places: Vec<u32>) {
        self.left_out = places;
    }

    /// Returns the positions of the missing samples, increasing.
    pub(crate) fn into_left_out(self) -> Vec<u32> {
        self.left_out
    }

    /// Ends fetching and begins collating.
    pub fn begin_collating(&mut self) {
        let recorded = self.record_timings();
        match recorded || std::mem::take(&mut self.is_stamped) {
            true => self.probe.enter_at_last_stamp(self.batch, Stage::Collating),
            false => self.probe.enter(self.batch, Stage::Collating),
        }
    }

    /// Reports the measured times once. Returns true if this call reported them.
    pub(crate) fn record_timings(&mut self) -> bool {
        let Some(stopwatch) = &mut self.stopwatch else {
            return false;
        };
        if std::mem::replace(&mut self.timings_recorded, true) {
            return false;
        }
        // The current sample, if any, has failed.
        let samples = stopwatch.take(self.current.is_some());
        if samples.is_empty() {
            // Stages belong to samples, so there is nothing to record.
            return false;
        }
        let stages = self.stages.take_stages();
        let named = stages.into_iter().map(|(name, mut walls)| {
            // A failed sample and the end of a stream may have stages, but have no sample timing.
            walls.truncate(samples.len());
            StageTiming {
                name: name.to_owned(),
                walls,
            }
        });
        let stages = named.collect();
        self.probe.record_fetched(self.batch, samples, stages);
        true
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use loadscope_trace::EventKind;

    use super::*;
    use crate::clock::Clock;
    use crate::probe::ContentPolicy;

    /// Fetches `batches` batches of 256 samples.
    ///
    /// Returns the number of batches timed sample by sample, the number of others, and the messages.
    fn timed(
        batches: u32,
        mut get: impl FnMut(usize, &mut SampleClock),
    ) -> (usize, usize, Vec<String>) {
        let (probe, events) = Probe::new(Clock::start(), ContentPolicy::Off, 1 << 20);
        let indices: Vec<usize> = (0..256).collect();
        let mut granularity = TimingGranularity::default();
        for idx in 0..batches {
            let batch = BatchId { epoch: 0, idx };
            probe.enter(batch, Stage::Fetching);
            let mut scope = FetchScope::new(&probe, batch, CollateSite::Main);
            drop(
                scope.fetch_each(&indices, &mut granularity, |index, clock| {
                    get(index, clock);
                    Ok::<_, Infallible>(())
                }),
            );
            scope.begin_collating();
        }
        let (mut one_by_one, mut begun, mut messages) = (0, 0, Vec::new());
        let mut last = Nanos::ZERO;
        for event in events.try_iter() {
            assert!(event.at >= last, "no time goes back");
            last = event.at;
            match event.kind {
                EventKind::Fetched(fetched) => {
                    assert!(!fetched.samples.is_empty());
                    one_by_one += 1;
                }
                EventKind::Entered {
                    stage: Stage::Collating,
                    ..
                } => begun += 1,
                EventKind::Message(message) => messages.push(message.text),
                _ => {}
            }
        }
        assert_eq!(begun, batches as usize);
        (one_by_one, begun - one_by_one, messages)
    }

    #[test]
    fn very_short_samples_report_batch_timing_once() {
        let (one_by_one, together, messages) = timed(500, |_, _| {});
        assert!(one_by_one >= 16, "{one_by_one}");
        assert!(together > 100, "{together}");
        assert_eq!(messages.len(), 1, "{messages:?}");
        assert!(
            messages[0].contains("only whole batches are timed"),
            "{messages:?}"
        );
    }

    #[test]
    fn long_or_staged_samples_are_timed_one_by_one() {
        let busy = |took: Duration| {
            let begin = std::time::Instant::now();
            while begin.elapsed() < took {}
        };
        let (one_by_one, together, messages) = timed(50, |_, _| busy(Duration::from_micros(1)));
        assert_eq!((one_by_one, together, messages.len()), (50, 0, 0));
        let (one_by_one, together, messages) = timed(50, |_, clock| clock.stage("read", || {}));
        assert_eq!((one_by_one, together, messages.len()), (50, 0, 0));
    }
}
