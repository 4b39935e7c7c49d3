//! Counters over time, from the same running sums as the timeline: exact means per bucket, however many events there were.

use crate::{Lane, Nanos, Run, Shares, Spans};

/// A quantity that changes over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Counter {
    /// Batches in a lane: the depth of a queue, the batches in the reorder buffer, 0 or 1 for a worker.
    In(Lane),
    /// Batches dispatched and not yet received: PyTorch's `_tasks_outstanding`.
    TasksOutstanding,
    /// Finished batches that lie behind a missing one.
    Held,
    /// 1 while the trainer waits, 0 while it works.
    Waiting,
    /// Batches handed to the trainer, per second.
    BatchesPerSecond,
}

impl Run {
    /// The mean of `counter` in each of `buckets` equal parts of `start..end`.
    pub fn counter(&self, counter: Counter, start: Nanos, end: Nanos, buckets: usize) -> Vec<f64> {
        let length = (end.0.saturating_sub(start.0)).max(1) as f64 / buckets.max(1) as f64;
        let edge = |k: usize| Nanos(start.0.saturating_add((length * k as f64).round() as i64));
        let mut before = self.amount(counter, edge(0));
        (1..=buckets)
            .map(|k| {
                let after = self.amount(counter, edge(k));
                let mean = (after - before) / length;
                before = after;
                mean
            })
            .collect()
    }

    /// What `counter` has added up to until `t`: batch-nanoseconds, or for the throughput billions of batches.
    fn amount(&self, counter: Counter, t: Nanos) -> f64 {
        use crate::Activity as A;
        let sum = |pick: &dyn Fn(Lane) -> bool, time: &dyn Fn(&Shares) -> Nanos| -> f64 {
            let lanes = self.lanes.iter().filter(|(lane, _)| pick(**lane));
            let tracks = lanes.flat_map(|(_, rows)| rows.iter());
            let until = |spans: &Spans| time(&spans.until(t.min(self.last))).0 as f64;
            tracks.map(until).sum()
        };
        match counter {
            Counter::In(lane) => sum(&|l| l == lane, &Shares::total),
            Counter::TasksOutstanding => self.tasks_outstanding().area(t.min(self.last)) as f64,
            Counter::Held => sum(&|l| l == Lane::Reorder, &|s| s.of(A::Held)),
            Counter::Waiting => sum(&|l| l == Lane::Trainer, &|s| s.of(A::Waiting)),
            Counter::BatchesPerSecond => {
                // Half-open like the spans: what happens at an edge belongs to the bucket after it.
                let yielded = self.yields.before(t);
                yielded as f64 * 1e9
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BatchId, Event, EventKind, RunId, Stage};

    #[test]
    fn means_are_exact() {
        let mut run = Run::default();
        let id = |idx| BatchId { epoch: 0, idx };
        let enter = |idx, stage| EventKind::Entered {
            batch: id(idx),
            stage,
        };
        for (at, kind) in [
            (0, EventKind::EpochStarted { epoch: 0 }),
            (0, EventKind::dispatched(id(0), Some(0), [0])),
            (0, EventKind::dispatched(id(1), Some(0), [1])),
            (0, EventKind::Consumer { waiting: true }),
            (50, enter(1, Stage::Held)),
            (150, enter(0, Stage::Training)),
            (200, enter(0, Stage::Done)),
            (200, enter(1, Stage::Training)),
            (400, EventKind::EpochEnded { epoch: 0 }),
        ] {
            run.apply(&Event {
                at: Nanos(at),
                run: RunId(0),
                kind,
            });
        }
        let means = |counter| run.counter(counter, Nanos(0), Nanos(400), 4);
        assert_eq!(means(Counter::TasksOutstanding), [1.5, 0.5, 0.0, 0.0]);
        assert_eq!(means(Counter::Held), [0.5, 1.0, 0.0, 0.0]);
        assert_eq!(means(Counter::Waiting), [1.0, 0.5, 0.0, 0.0]);
        assert_eq!(means(Counter::BatchesPerSecond), [0.0, 1e7, 1e7, 0.0]);
        let queue = Counter::In(Lane::IndexQueue(0));
        assert_eq!(means(queue), [1.5, 0.5, 0.0, 0.0]);
    }
}
