//! Where the time inside a sample goes: reading, decoding, resizing.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use loadscope_formats::Stages;
use loadscope_trace::{BatchId, Nanos};

use crate::clock::Clock;
use crate::sync::AtomicBool;

/// Measures named stages of samples. Datasets wrap their work in [`stage`](Self::stage); the fetcher switches the
/// clock on and reads it. Off, it costs one branch a stage and allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct SampleClock {
    on: Option<Clock>,
    /// When the first stage of the current sample began.
    staged: Option<Nanos>,
    done: Option<Arc<AtomicBool>>,
    /// The batch that the samples are for, if it is known.
    batch: Option<BatchId>,
    samples: usize,
    /// The stage that was entered and not left, and when.
    under_way: Option<(&'static str, Nanos)>,
    /// A handful of stages, so a list beats a map.
    stages: Vec<(&'static str, Vec<Nanos>)>,
}

impl SampleClock {
    /// A clock that measures nothing.
    pub fn off() -> Self {
        Self::default()
    }

    /// A running clock.
    pub fn on() -> Self {
        Self::of(Clock::start())
    }

    /// The clock of a run, which stands still with it.
    pub(crate) fn of(clock: Clock) -> Self {
        Self {
            on: Some(clock),
            ..Self::default()
        }
    }

    /// The same clock for a thread that is to give up once `done` is set.
    #[must_use]
    pub(crate) fn until(self, done: Arc<AtomicBool>) -> Self {
        Self {
            done: Some(done),
            ..self
        }
    }

    /// The same clock for the samples of a batch.
    #[must_use]
    pub(crate) fn for_batch(self, batch: BatchId) -> Self {
        Self {
            batch: Some(batch),
            ..self
        }
    }

    /// The batch that the samples are for, if it is known.
    pub(crate) fn batch(&self) -> Option<BatchId> {
        self.batch
    }

    /// True once the sample is not wanted any more: a dataset that takes long may give up.
    pub fn is_cancelled(&self) -> bool {
        self.done
            .as_ref()
            .is_some_and(|d| d.load(Ordering::Acquire))
    }

    /// A clock that is off and only knows whether anybody still waits: for work inside a stage.
    pub(super) fn clone_watch(&self) -> Self {
        Self {
            done: self.done.clone(),
            ..Self::default()
        }
    }

    /// Whether stages are measured.
    pub fn is_on(&self) -> bool {
        self.on.is_some()
    }

    /// The stages that follow belong to a new sample.
    #[inline]
    pub fn begin_sample(&mut self) {
        if self.on.is_some() {
            self.samples += 1;
            self.staged = None;
        }
    }

    /// When the first stage of the current sample began, if it had any.
    #[inline]
    pub(crate) fn staged(&self) -> Option<Nanos> {
        self.staged
    }

    /// True if a sample had a stage since the last call of [`take_stages`](Self::take_stages).
    #[inline]
    pub(crate) fn has_stages(&self) -> bool {
        !self.stages.is_empty()
    }

    /// Runs `work` and counts its wall time towards the stage `name` of the current sample. A stage that runs several
    /// times in a sample adds up.
    pub fn stage<R>(&mut self, name: &'static str, work: impl FnOnce() -> R) -> R {
        let Some(clock) = &self.on else {
            return work();
        };
        let start = clock.now();
        let result = work();
        let took = clock.now() - start;
        self.staged.get_or_insert(start);
        self.add(name, took);
        result
    }

    /// Ends the stage that [`enter`](Stages::enter) began.
    pub(super) fn leave(&mut self) {
        let Some((name, start)) = self.under_way.take() else {
            return;
        };
        if let Some(clock) = &self.on {
            let took = clock.now() - start;
            self.staged.get_or_insert(start);
            self.add(name, took);
        }
    }

    fn add(&mut self, name: &'static str, took: Nanos) {
        // Work before the first `begin_sample` belongs to the first sample.
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

    /// The stages since the last call, in order of first appearance, each with one duration a sample (zero where a
    /// sample did not have the stage). Starts anew.
    pub fn take_stages(&mut self) -> Vec<(&'static str, Vec<Nanos>)> {
        let samples = std::mem::take(&mut self.samples);
        let mut stages = std::mem::take(&mut self.stages);
        for (_, times) in &mut stages {
            times.resize(samples, Nanos::ZERO);
        }
        stages
    }
}

/// What reads the formats of files says by name what it does; `leave` ends the last stage.
impl Stages for SampleClock {
    fn enter(&mut self, name: &'static str) {
        self.leave();
        if let Some(clock) = &self.on {
            self.under_way = Some((name, clock.now()));
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
    fn stages_that_are_entered_end_at_the_next() {
        let mut clock = SampleClock::on();
        clock.begin_sample();
        for name in ["open", "read", "open"] {
            clock.enter(name);
            std::thread::sleep(Duration::from_millis(2));
        }
        clock.leave();
        clock.leave();
        let stages = clock.take_stages();
        let names: Vec<_> = stages.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["open", "read"]);
        assert!(stages[0].1[0] >= Nanos::from_millis(4));
        assert!(stages[1].1[0] >= Nanos::from_millis(2));
    }

    #[test]
    fn stages_are_kept_by_sample() {
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
