//! How long the program was in the loader's loop. A program does other things between its epochs, and within them: it validates
//! with another loader, it saves a checkpoint. How large a share of the loop is waiting must not depend on those.

use super::Run;
use crate::Nanos;

/// A training step longer than so many times the usual one is something else: the program saved a checkpoint, or never asked
/// for another batch. Only so much of it counts.
const LONGEST_STEP: f64 = 20.0;

/// Of fewer steps none is usual.
const FEW_STEPS: u64 = 4;

/// The lengths of the training steps that are over, by powers of two.
#[derive(Clone, Debug)]
pub(crate) struct Steps {
    counts: [u64; 64],
    sums: [i64; 64],
}

impl Default for Steps {
    fn default() -> Self {
        Self {
            counts: [0; 64],
            sums: [0; 64],
        }
    }
}

impl Steps {
    pub(super) fn record(&mut self, took: Nanos) {
        let bucket = bucket(took);
        self.counts[bucket] += 1;
        self.sums[bucket] = self.sums[bucket].saturating_add(took.0.max(0));
    }

    /// The longest that a step counts with, ns.
    fn longest(&self) -> f64 {
        let all: u64 = self.counts.iter().sum();
        if all < FEW_STEPS {
            return f64::INFINITY;
        }
        let mut seen = 0;
        let median = self.counts.iter().position(|count| {
            seen += count;
            seen * 2 >= all
        });
        median.map_or(f64::INFINITY, |bucket| {
            let mean = self.sums[bucket] as f64 / self.counts[bucket].max(1) as f64;
            LONGEST_STEP * mean.max(1.0)
        })
    }

    /// All together, of steps that are too long only as much as counts; and the longest that counts.
    fn sum(&self) -> (f64, f64) {
        let longest = self.longest();
        let each = self.counts.iter().zip(&self.sums);
        let sums = each.map(|(count, sum)| (*sum as f64).min(*count as f64 * longest));
        (sums.sum(), longest)
    }
}

fn bucket(took: Nanos) -> usize {
    63 - (took.0.max(1) as u64).leading_zeros() as usize
}

impl Run {
    /// How long the program was in the loader's loop: in `iter`, in the waits, and in the training steps. Steps that are more than 20
    /// times the usual one count with 20 times that.
    pub fn in_loop(&self) -> Nanos {
        let (sum, longest) = self.steps.sum();
        let lasting = self.training.iter().filter_map(|row| {
            let batch = self.batches.get(*row as usize)?;
            let since = self.transitions.get(batch.last as usize)?.at;
            Some(((self.last - since).0 as f64).min(longest))
        });
        let steps = Nanos((sum + lasting.sum::<f64>()) as i64);
        self.waited() + self.opening + steps
    }

    /// An iterator was made; until the first `next` it hands tasks to its workers.
    pub(super) fn open_epoch(&mut self, at: Nanos) {
        self.opened = Some((at, at));
    }

    /// The last task that `iter` gave, so far.
    pub(super) fn gave_task(&mut self, at: Nanos) {
        if let Some((_, last)) = &mut self.opened {
            *last = at;
        }
    }

    /// `next` was called, so `iter` had returned.
    pub(super) fn first_asked(&mut self) {
        if let Some((start, last)) = self.opened.take() {
            self.opening += last - start;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BatchId, Event, EventKind, RunId, Stage};

    /// An epoch of `steps` after waits of 10 each; it ends `pause` after the last step.
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
    fn time_outside_of_the_loop_does_not_count() {
        let short = run(&[100; 8], 0);
        let long = run(&[100; 8], 1_000_000);
        assert_eq!(short.in_loop(), Nanos(8 * 110));
        assert_eq!(short.in_loop(), long.in_loop());
    }

    #[test]
    fn a_step_that_never_ends_counts_as_much_as_others() {
        let mut steps = vec![100; 10];
        steps[9] = 50_000_000;
        let run = run(&steps, 0);
        assert_eq!(run.in_loop(), Nanos(10 * 10 + 9 * 100 + 20 * 100));
        assert_eq!(run.waited(), Nanos(100));
    }

    #[test]
    fn of_few_steps_none_is_an_outlier() {
        let run = run(&[100, 50_000], 0);
        assert_eq!(run.in_loop(), Nanos(2 * 10 + 50_100));
    }
}
