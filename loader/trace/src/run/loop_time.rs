//! Time in the loader's loop. Between and within its epochs, a program also does other work, such as validating with another loader or
//! saving a checkpoint. The share of waiting in the loop must not depend on that work.

use std::collections::BTreeMap;

use strum::IntoEnumIterator as _;

use super::{Epoch, Run};
use crate::step::{Aside, AsideKind, OpenStep};
use crate::{Activity, Lane, Nanos, Origin, Past, Stage};

/// Time of the program outside of the loader's loop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeOutsideLoop {
    /// Other work in training steps. Kinds that did not occur are missing.
    pub asides: BTreeMap<AsideKind, Nanos>,
    /// Time between epochs, and after the last step of an epoch.
    pub between: Nanos,
}

impl Run {
    /// Returns the time in the loader's loop: in `iter`, in waits and in training steps. Other work of the program in a step does not
    /// count, unless most steps contain it.
    pub fn in_loop(&self) -> Nanos {
        self.waited() + self.opening() + self.trained()
    }

    /// Returns the time of the training steps. An unfinished step counts at most as the longest finished one.
    pub fn trained(&self) -> Nanos {
        if self.iterates_per_batch() {
            // The program trains between the iterators.
            let steps = self.duration() - self.waited() - self.opening() - self.in_asides();
            return steps.max(Nanos::ZERO);
        }
        let longest = self.steps.longest().unwrap_or(Nanos::MAX);
        let lasting = self.training.iter().filter_map(|&row| {
            let batch = self.batches.get(row as usize)?;
            let since = self.transitions.get(batch.last as usize)?.at;
            Some((self.last - since).min(longest))
        });
        lasting.fold(self.steps.sum(), |sum, lasts| sum + lasts)
    }

    /// Returns the part of [`Run::trained`] for the batch at `row`. Its step ends before `until`: the next yield, or [`Run::left_loop`].
    pub fn trained_on(&self, row: usize, until: Nanos) -> Nanos {
        let Some(start) = self.entered(row, Stage::Training) else {
            return Nanos::ZERO;
        };
        if self.iterates_per_batch() {
            let waited = self
                .spent(Lane::Trainer, start, until)
                .time_in(Activity::Waiting);
            let step = until - start - waited - self.steps.left_out_within(start, until);
            return step.max(Nanos::ZERO);
        }
        let took = match self.entered(row, Stage::Done) {
            Some(done) => done - start,
            None => (self.last - start).min(self.steps.longest().unwrap_or(Nanos::MAX)),
        };
        took - self.steps.uncounted_within(start, until)
    }

    /// Returns the latest possible end of an epoch's last step.
    pub fn left_loop(&self, epoch: &Epoch) -> Nanos {
        let end = epoch.end.unwrap_or(self.last);
        // The program trains between the iterators.
        let later = self.epochs.partition_point(|e| e.start <= epoch.start);
        match self.epochs.get(later) {
            Some(next) if self.iterates_per_batch() => next.start.max(end),
            _ => end,
        }
    }

    /// Returns the time between the first and last epoch that is not in [`Run::in_loop`], by kind.
    pub fn time_outside_loop(&self) -> TimeOutsideLoop {
        let between = self.duration() - self.in_loop() - self.in_asides();
        TimeOutsideLoop {
            asides: self.asides(),
            between: between.max(Nanos::ZERO),
        }
    }

    /// Returns the time of other work in training steps that does not count.
    pub(super) fn asides(&self) -> BTreeMap<AsideKind, Nanos> {
        let asides = AsideKind::iter().map(|kind| (kind, self.steps.left_out(kind)));
        asides.filter(|(_, time)| time.0 > 0).collect()
    }

    /// Returns the time of other work in training steps that does not count and became known in `from..until`.
    pub fn asides_within(&self, from: Nanos, until: Nanos) -> Nanos {
        self.steps.left_out_within(from, until)
    }

    fn in_asides(&self) -> Nanos {
        let asides = AsideKind::iter().map(|kind| self.steps.left_out(kind));
        asides.fold(Nanos::ZERO, |sum, time| sum + time)
    }

    /// Returns true if the program creates an iterator for most batches: `next(iter(loader))`.
    pub fn iterates_per_batch(&self) -> bool {
        /// Minimum number of epochs. Fewer can be inspections of single batches.
        const MIN_EPOCHS: usize = 4;
        let all = self.epochs.len();
        all >= MIN_EPOCHS && self.singles.len() > all / 2
    }

    /// Returns the number of epochs that yielded only one of several batches.
    pub fn single_batch_epochs(&self) -> usize {
        self.singles.len()
    }

    /// Returns the time from the first epoch, or from the start of complete data, to the end of the last epoch.
    fn duration(&self) -> Nanos {
        let (Some(first), Some(last)) = (self.epochs.first(), self.epochs.last()) else {
            return Nanos::ZERO;
        };
        let kept = self.past().and_then(Past::until).unwrap_or(first.start);
        last.end.unwrap_or(self.last) - first.start.max(kept)
    }

    /// Begins the step on a yielded batch.
    pub(super) fn begin_step(&mut self, at: Nanos, row: u32) {
        let past = self.past.as_ref().map(|past| past.total());
        let batch = self.batches[row as usize].id;
        self.step = Some(OpenStep::new(batch, at, self.steps.before(past)));
    }

    /// Ends the stage *training* of a batch.
    pub(super) fn end_step(&mut self, at: Nanos, row: u32, since: Nanos) {
        self.steps.record(at - since);
        if let Some(step) = &mut self.step {
            step.done(self.batches[row as usize].id, at);
        }
    }

    /// Records other work of the program in the step.
    pub(super) fn apply_aside(&mut self, at: Nanos, aside: &Aside) {
        if let Some(step) = &mut self.step {
            let uncounted = step.aside(at, aside);
            self.steps.leave_out(at, &uncounted);
        }
    }

    /// Ends the step at a call of `next`.
    pub(super) fn end_step_at_next(&mut self, at: Nanos) {
        if let Some(step) = self.step.take() {
            let uncounted = step.end_at_next(at, self.training_ends_at_next());
            self.steps.leave_out(at, &uncounted);
        }
    }

    /// Ends the step at the end of an epoch.
    pub(super) fn leave_loop(&mut self, at: Nanos, epoch: u32) {
        if let Some(step) = self.step.take_if(|step| step.batch().epoch == epoch) {
            let uncounted = step.end_at_loop_end(at, self.training_ends_at_next());
            self.steps.leave_out(at, &uncounted);
            let of_epoch = self.epoch_at.get(&epoch).map(|at| &self.epochs[*at]);
            let is_single = |epoch: &Epoch| {
                let all = self.info.batches_per_epoch;
                let has_more = epoch.rows.len() > 1 || all.is_some_and(|all| all > 1);
                has_more && self.yielded_one(epoch)
            };
            if of_epoch.is_some_and(is_single) {
                self.singles.push(at);
            }
        }
    }

    /// Returns true if the stage *training* ends before the call of `next` only when the program uses another loader.
    fn training_ends_at_next(&self) -> bool {
        matches!(self.info.origin, Origin::Pytorch(_))
    }

    /// Returns the time in `iter`, which starts workers and sends their first tasks.
    pub fn opening(&self) -> Nanos {
        self.openings.last().map_or(Nanos::ZERO, |(_, sum)| *sum)
    }

    /// Returns the time in `iter` of the iterators whose first `next` was called in `from..until`.
    pub fn opening_within(&self, from: Nanos, until: Nanos) -> Nanos {
        let sum = |time: Nanos| {
            let before = self.openings.partition_point(|(at, _)| *at <= time);
            let last = before
                .checked_sub(1)
                .and_then(|last| self.openings.get(last));
            last.map_or(Nanos::ZERO, |(_, sum)| *sum)
        };
        sum(until) - sum(from)
    }

    /// Records the creation of an iterator. The iterator sends tasks until the first call of `next`.
    pub(super) fn open_epoch(&mut self, at: Nanos) {
        self.opened = Some((at, at));
    }

    /// Records the time of the latest task that `iter` dispatched.
    pub(super) fn note_dispatch(&mut self, at: Nanos) {
        if let Some((_, last)) = &mut self.opened {
            *last = at;
        }
    }

    /// Ends the time in `iter` at the first call of `next`.
    pub(super) fn end_opening(&mut self, at: Nanos) {
        if let Some((start, last)) = self.opened.take() {
            let sum = self.opening() + (last - start);
            self.openings.push((at, sum));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BatchId, Event, EventKind, RunId};

    /// Returns a run with waits of 10 and these training steps. Its epoch ends `pause` after the last step.
    fn run(steps: &[i64], pause: i64) -> Run {
        let mut run = Run::default();
        let mut at = 0;
        let mut tell = |at: i64, kind| {
            run.apply(&Event {
                at: Nanos(at),
                run: RunId(0),
                kind,
            });
        };
        tell(at, EventKind::EpochStarted { epoch: 0 });
        for (idx, step) in steps.iter().enumerate() {
            let batch = BatchId {
                epoch: 0,
                idx: idx as u32,
            };
            let enter = |stage| EventKind::Entered { batch, stage };
            tell(at, EventKind::dispatched(batch, Some(0), [1]));
            tell(at + 5, EventKind::Consumer { waiting: true });
            at += 15;
            tell(at, enter(Stage::Training));
            at += step;
            tell(at, enter(Stage::Done));
        }
        tell(at + pause, EventKind::EpochEnded { epoch: 0 });
        run
    }

    #[test]
    fn time_outside_the_loop_does_not_count() {
        let short = run(&[100; 8], 0);
        let long = run(&[100; 8], 1_000_000);
        assert_eq!(short.in_loop(), Nanos(8 * 110));
        assert_eq!(short.in_loop(), long.in_loop());
    }

    #[test]
    fn a_long_step_counts_in_full() {
        let mut steps = vec![100; 31];
        steps.push(15_000);
        let run = run(&steps, 0);
        assert_eq!(run.in_loop(), Nanos(32 * 10 + 31 * 100 + 15_000));
        // The program calls `next` 5 after `iter`, and 5 after each step.
        let out = TimeOutsideLoop {
            between: Nanos(32 * 5),
            ..TimeOutsideLoop::default()
        };
        assert_eq!(run.time_outside_loop(), out);
    }
}
