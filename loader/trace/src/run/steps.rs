//! The lengths of the training steps.

use crate::column::Column;
use crate::step::{AsideKind, Before, Uncounted};
use crate::{Nanos, Sums};

/// The lengths of the training steps that are over, and what of them does not count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Steps {
    /// Of the first so many steps: their time in the stage *training*, and the longest of them.
    lengths: Column<(Nanos, Nanos)>,
    /// Since when so much does not count.
    uncounted: Column<(Nanos, Uncounted)>,
}

impl Steps {
    pub(super) fn record(&mut self, took: Nanos) {
        let (sum, longest) = self.lengths.last().copied().unwrap_or_default();
        self.lengths.push((sum + took, longest.max(took)));
    }

    /// Time that does not count, known at `at`.
    pub(super) fn leave_out(&mut self, at: Nanos, more: &Uncounted) {
        if *more == Uncounted::default() {
            return;
        }
        let mut sum = self.uncounted();
        sum.add(more);
        self.uncounted.push((at, sum));
    }

    /// Hides all but the first `count`, and what became known after `at`.
    pub(super) fn show(&mut self, count: usize, at: Nanos) {
        self.lengths.show(count);
        let known = self.uncounted.all().partition_point(|(t, _)| *t <= at);
        self.uncounted.show(known);
    }

    /// Hides nothing.
    pub(super) fn show_all(&mut self) {
        self.lengths.show_all();
        self.uncounted.show_all();
    }

    /// Number and length of the steps so far, with those in `past`.
    pub(super) fn before(&self, past: Option<&Sums>) -> Before {
        let mut before = Before {
            count: self.lengths.len() as u64,
            time: self.in_stage() - self.uncounted().in_steps,
        };
        if let Some(past) = past {
            let counts = past.steps.iter().map(|(_, count, _)| count);
            before.count = counts.fold(before.count, u64::saturating_add);
            before.time = before.time + past.steps.sum() - past.uncounted;
        }
        before
    }

    /// Time of all steps that counts.
    pub(super) fn sum(&self) -> Nanos {
        let uncounted = self.uncounted();
        self.in_stage() - uncounted.in_steps + uncounted.recurring(self.lengths.len() as u64)
    }

    /// The longest time in the stage *training*.
    pub(super) fn longest(&self) -> Option<Nanos> {
        self.lengths.last().map(|(_, longest)| *longest)
    }

    /// Time of the asides of `kind`, if they are not a part of the steps.
    pub(super) fn left_out(&self, kind: AsideKind) -> Nanos {
        self.uncounted().left_out(kind, self.lengths.len() as u64)
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

    /// Memory, bytes.
    pub(super) fn bytes(&self) -> usize {
        self.lengths.capacity() * size_of::<(Nanos, Nanos)>()
            + self.uncounted.capacity() * size_of::<(Nanos, Uncounted)>()
    }
}
