//! Waits of the trainer that are long enough to be shown in red, and their sums.

use loadscope_diagnose::WaitSummary;
use loadscope_trace::{Nanos, Run, Stage, Wait};

/// Minimum length of a wait that is shown in red. A shorter wait has no visible cost.
pub const LONG: Nanos = Nanos::from_millis(1);

/// Returns the wait that ended with the batch at `row`, or with the error in its place.
pub fn wait_for(run: &Run, row: usize) -> Option<Wait> {
    let yielded = run.entered(row, Stage::Training);
    let at = yielded.or_else(|| run.entered(row, Stage::Failed))?;
    let waits = run.waits();
    let first = waits.partition_point(|wait| wait.end < at);
    let same = waits
        .range(first..)
        .iter()
        .take_while(|wait| wait.end == at);
    same.copied()
        .find(|wait| wait.batch == u32::try_from(row).ok())
}

/// Returns an instant after three quarters of the longest wait, when most of the batches in flight have finished. The function reads every
/// wait.
pub fn in_longest(run: &Run) -> Option<Nanos> {
    let wait = *run.waits().get(WaitSummary::of(run).longest?)?;
    let length = wait.end.min(run.end()) - wait.start;
    (length > Nanos::ZERO).then(|| wait.start + Nanos(length.0 - length.0 / 4))
}

/// Returns the initial cursor position for a recording: the failure, or else a point in the longest wait. At the end,
/// nothing happens any more.
pub fn point_of_interest(run: &Run) -> Option<Nanos> {
    let failed = run.failure().map(|(at, _)| at);
    failed.or_else(|| in_longest(run))
}

/// Cumulative sums of the long waits of a growing run.
#[derive(Clone, Debug, Default)]
pub struct LongWaits {
    /// Number of the run.
    run: u64,
    /// Number of processed waits.
    seen: usize,
    /// Starts and ends of the long waits.
    starts: Vec<Nanos>,
    ends: Vec<Nanos>,
    /// Cumulative sums of their lengths, ns.
    sums: Vec<i64>,
    /// Start of the current wait.
    open: Option<Nanos>,
}

impl LongWaits {
    /// Processes new data of `run`. `number` identifies the run. Without new data, this is free.
    pub fn follow(&mut self, number: u64, run: &Run) {
        let waits = run.whole().waits();
        if self.run != number || waits.len() < self.seen {
            *self = Self {
                run: number,
                ..Self::default()
            };
        }
        self.open = None;
        for wait in waits.range(self.seen..) {
            if wait.end == Nanos::MAX {
                self.open = Some(wait.start);
                return;
            }
            self.seen += 1;
            if wait.end - wait.start >= LONG {
                let before = self.sums.last().copied().unwrap_or_default();
                self.sums.push(before + (wait.end - wait.start).0);
                self.starts.push(wait.start);
                self.ends.push(wait.end);
            }
        }
    }

    /// Returns the sum of long waits between two instants.
    pub fn between(&self, start: Nanos, end: Nanos) -> Nanos {
        self.until(end) - self.until(start)
    }

    /// Returns true if `t` is within a long wait.
    pub fn covers(&self, t: Nanos) -> bool {
        let at = self.ends.partition_point(|end| *end <= t);
        self.starts
            .get(at)
            .or(self.open.as_ref())
            .is_some_and(|start| *start <= t)
    }

    fn until(&self, t: Nanos) -> Nanos {
        let at = self.ends.partition_point(|end| *end <= t);
        let whole = at.checked_sub(1).map_or(0, |last| self.sums[last]);
        let part = match (self.starts.get(at), self.open) {
            (Some(start), _) => t - *start,
            (None, Some(open)) if t - open >= LONG => t - open,
            (None, _) => Nanos::ZERO,
        };
        Nanos(whole) + part.max(Nanos::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{BatchId, Event, EventKind, RunId};

    use super::*;

    /// Returns a run with waits that start and end at these times, µs.
    fn run(waits: &[(i64, Option<i64>)]) -> Run {
        let mut run = Run::default();
        let mut tell = |us: i64, kind| {
            run.apply(&Event {
                at: Nanos(us * 1_000),
                run: RunId(0),
                kind,
            });
        };
        tell(0, EventKind::EpochStarted { epoch: 0 });
        for (idx, (start, end)) in (0..).zip(waits) {
            let batch = BatchId { epoch: 0, idx };
            tell(*start, EventKind::Consumer { waiting: true });
            tell(*start, EventKind::dispatched(batch, Some(0), []));
            if let Some(end) = end {
                let stage = Stage::Training;
                tell(*end, EventKind::Entered { batch, stage });
            }
        }
        run
    }

    #[test]
    fn only_waits_of_a_millisecond_count() {
        let run = run(&[
            (0, Some(500)),
            (1_000, Some(4_000)),
            (5_000, Some(5_999)),
            (6_000, None),
        ]);
        let mut long = LongWaits::default();
        long.follow(1, &run);
        let us = |n: i64| Nanos(n * 1_000);
        assert_eq!(long.between(us(0), us(6_000)), us(3_000));
        assert_eq!(
            long.between(us(2_000), us(3_000)),
            us(1_000),
            "a part of one"
        );
        assert_eq!(long.between(us(0), us(600)), us(0));
        assert_eq!(
            long.between(us(6_000), us(6_900)),
            us(0),
            "it may still be over soon"
        );
        assert_eq!(long.between(us(6_000), us(8_000)), us(2_000), "it goes on");
        let covered = [100, 1_000, 3_999, 4_000, 5_500].map(|at| long.covers(us(at)));
        assert_eq!(covered, [false, true, true, false, false]);
    }

    #[test]
    fn a_new_run_discards_the_earlier_waits() {
        let mut long = LongWaits::default();
        long.follow(1, &run(&[(0, Some(9_000))]));
        long.follow(2, &run(&[(0, Some(10))]));
        assert_eq!(
            long.between(Nanos::ZERO, Nanos::from_millis(20)),
            Nanos::ZERO
        );
    }
}
