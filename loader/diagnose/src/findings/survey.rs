//! What is known about a run as a whole: what the findings look at.

use std::collections::HashSet;

use super::Glance;
use crate::blame::each_wait;
use crate::{Blame, Cause};
use loadscope_trace::{Nanos, Run, Streams, percent};
use loadscope_words::say;

mod spent;

use spent::{Held, Spent};

/// What is known about a run as a whole.
#[derive(Clone, Debug)]
pub struct Survey<'a> {
    /// The run.
    pub run: &'a Run,
    /// The beginning of the first epoch.
    pub start: Nanos,
    /// The end of the last epoch, or the last event.
    pub end: Nanos,
    /// The run at a glance.
    pub glance: Glance<'a>,
    /// What the trainer's waiting comes to.
    pub blame: Blame,
    /// The waits, one for each of [`Run::waits`].
    pub(super) waits: Vec<Waited>,
    /// For each batch what it took its worker: fetching and collating.
    pub(super) work: Vec<Nanos>,
    /// The median of it.
    pub(super) usual_work: Nanos,
    /// The mean of it, without slow batches and without what slow samples took more than others.
    pub(super) plain_work: Nanos,
    /// The mean of it, of all batches.
    pub(super) mean_work: Nanos,
    /// Mean time of collating, of batches that were collated.
    pub(super) collate: Nanos,
    /// Mean time of a training step.
    pub(super) step: Nanos,
    /// Mean time in the pin thread, of batches that were there.
    pub(super) pin: Nanos,
    /// Batches yielded.
    pub(super) yielded: u64,
    /// How long their training steps took together.
    pub(super) trained: Nanos,
    /// The samples.
    pub(super) samples: Samples,
    /// The streams of an iterable-style dataset, once they have ended.
    pub(super) streams: Option<Streams>,
    /// Workers that there were at a time.
    pub workers: usize,
}

/// What kind of wait it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// For the first batch of an epoch.
    First,
    /// For a batch that took its worker much longer than others.
    Slow,
    /// For any other batch.
    Usual,
    /// For none.
    End,
}

/// A wait as the findings see it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waited {
    /// Position of the awaited batch.
    pub row: Option<usize>,
    /// How long it lasted.
    pub took: Nanos,
    /// What kind it is.
    pub kind: Kind,
    /// How much of it the worker of the batch is to blame for: it worked on it, or on one before it.
    pub working: Nanos,
    /// For how much of it other batches were finished and held behind the awaited one.
    pub held: Nanos,
    /// How much of it passed in samples that took much longer than others.
    pub in_slow_samples: Nanos,
    /// Its batch is slow because of such a sample.
    pub by_slow_sample: bool,
    /// How much of it passed while it was put together.
    pub collating: Nanos,
    /// How much of it passed in the pin thread.
    pub pinning: Nanos,
    /// How much of it passed while its indices or the batch itself were on their way between processes.
    pub on_its_way: Nanos,
    /// How much of it passed while the main thread drew indices.
    pub drawing: Nanos,
    /// What is to blame for most of it.
    pub main: Cause,
}

/// The samples of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Samples {
    /// How many were measured.
    pub count: u64,
    /// How many of them took much longer than others.
    pub slow: u64,
    /// The median of their times.
    pub usual: Nanos,
    /// Wall time of those of which the processor time is known.
    pub timed: Nanos,
    /// Processor time of these.
    pub cpu: Nanos,
}

/// A batch is slow if it took more than so many times the median.
pub(super) const SLOW_BATCH: i64 = 3;
/// A sample is slow if it took more than so many times the median.
pub(super) const SLOW_SAMPLE: i64 = 5;
/// What is shorter than this is quick, however much quicker others are.
const SLOWEST_QUICK: Nanos = Nanos(1_000_000);
/// Medians are taken of so many at most, evenly chosen.
const MEDIAN_OF: usize = 1 << 18;

impl<'a> Survey<'a> {
    /// Looks at a whole run.
    pub fn of(run: &'a Run) -> Self {
        let epochs = run.epochs();
        let start = epochs.first().map_or(Nanos::ZERO, |e| e.start);
        let end = epochs.last().and_then(|e| e.end).unwrap_or(run.end());
        let spent = Spent::of(run);
        let known = spent.work.iter().filter(|w| w.0 > 0);
        let usual_work = median(known.copied());
        let mut survey = Self {
            run,
            start,
            end,
            glance: Glance::of(run),
            blame: Blame::whole(run),
            waits: Vec::new(),
            usual_work,
            plain_work: Nanos::ZERO,
            mean_work: mean(spent.work.iter().filter(|w| w.0 > 0)),
            work: spent.work,
            collate: Nanos(spent.collating.0 / spent.collated.max(1)),
            step: Nanos(run.trained().0 / spent.trained.max(1)),
            pin: Nanos(spent.pinning.0 / spent.pinned.max(1)),
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

    /// How long the program was in the loader's loop ([`Run::in_loop`]).
    pub fn total(&self) -> Nanos {
        self.glance.total
    }

    /// A time as a share of that.
    pub fn share(&self, time: Nanos) -> f64 {
        match self.total().0 {
            total if total > 0 => time.0 as f64 / total as f64,
            _ => 0.0,
        }
    }

    /// A time with the unit in which the whole is best told: the parts of a sentence are to be compared.
    pub fn say(&self, time: Nanos) -> String {
        self.glance.say(time)
    }

    /// A cost in time and as a share: `0.86 s of waiting (71 % of the run)`.
    pub(super) fn say_cost(&self, cost: Nanos) -> String {
        let share = percent(self.share(cost));
        match self.is_of_loop() {
            true => say!("{} of waiting ({share} of the loop)", self.say(cost)),
            false => say!("{} of waiting ({share} of the run)", self.say(cost)),
        }
    }

    /// A part of the run in time and as a share, where not all of it is waiting: `0.86 s (71 % of the run)`.
    pub(super) fn say_part(&self, part: Nanos) -> String {
        let share = percent(self.share(part));
        match self.is_of_loop() {
            true => say!("{} ({share} of the loop)", self.say(part)),
            false => say!("{} ({share} of the run)", self.say(part)),
        }
    }

    /// True if shares are of the time in the loop, which is only a part of the run.
    fn is_of_loop(&self) -> bool {
        self.glance.is_loop_a_part() || self.glance.is_of_the_end()
    }

    /// Workers that it would take to make a batch in the time of a training step; `None` if no number would do.
    pub fn needed_workers(&self) -> Option<usize> {
        /// More is no advice.
        const MOST: i64 = 64;
        if self.step.0 <= 0 || self.plain_work.0 <= 0 {
            return None;
        }
        let needed = (self.plain_work.0 - 1) / self.step.0 + 1;
        (needed <= MOST).then_some(needed as usize)
    }

    /// More workers than batches in an epoch have nothing to do.
    pub(super) fn most_workers(&self) -> usize {
        let epochs = self.run.epochs().iter();
        epochs.map(|e| e.rows.len()).max().unwrap_or(1).max(1)
    }

    /// True if the workers cannot make batches as fast as the trainer takes them.
    pub(super) fn is_short_of_workers(&self) -> bool {
        // Two per cent more or less is nothing that a worker more would help against.
        let workers = self.workers.max(1) as i64;
        self.plain_work.0 as f64 > 1.02 * self.step.0.saturating_mul(workers) as f64
    }

    /// What waits of some kind come to.
    pub(super) fn sum(&self, pick: impl Fn(&Waited) -> Nanos) -> Nanos {
        let times = self.waits.iter().map(pick);
        times.fold(Nanos::ZERO, |sum, time| sum + time)
    }

    /// True if a batch took its worker much longer than others.
    pub(super) fn is_slow(&self, row: usize) -> bool {
        let work = self.work.get(row).copied().unwrap_or_default();
        work.0 > self.usual_work.0.saturating_mul(SLOW_BATCH)
    }

    /// A sample that took much longer than others.
    pub(super) fn is_slow_sample(&self, wall: Nanos) -> bool {
        self.samples.is_slow(wall)
    }

    /// The mean of what batches take without slow ones and without slow samples.
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

    fn find_waits(&self) -> Vec<Waited> {
        let run = self.run;
        let mut held = Held::of(run);
        let mut begun = HashSet::new();
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
                Some(row) if begun.insert(run.batches()[row].id.epoch) => Kind::First,
                Some(row) if self.is_slow(row) => Kind::Slow,
                Some(_) => Kind::Usual,
            };
            let of = |cause| {
                let parts = parts.iter().filter(|p| p.cause == cause);
                parts.fold(Nanos::ZERO, |sum, p| sum + (p.end - p.start))
            };
            let main = parts.iter().max_by_key(|p| (of(p.cause), p.cause));
            let fetching = parts.iter().filter(|p| p.cause == Cause::Fetching);
            let slow = fetching.map(|p| self.slow_samples_within(row, p.start, p.end));
            let by_slow_sample = |row| {
                let mut samples = run.samples(row);
                samples.any(|s| self.is_slow_sample(s.wall))
            };
            waits.push(Waited {
                row,
                by_slow_sample: kind == Kind::Slow && row.is_some_and(by_slow_sample),
                took: end - wait.start,
                kind,
                working,
                held: held.within(wait.start, end),
                in_slow_samples: slow.fold(Nanos::ZERO, |sum, t| sum + t),
                collating: of(Cause::Collating),
                pinning: of(Cause::Pinning),
                on_its_way: of(Cause::Returning) + of(Cause::IndexQueue),
                drawing: of(Cause::NotDispatched) + of(Cause::Sampling),
                main: main.map_or(Cause::End, |p| p.cause),
            });
        });
        waits
    }

    fn slow_samples_within(&self, row: Option<usize>, start: Nanos, end: Nanos) -> Nanos {
        let samples = row.into_iter().flat_map(|row| self.run.samples(row));
        let slow = samples.filter(|s| self.is_slow_sample(s.wall));
        let inside = slow.map(|s| s.end().min(end) - s.start.max(start));
        let sum = inside.fold(Nanos::ZERO, |sum, t| sum + t.max(Nanos::ZERO));
        sum.min(end - start)
    }
}

/// Workers that there were at a time: as asked for, or as were seen.
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
        let every = run.sample_timings().len().div_ceil(MEDIAN_OF).max(1);
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
        wall >= SLOWEST_QUICK && wall.0 > self.usual.0.max(1).saturating_mul(SLOW_SAMPLE)
    }

    /// Processor time per wall time; `None` if it was not measured.
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
