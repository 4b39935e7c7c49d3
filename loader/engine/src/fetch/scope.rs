//! Observation of a fetch.

use std::convert::Infallible;
use std::sync::Arc;

use loadscope_trace::{BatchId, Nanos, Stage, StageTiming};

use super::pace::Pace;
use super::stopwatch::Stopwatch;
use crate::collate::CollateSite;
use crate::dataset::SampleClock;
use crate::probe::Probe;

/// Observes one fetch.
#[derive(Debug)]
pub struct FetchScope<'a> {
    probe: &'a Probe,
    batch: BatchId,
    site: CollateSite,
    /// Named stages inside the samples.
    pub stages: SampleClock,
    /// `None` if the fetch is not observed.
    stopwatch: Option<Stopwatch<'a>>,
    /// Dataset index of the current sample.
    current: Option<usize>,
    told: bool,
    /// True if the clock was read at the end of the last sample, and nothing was done since.
    marked: bool,
    /// Positions of failed samples that are missing in the batch.
    left_out: Vec<u32>,
}

impl<'a> FetchScope<'a> {
    pub(crate) fn new(probe: &'a Probe, batch: BatchId, site: CollateSite) -> Self {
        let clock = probe.its_clock();
        let stopwatch = clock.map(Stopwatch::new);
        let stages = clock.map_or_else(SampleClock::off, |clock| SampleClock::of(clock.clone()));
        Self {
            probe,
            batch,
            site,
            stages: stages.until(Arc::clone(probe.done())).for_batch(batch),
            left_out: Vec::new(),
            stopwatch,
            current: None,
            told: false,
            marked: false,
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
            match self.stages.staged() {
                Some(at) => stopwatch.end_staged(at),
                None => stopwatch.end(streamed),
            }
        }
    }

    /// Fetches the samples at `indices` with `get`, up to the first error. `pace` determines whether each is timed.
    #[inline]
    pub(super) fn each<T, E>(
        &mut self,
        indices: &[usize],
        pace: &mut Pace,
        get: impl FnMut(usize, &mut SampleClock) -> Result<T, E>,
    ) -> Result<Vec<T>, (usize, E)> {
        match &self.stopwatch {
            None => self.untimed(indices, get),
            Some(_) if pace.is_by_batch() => self.together(indices, pace, get),
            Some(_) => self.one_by_one(indices, pace, get),
        }
    }

    #[inline]
    fn untimed<T, E>(
        &mut self,
        indices: &[usize],
        mut get: impl FnMut(usize, &mut SampleClock) -> Result<T, E>,
    ) -> Result<Vec<T>, (usize, E)> {
        let mut samples = Vec::with_capacity(indices.len());
        // Only the index is recorded, for the message if `get` panics.
        for &index in indices {
            self.current = Some(index);
            samples.push(get(index, &mut self.stages).map_err(|error| (index, error))?);
        }
        self.current = None;
        Ok(samples)
    }

    /// Times the batch as a whole, with the events that are recorded anyway.
    fn together<T, E>(
        &mut self,
        indices: &[usize],
        pace: &mut Pace,
        get: impl FnMut(usize, &mut SampleClock) -> Result<T, E>,
    ) -> Result<Vec<T>, (usize, E)> {
        let begin = self.probe.last();
        let samples = self.untimed(indices, get)?;
        self.marked = true;
        match self.probe.mark() {
            Some(end) if !self.stages.has_stages() => {
                pace.note(indices.len(), end - begin.unwrap_or(end));
            }
            // If samples have named stages, each sample must be timed.
            _ => pace.reset(),
        }
        Ok(samples)
    }

    fn one_by_one<T, E>(
        &mut self,
        indices: &[usize],
        pace: &mut Pace,
        mut get: impl FnMut(usize, &mut SampleClock) -> Result<T, E>,
    ) -> Result<Vec<T>, (usize, E)> {
        let mut samples = Vec::with_capacity(indices.len());
        if let Some(stopwatch) = &mut self.stopwatch {
            stopwatch.expect(indices.len());
        }
        for &index in indices {
            self.begin_sample(Some(index));
            samples.push(get(index, &mut self.stages).map_err(|error| (index, error))?);
            self.end_sample();
        }
        let wall = (self.stopwatch.as_mut()).map_or(Nanos::ZERO, Stopwatch::so_far);
        match self.stages.has_stages() {
            true => pace.reset(),
            false if pace.note(indices.len(), wall) => self.probe.say_by_batch(self.batch),
            false => {}
        }
        Ok(samples)
    }

    /// Copies samples in memory with `copy`, like [`each`](Self::each).
    ///
    /// The copy is the whole time of a sample, so there are no stages.
    pub(super) fn stack(
        &mut self,
        indices: &[usize],
        pace: &mut Pace,
        mut copy: impl FnMut(usize),
    ) {
        let copied = self.each(indices, pace, |index, _| -> Result<(), Infallible> {
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
    pub(super) fn leave_out(&mut self, places: Vec<u32>) {
        self.left_out = places;
    }

    /// Returns the positions of the missing samples, increasing.
    pub(crate) fn into_left_out(self) -> Vec<u32> {
        self.left_out
    }

    /// Ends fetching and begins collating.
    pub fn collating(&mut self) {
        let told = self.tell_timings();
        match told || std::mem::take(&mut self.marked) {
            true => self.probe.enter_at_once(self.batch, Stage::Collating),
            false => self.probe.enter_next(self.batch, Stage::Collating),
        }
    }

    /// Reports the measured times once. Returns true if this call reported them.
    pub(crate) fn tell_timings(&mut self) -> bool {
        let Some(stopwatch) = &mut self.stopwatch else {
            return false;
        };
        if std::mem::replace(&mut self.told, true) {
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
        self.probe.fetched(self.batch, samples, stages);
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
        let mut pace = Pace::default();
        for idx in 0..batches {
            let batch = BatchId { epoch: 0, idx };
            probe.enter(batch, Stage::Fetching);
            let mut scope = FetchScope::new(&probe, batch, CollateSite::Main);
            drop(scope.each(&indices, &mut pace, |index, clock| {
                get(index, clock);
                Ok::<_, Infallible>(())
            }));
            scope.collating();
        }
        let (mut one_by_one, mut begun, mut said) = (0, 0, Vec::new());
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
                EventKind::Message(message) => said.push(message.text),
                _ => {}
            }
        }
        assert_eq!(begun, batches as usize);
        (one_by_one, begun - one_by_one, said)
    }

    #[test]
    fn very_short_samples_report_batch_timing_once() {
        let (one_by_one, together, said) = timed(500, |_, _| {});
        assert!(one_by_one >= 16, "{one_by_one}");
        assert!(together > 100, "{together}");
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].contains("only whole batches are timed"), "{said:?}");
    }

    #[test]
    fn long_or_staged_samples_are_timed_one_by_one() {
        let busy = |took: Duration| {
            let begin = std::time::Instant::now();
            while begin.elapsed() < took {}
        };
        let (one_by_one, together, said) = timed(50, |_, _| busy(Duration::from_micros(1)));
        assert_eq!((one_by_one, together, said.len()), (50, 0, 0));
        let (one_by_one, together, said) = timed(50, |_, clock| clock.stage("read", || {}));
        assert_eq!((one_by_one, together, said.len()), (50, 0, 0));
    }
}
