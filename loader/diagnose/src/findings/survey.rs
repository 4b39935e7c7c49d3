//! Measures a run once, for all findings.

use std::collections::HashSet;

use super::{Severity, WaitSummary};
use crate::blame::each_wait;
use crate::{Blame, Cause};
use loadscope_trace::{Nanos, Run, Streams, percent};
use loadscope_words::say;

mod stage_times;
mod waited;

use stage_times::{HeldIntervals, StageTimes};
pub(super) use waited::{Kind, Waited};

/// Measurements of a whole run, as input for the findings.
#[derive(Clone, Debug)]
pub struct Survey<'a> {
    /// Measured run.
    pub run: &'a Run,
    /// Start of the first epoch, or 0 without one.
    pub start: Nanos,
    /// End of the last epoch, or the last event if that epoch has not ended.
    pub end: Nanos,
    /// Total time, waited time and longest wait.
    pub wait_summary: WaitSummary<'a>,
    /// Waited time by cause.
    pub blame: Blame,
    /// One entry per wait in [`Run::waits`], in the same order.
    pub(super) waits: Vec<Waited>,
    /// Work time per batch: fetching and collating. 0 if it was not measured.
    pub(super) work: Vec<Nanos>,
    /// Median work time per batch.
    pub(super) usual_work: Nanos,
    /// Mean work time per batch, without slow batches and without the excess time of slow samples over the median sample.
    pub(super) plain_work: Nanos,
    /// Mean work time per batch, including slow batches.
    pub(super) mean_work: Nanos,
    /// Mean collating time per collated batch.
    pub(super) collate: Nanos,
    /// Mean time per training step.
    pub step: Nanos,
    /// Mean time in the pin thread per pinned batch.
    pub(super) pin: Nanos,
    /// Number of yielded batches.
    pub(super) yielded: u64,
    /// Total time of the training steps.
    pub(super) trained: Nanos,
    /// Measurements of the samples.
    pub(super) samples: Samples,
    /// Streams of an iterable-style dataset. `None` until the streams of an epoch have ended.
    pub(super) streams: Option<Streams>,
    /// Number of simultaneous workers. 0 if the main process loads the batches.
    pub workers: usize,
}

/// Measurements of the samples of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Samples {
    /// Number of measured samples.
    pub count: u64,
    /// Number of slow samples.
    pub slow: u64,
    /// Median time per sample.
    pub usual: Nanos,
    /// Total wall time of the samples with a known CPU time.
    pub timed: Nanos,
    /// Total CPU time of the samples with a known CPU time.
    pub cpu: Nanos,
}

/// A batch is slow if its work time is more than this multiple of the median.
pub(super) const SLOW_BATCH: i64 = 3;
/// A sample is slow if its time is more than this multiple of the median, and at least [`MIN_SLOW_SAMPLE`].
pub(super) const SLOW_SAMPLE: i64 = 5;
/// Minimum time of a slow sample: 1 ms. Shorter samples matter little, even if others are much faster.
const MIN_SLOW_SAMPLE: Nanos = Nanos(1_000_000);
/// Maximum number of sample times for the median, evenly spaced. It bounds the memory for long runs.
const MAX_MEDIAN_TIMES: usize = 1 << 18;

impl<'a> Survey<'a> {
    /// Measures a run.
    pub fn of(run: &'a Run) -> Self {
        let epochs = run.epochs();
        let start = epochs.first().map_or(Nanos::ZERO, |e| e.start);
        let end = epochs.last().and_then(|e| e.end).unwrap_or(run.end());
        let stage_times = StageTimes::of(run);
        let known = stage_times.work.iter().filter(|w| w.0 > 0);
        let usual_work = median(known.copied());
        let mut survey = Self {
            run,
            start,
            end,
            wait_summary: WaitSummary::of(run),
            blame: Blame::whole(run),
            waits: Vec::new(),
            usual_work,
            plain_work: Nanos::ZERO,
            mean_work: mean(stage_times.work.iter().filter(|w| w.0 > 0)),
            work: stage_times.work,
            collate: Nanos(stage_times.collating.0 / stage_times.collated.max(1)),
            step: Nanos(run.trained().0 / stage_times.steps.max(1)),
            pin: Nanos(stage_times.pinning.0 / stage_times.pinned.max(1)),
            yielded: run.yields().all().len() as u64,
            trained: run.trained(),
            samples: Samples::of(run),
            streams: Streams::of(run),
            workers: workers(run),
        };
        survey.plain_work = survey.find_plain_work();
        survey.waits = survey.find_waits();
        survey
    }

    /// Returns the time in the loader's loop ([`Run::in_loop`]).
    pub fn total(&self) -> Nanos {
        self.wait_summary.total
    }

    /// Returns `time` as a share of [`Survey::total`], or 0 if that is 0.
    pub fn share(&self, time: Nanos) -> f64 {
        match self.total().0 {
            total if total > 0 => time.0 as f64 / total as f64,
            _ => 0.0,
        }
    }

    /// Returns the share of [`Survey::total`] in which loading delays training. Waits during the work of a device do not count.
    pub fn starved(&self) -> f64 {
        self.share(self.blame.waited) * self.wait_summary.device.idle_share()
    }

    /// Returns the severity of waits of this length. Returns `None` if they cost little.
    pub(super) fn severity(&self, cost: Nanos) -> Option<Severity> {
        Severity::of_share(self.share(cost))
    }

    /// Formats a time in the unit of [`Survey::total`], so that the times in a sentence are comparable.
    pub fn format_time(&self, time: Nanos) -> String {
        self.wait_summary.format_time(time)
    }

    /// Formats a waited time with its share: `0.86 s of waiting (71 % of the run)`.
    pub(super) fn format_cost(&self, cost: Nanos) -> String {
        let share = percent(self.share(cost));
        match self.is_loop_a_part() {
            true => say!(
                "{} of waiting ({share} of the loop)",
                self.format_time(cost)
            ),
            false => say!("{} of waiting ({share} of the run)", self.format_time(cost)),
        }
    }

    /// Formats a time that is not only waiting, with its share: `0.86 s (71 % of the run)`.
    pub(super) fn format_part(&self, part: Nanos) -> String {
        let share = percent(self.share(part));
        match self.is_loop_a_part() {
            true => say!("{} ({share} of the loop)", self.format_time(part)),
            false => say!("{} ({share} of the run)", self.format_time(part)),
        }
    }

    /// Returns true if the measured loop is only a part of the run. Texts then show shares of the loop.
    fn is_loop_a_part(&self) -> bool {
        self.wait_summary.is_loop_a_part() || self.wait_summary.is_of_the_end()
    }

    /// Returns the number of workers that load a batch per training step. Returns `None` if more than 64 are needed, or without the times.
    pub fn needed_workers(&self) -> Option<usize> {
        /// Maximum number of workers to advise.
        const MAX_WORKERS: i64 = 64;
        if self.step.0 <= 0 || self.plain_work.0 <= 0 {
            return None;
        }
        let needed = (self.plain_work.0 - 1) / self.step.0 + 1;
        (needed <= MAX_WORKERS).then_some(needed as usize)
    }

    /// Returns the maximum number of useful workers: the number of batches in the largest epoch, at least 1.
    pub(super) fn most_workers(&self) -> usize {
        let epochs = self.run.epochs().iter();
        epochs.map(|e| e.rows.len()).max().unwrap_or(1).max(1)
    }

    /// Returns true if the workers load batches more slowly than training takes them.
    pub(super) fn is_short_of_workers(&self) -> bool {
        // The tolerance is 2 %: an additional worker does not help against a smaller difference.
        let workers = self.workers.max(1) as i64;
        self.plain_work.0 as f64 > 1.02 * self.step.0.saturating_mul(workers) as f64
    }

    /// Returns the sum of `pick` over all waits.
    pub(super) fn sum(&self, pick: impl Fn(&Waited) -> Nanos) -> Nanos {
        let times = self.waits.iter().map(pick);
        times.fold(Nanos::ZERO, |sum, time| sum + time)
    }

    /// Returns the waited time that a part of the loading causes. `share` is its share of the loading time.
    pub(super) fn part_of_loading(&self, share: f64) -> Nanos {
        let working = self.sum(|w| w.working);
        Nanos((working.0 as f64 * share) as i64)
    }

    /// Returns true if the work time of the batch at `row` is more than [`SLOW_BATCH`] times the median.
    pub(super) fn is_slow(&self, row: usize) -> bool {
        let work = self.work.get(row).copied().unwrap_or_default();
        work.0 > self.usual_work.0.saturating_mul(SLOW_BATCH)
    }

    /// Returns true if a sample with this time is slow: see [`SLOW_SAMPLE`].
    pub(super) fn is_slow_sample(&self, wall: Nanos) -> bool {
        self.samples.is_slow(wall)
    }

    /// Computes [`Survey::plain_work`].
    fn find_plain_work(&self) -> Nanos {
        let rows = self.work.iter().enumerate().filter(|(_, w)| w.0 > 0);
        let plain = rows.filter_map(|(row, work)| {
            let samples = self.run.samples(row);
            if samples.len() == 0 {
                return (!self.is_slow(row)).then_some(*work);
            }
            let slow = samples.filter(|s| self.is_slow_sample(s.wall));
            let excess = slow.fold(Nanos::ZERO, |sum, s| sum + (s.wall - self.samples.usual));
            let plain = (*work - excess).max(Nanos::ZERO);
            (plain.0 <= self.usual_work.0.saturating_mul(SLOW_BATCH)).then_some(plain)
        });
        mean(&plain.collect::<Vec<_>>())
    }

    /// Measures each wait: its kind, and its time by cause.
    fn find_waits(&self) -> Vec<Waited> {
        let run = self.run;
        let mut held = HeldIntervals::of(run);
        let mut begun_epochs = HashSet::new();
        let mut waits = Vec::with_capacity(run.waits().len());
        each_wait(run, |k, row, parts| {
            let wait = &run.waits()[k];
            let end = wait.end.min(run.end());
            let is_working =
                |cause| matches!(cause, Cause::Queued | Cause::Fetching | Cause::Collating);
            let working = parts.iter().filter(|p| is_working(p.cause));
            let working = working.fold(Nanos::ZERO, |sum, p| sum + (p.end - p.start));
            let kind = match row {
                None => Kind::End,
                Some(row) if begun_epochs.insert(run.batches()[row].id.epoch) => Kind::First,
                Some(row) if self.is_slow(row) => Kind::Slow,
                Some(_) => Kind::Usual,
            };
            let time_of = |cause| {
                let parts = parts.iter().filter(|p| p.cause == cause);
                parts.fold(Nanos::ZERO, |sum, p| sum + (p.end - p.start))
            };
            let main = parts.iter().max_by_key(|p| (time_of(p.cause), p.cause));
            let fetching = parts.iter().filter(|p| p.cause == Cause::Fetching);
            let slow = fetching.map(|p| self.slow_samples_within(row, p.start, p.end));
            let by_slow_sample = |row| {
                let mut samples = run.samples(row);
                samples.any(|s| self.is_slow_sample(s.wall))
            };
            let took = end - wait.start;
            let waited = Waited {
                row,
                by_slow_sample: kind == Kind::Slow && row.is_some_and(by_slow_sample),
                took,
                kind,
                working,
                held: held.within(wait.start, end),
                in_slow_samples: slow.fold(Nanos::ZERO, |sum, t| sum + t),
                collating: time_of(Cause::Collating),
                pinning: time_of(Cause::Pinning),
                on_its_way: time_of(Cause::Returning) + time_of(Cause::IndexQueue),
                drawing: time_of(Cause::NotDispatched) + time_of(Cause::Sampling),
                main: main.map_or(Cause::End, |p| p.cause),
            };
            waits.push(waited.scaled(self.idle_share(row, took)));
        });
        waits
    }

    /// Returns the share of a wait of this length in which the device had no work, 0 to 1. Without a measurement, that of all waits.
    fn idle_share(&self, row: Option<usize>, took: Nanos) -> f64 {
        match row.and_then(|row| self.run.device_idle(row)) {
            Some(idle) => (idle.0 as f64 / took.0.max(1) as f64).min(1.0),
            None => self.wait_summary.device.idle_share(),
        }
    }

    /// Returns the time from `start` until `end` in slow samples of the batch at `row`.
    fn slow_samples_within(&self, row: Option<usize>, start: Nanos, end: Nanos) -> Nanos {
        let samples = row.into_iter().flat_map(|row| self.run.samples(row));
        let slow = samples.filter(|s| self.is_slow_sample(s.wall));
        let inside = slow.map(|s| s.end().min(end) - s.start.max(start));
        let sum = inside.fold(Nanos::ZERO, |sum, t| sum + t.max(Nanos::ZERO));
        sum.min(end - start)
    }
}

/// Returns the number of simultaneous workers: `num_workers` or, if unknown, the highest worker with a batch plus 1.
///
/// It is 0 if no batch has a worker.
fn workers(run: &Run) -> usize {
    let seen = run.batches().iter().filter_map(|b| b.worker).max();
    let seen = seen.map_or(0, |w| usize::from(w) + 1);
    match run.info.options.num_workers {
        asked if asked > 0 && seen > 0 => asked.min(usize::from(u16::MAX)),
        _ => seen,
    }
}

impl Samples {
    fn of(run: &Run) -> Self {
        let mut samples = Self::default();
        let every = run.sample_timings().len().div_ceil(MAX_MEDIAN_TIMES).max(1);
        let some = run.sample_timings().step_by(every);
        samples.usual = median(some.map(|timing| timing.wall));
        for timing in run.sample_timings() {
            samples.count += 1;
            samples.slow += u64::from(samples.is_slow(timing.wall));
            if let Some(cpu) = timing.cpu {
                samples.timed += timing.wall.max(Nanos::ZERO);
                samples.cpu += cpu.max(Nanos::ZERO);
            }
        }
        samples
    }

    fn is_slow(&self, wall: Nanos) -> bool {
        wall >= MIN_SLOW_SAMPLE && wall.0 > self.usual.0.max(1).saturating_mul(SLOW_SAMPLE)
    }

    /// Returns the CPU time per wall time. Returns `None` if it was not measured.
    pub fn cpu_share(&self) -> Option<f64> {
        (self.timed.0 > 0).then(|| self.cpu.0 as f64 / self.timed.0 as f64)
    }
}

fn mean<'a>(times: impl IntoIterator<Item = &'a Nanos>) -> Nanos {
    let (mut sum, mut count) = (0i128, 0);
    for time in times {
        sum += i128::from(time.0);
        count += 1;
    }
    Nanos(i64::try_from(sum / i128::from(count.max(1i64))).unwrap_or(i64::MAX))
}

fn median(times: impl Iterator<Item = Nanos>) -> Nanos {
    let mut times: Vec<Nanos> = times.collect();
    let middle = times.len() / 2;
    if times.is_empty() {
        return Nanos::ZERO;
    }
    *times.select_nth_unstable(middle).1
}
