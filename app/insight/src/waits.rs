//! Which waits of the trainer are long enough to be pointed out in red, and what they come to.

use loadscope_diagnose::Glance;
use loadscope_trace::{Nanos, Run, Stage, Wait};

/// A wait that is shorter costs nothing that could be seen: it is not marked in red.
pub const LONG: Nanos = Nanos::from_millis(1);

/// The wait that ended with the batch at `row`, or with the error in its place.
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

/// An instant towards the end of the longest wait, where most of what finishes meanwhile has finished. A look at every wait.
pub fn in_longest(run: &Run) -> Option<Nanos> {
    let wait = *run.waits().get(Glance::of(run).longest?)?;
    let length = wait.end.min(run.end()) - wait.start;
    (length > Nanos::ZERO).then(|| wait.start + Nanos(length.0 - length.0 / 4))
}

/// The instant at which one begins to look at a recording: its end is where nothing moves any more, so it is where it failed, or else in
/// the longest wait.
pub fn point_of_interest(run: &Run) -> Option<Nanos> {
    let failed = run.failure().map(|(at, _)| at);
    failed.or_else(|| in_longest(run))
}

/// What the long waits of a run come to until any instant, kept up with the run as it grows.
#[derive(Clone, Debug, Default)]
pub struct LongWaits {
    /// Which run.
    run: u64,
    /// Waits that were looked at.
    seen: usize,
    /// When the long ones began and ended.
    starts: Vec<Nanos>,
    ends: Vec<Nanos>,
    /// What all of them until then come to.
    sums: Vec<i64>,
    /// Since when the trainer waits now.
    open: Option<Nanos>,
}

impl LongWaits {
    /// Takes in what `run`, which has this number, has got since the last call; costs nothing if that is nothing.
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

    /// What they come to between two instants.
    pub fn between(&self, start: Nanos, end: Nanos) -> Nanos {
        self.until(end) - self.until(start)
    }

    /// True if a long wait is under way at `t`.
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

    /// Waits that begin and end at these times, µs.
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
    fn another_run_is_begun_anew() {
        let mut long = LongWaits::default();
        long.follow(1, &run(&[(0, Some(9_000))]));
        long.follow(2, &run(&[(0, Some(10))]));
        assert_eq!(
            long.between(Nanos::ZERO, Nanos::from_millis(20)),
            Nanos::ZERO
        );
    }
}
