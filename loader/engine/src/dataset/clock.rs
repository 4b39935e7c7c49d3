//! Times of the stages of a sample: reading, decoding, resizing.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use loadscope_formats::Stages;
use loadscope_trace::{BatchId, Nanos};

use crate::clock::Clock;
use crate::sync::AtomicBool;

/// Stopwatch for named stages of samples.
///
/// Datasets wrap their work in [`stage`](Self::stage). The fetcher enables the clock and reads it. A disabled clock
/// costs one branch per stage and allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct SampleClock {
    on: Option<Clock>,
    /// Start of the current sample's first stage.
    first_stage_start: Option<Nanos>,
    done: Option<Arc<AtomicBool>>,
    /// Batch of the samples, if known.
    batch: Option<BatchId>,
    samples: usize,
    /// Entered stage and its start.
    current_stage: Option<(&'static str, Nanos)>,
    /// Durations by stage. There are few stages, so a list is faster than a map.
    stages: Vec<(&'static str, Vec<Nanos>)>,
}

impl SampleClock {
    /// Returns a disabled clock.
    pub fn off() -> Self {
        Self::default()
    }

    /// Returns a running clock.
    pub fn on() -> Self {
        Self::of(Clock::start())
    }

    /// Returns a clock that is paused together with the clock of the run.
    pub(crate) fn of(clock: Clock) -> Self {
        Self {
            on: Some(clock),
            ..Self::default()
        }
    }

    /// Returns this clock for a thread that must give up once `done` is set.
    #[must_use]
    pub(crate) fn with_cancellation(self, done: Arc<AtomicBool>) -> Self {
        Self {
            done: Some(done),
            ..self
        }
    }

    /// Returns this clock for the samples of a batch.
    #[must_use]
    pub(crate) fn for_batch(self, batch: BatchId) -> Self {
        Self {
            batch: Some(batch),
            ..self
        }
    }

    /// Returns the batch of the samples, if known.
    pub(crate) fn batch(&self) -> Option<BatchId> {
        self.batch
    }

    /// Returns true after the sample is no longer wanted. A slow dataset may then stop early.
    pub fn is_cancelled(&self) -> bool {
        self.done
            .as_ref()
            .is_some_and(|d| d.load(Ordering::Acquire))
    }

    /// Returns a disabled clock that only reports cancellation, for work inside a stage.
    pub(super) fn cancellation_only(&self) -> Self {
        Self {
            done: self.done.clone(),
            ..Self::default()
        }
    }

    /// Returns true if stages are measured.
    pub fn is_on(&self) -> bool {
        self.on.is_some()
    }

    /// Starts a new sample. Subsequent stages belong to it.
    #[inline]
    pub fn begin_sample(&mut self) {
        if self.on.is_some() {
            self.samples += 1;
            self.first_stage_start = None;
        }
    }

    /// Returns the start of the current sample's first stage, if it had any.
    #[inline]
    pub(crate) fn first_stage_start(&self) -> Option<Nanos> {
        self.first_stage_start
    }

    /// Returns true if any stage was measured since the last call of [`take_stages`](Self::take_stages).
    #[inline]
    pub(crate) fn has_stages(&self) -> bool {
        !self.stages.is_empty()
    }

    /// Runs `work` and adds its wall time to the stage `name` of the current sample. Repeated stages add up.
    pub fn stage<R>(&mut self, name: &'static str, work: impl FnOnce() -> R) -> R {
        let Some(clock) = &self.on else {
            return work();
        };
        let start = clock.now();
        let result = work();
        let took = clock.now() - start;
        self.first_stage_start.get_or_insert(start);
        self.add(name, took);
        result
    }

    /// Ends the stage that [`enter`](Stages::enter) began.
    pub(super) fn end_stage(&mut self) {
        let Some((name, start)) = self.current_stage.take() else {
            return;
        };
        if let Some(clock) = &self.on {
            let took = clock.now() - start;
            self.first_stage_start.get_or_insert(start);
            self.add(name, took);
        }
    }

    fn add(&mut self, name: &'static str, took: Nanos) {
        // Work before the first call of `begin_sample` belongs to the first sample.
        self.samples = self.samples.max(1);
        let position = self.stages.iter().position(|(at, _)| *at == name);
        let position = position.unwrap_or_else(|| {
            self.stages.push((name, Vec::new()));
            self.stages.len() - 1
        });
        if let Some((_, times)) = self.stages.get_mut(position) {
            times.resize(self.samples, Nanos::ZERO);
            if let Some(last) = times.last_mut() {
                *last += took;
            }
        }
    }

    /// Returns the stages since the last call, in order of first appearance, and resets them.
    ///
    /// Each has one duration per sample, zero for a sample without the stage.
    pub fn take_stages(&mut self) -> Vec<(&'static str, Vec<Nanos>)> {
        let samples = std::mem::take(&mut self.samples);
        let mut stages = std::mem::take(&mut self.stages);
        for (_, times) in &mut stages {
            times.resize(samples, Nanos::ZERO);
        }
        stages
    }
}

/// The readers of file formats report their stages by name. `end_stage` ends the last stage.
impl Stages for SampleClock {
    fn enter(&mut self, name: &'static str) {
        self.end_stage();
        if let Some(clock) = &self.on {
            self.current_stage = Some((name, clock.now()));
        }
    }

    fn is_cancelled(&self) -> bool {
        Self::is_cancelled(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_stage_ends_when_the_next_one_is_entered() {
        let mut clock = SampleClock::on();
        clock.begin_sample();
        for name in ["open", "read", "open"] {
            clock.enter(name);
            std::thread::sleep(Duration::from_millis(2));
        }
        clock.end_stage();
        clock.end_stage();
        let stages = clock.take_stages();
        let names: Vec<_> = stages.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["open", "read"]);
        assert!(stages[0].1[0] >= Nanos::from_millis(4));
        assert!(stages[1].1[0] >= Nanos::from_millis(2));
    }

    #[test]
    fn stage_times_are_stored_per_sample() {
        let mut clock = SampleClock::on();
        let nap = || std::thread::sleep(Duration::from_millis(2));
        clock.begin_sample();
        clock.stage("read", nap);
        clock.begin_sample();
        clock.stage("decode", nap);
        clock.stage("decode", nap);
        clock.begin_sample();
        let stages = clock.take_stages();
        let names: Vec<_> = stages.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["read", "decode"]);
        for (_, times) in &stages {
            assert_eq!(times.len(), 3);
            assert_eq!(times[2], Nanos::ZERO);
        }
        assert!(stages[0].1[0] >= Nanos::from_millis(2));
        assert_eq!(stages[0].1[1], Nanos::ZERO);
        assert!(stages[1].1[1] >= Nanos::from_millis(4));
        assert!(clock.take_stages().is_empty());
    }

    #[test]
    fn a_clock_that_is_off_measures_nothing() {
        let mut clock = SampleClock::off();
        clock.begin_sample();
        assert_eq!(clock.stage("read", || 7), 7);
        assert!(clock.take_stages().is_empty());
    }
}
