//! How long the program was in the loader's loop. A program does other things between its epochs, and within them: it validates
//! with another loader, it saves a checkpoint. How large a share of the loop is waiting must not depend on those.

use super::Run;
use crate::Nanos;

impl Run {
    /// How long the program was in the loader's loop: in `iter`, in the waits, and in the training steps. Steps that are more than 20
    /// times the usual one count with 20 times that.
    pub fn in_loop(&self) -> Nanos {
        let steps = self.in_steps(self.steps.sum());
        self.waited() + self.opening() + steps
    }

    /// The same of the whole course, also of what is only known as sums.
    pub fn whole_in_loop(&self) -> Nanos {
        let Some(past) = self.past() else {
            return self.in_loop();
        };
        let past = past.total();
        let steps = self.in_steps(self.steps.sum_with(&past.steps));
        self.waited() + past.waited() + self.opening() + past.opening + steps
    }

    /// The training steps: those that are over come to `sum`, of one that lasts at most `longest` counts.
    fn in_steps(&self, (sum, longest): (f64, f64)) -> Nanos {
        let lasting = self.in_training().filter_map(|row| {
            let batch = self.batches.get(row as usize)?;
            let since = self.transitions.get(batch.last as usize)?.at;
            Some(((self.last - since).0 as f64).min(longest))
        });
        Nanos((sum + lasting.sum::<f64>()) as i64)
    }

    /// How long the program was in `iter`, where workers are started and get their first tasks.
    pub fn opening(&self) -> Nanos {
        self.openings.last().map_or(Nanos::ZERO, |(_, sum)| *sum)
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
    pub(super) fn first_asked(&mut self, at: Nanos) {
        if let Some((start, last)) = self.opened.take() {
            let sum = self.opening() + (last - start);
            self.openings.push((at, sum));
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
