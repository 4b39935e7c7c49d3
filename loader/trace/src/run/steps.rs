//! Lengths of training steps.

use strum::IntoEnumIterator as _;

use crate::step::{AsideKind, PreviousSteps, Uncounted};
use crate::{Nanos, Sums};
use loadscope_column::Column;

/// Lengths of finished training steps, and the part that does not count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Steps {
    /// Total and maximum time in the stage *training* of the first steps, by number of steps.
    lengths: Column<(Nanos, Nanos)>,
    /// Running sums of the time that does not count, with the time at which each became known.
    uncounted: Column<(Nanos, Uncounted)>,
    /// Steps before the run started again, with their time in the stage *training*.
    earlier: (PreviousSteps, Uncounted),
}

impl Steps {
    pub(super) fn record(&mut self, took: Nanos) {
        let (sum, longest) = self.lengths.last().copied().unwrap_or_default();
        self.lengths.push((sum + took, longest.max(took)));
    }

    /// Adds time that does not count, known at `at`.
    pub(super) fn leave_out(&mut self, at: Nanos, more: &Uncounted) {
        if *more == Uncounted::default() {
            return;
        }
        let mut sum = self.uncounted();
        sum.add(more);
        self.uncounted.push((at, sum));
    }

    /// Hides all but the first `count` steps, and all data that became known after `at`.
    pub(super) fn truncate(&mut self, count: usize, at: Nanos) {
        self.lengths.truncate(count);
        let known = self.uncounted.partition_point(|(t, _)| *t <= at);
        self.uncounted.truncate(known);
    }

    /// Returns the number and total length of the steps so far, including those in `past`.
    pub(super) fn before(&self, past: Option<&Sums>) -> PreviousSteps {
        let mut before = self.all();
        before.time = before.time - self.all_uncounted().in_steps;
        if let Some(past) = past {
            let counts = past.steps.iter().map(|(_, count, _)| count);
            before.count = counts.fold(before.count, u64::saturating_add);
            before.time = before.time + past.steps.sum() - past.uncounted;
        }
        before
    }

    /// Returns the time of all steps that counts.
    pub(super) fn sum(&self) -> Nanos {
        let uncounted = self.uncounted();
        let recurring = self.asides_within(&Uncounted::default(), &uncounted, true);
        self.in_stage() - uncounted.in_steps + recurring
    }

    /// Returns the longest time in the stage *training*.
    pub(super) fn longest(&self) -> Option<Nanos> {
        self.lengths.last().map(|(_, longest)| *longest)
    }

    /// Returns the time of the asides of `kind`, or 0 if they are part of the steps.
    pub(super) fn left_out(&self, kind: AsideKind) -> Nanos {
        match self.recurs(kind) {
            true => Nanos::ZERO,
            false => self.uncounted().asides[kind as usize],
        }
    }

    /// Returns the time in the stage *training* that does not count and became known in `from..until`.
    pub(super) fn uncounted_within(&self, from: Nanos, until: Nanos) -> Nanos {
        let (before, after) = (self.known_at(from), self.known_at(until));
        let recurring = self.asides_within(&before, &after, true);
        after.in_steps - before.in_steps - recurring
    }

    /// Returns the time of the asides in `from..until` that are not part of the steps.
    pub(super) fn left_out_within(&self, from: Nanos, until: Nanos) -> Nanos {
        self.asides_within(&self.known_at(from), &self.known_at(until), false)
    }

    /// Returns the time of the asides between two sums: those that are part of the steps if `recurs`, otherwise the others.
    fn asides_within(&self, before: &Uncounted, after: &Uncounted, recurs: bool) -> Nanos {
        let kinds = AsideKind::iter().filter(|kind| self.recurs(*kind) == recurs);
        kinds.fold(Nanos::ZERO, |sum, kind| {
            sum + (after.asides[kind as usize] - before.asides[kind as usize])
        })
    }

    /// Returns the steps of a run that starts again after these.
    pub(super) fn started_again(&self) -> Self {
        Self {
            earlier: (self.all(), self.all_uncounted()),
            ..Self::default()
        }
    }

    /// Returns the number of all steps, and their time in the stage *training*.
    fn all(&self) -> PreviousSteps {
        let (earlier, _) = self.earlier;
        PreviousSteps {
            count: earlier.count.saturating_add(self.lengths.len() as u64),
            time: earlier.time + self.in_stage(),
        }
    }

    fn all_uncounted(&self) -> Uncounted {
        let (_, mut all) = self.earlier;
        all.add(&self.uncounted());
        all
    }

    /// Returns true if more than half of all steps contain an aside of `kind`.
    fn recurs(&self, kind: AsideKind) -> bool {
        u64::from(self.all_uncounted().steps[kind as usize]) > self.all().count / 2
    }

    /// Returns the sums known at `time`.
    fn known_at(&self, time: Nanos) -> Uncounted {
        let known = self.uncounted.partition_point(|(at, _)| *at <= time);
        let last = known.checked_sub(1);
        let last = last.and_then(|last| self.uncounted.get(last));
        last.map(|(_, sum)| *sum).unwrap_or_default()
    }

    fn in_stage(&self) -> Nanos {
        self.lengths.last().map_or(Nanos::ZERO, |(sum, _)| *sum)
    }

    fn uncounted(&self) -> Uncounted {
        self.uncounted
            .last()
            .map(|(_, sum)| *sum)
            .unwrap_or_default()
    }

    pub(super) fn bytes(&self) -> usize {
        self.lengths.bytes() + self.uncounted.bytes()
    }
}
