//! Counters over time. Running sums give exact means per bucket at a cost independent of the number of events.

use crate::{Lane, Nanos, Run, Shares};

/// Quantity that changes over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Counter {
    /// Batches in a lane: queue depth, batches in the reorder buffer, or 0 or 1 for a worker.
    In(Lane),
    /// Batches that were dispatched and not yet received, PyTorch's `_tasks_outstanding`.
    TasksOutstanding,
    /// Finished batches that are held until an earlier batch arrives.
    Held,
    /// 1 while the trainer waits, 0 while it works.
    Waiting,
    /// Batches that the trainer receives per second.
    BatchesPerSecond,
}

impl Run {
    /// Returns the mean of `counter` in each of `buckets` equal parts of `start..end`. The cost depends on the numbers of buckets and
    /// tracks, not on the number of events.
    pub fn counter(&self, counter: Counter, start: Nanos, end: Nanos, buckets: usize) -> Vec<f64> {
        let length = (end.0.saturating_sub(start.0)).max(1) as f64 / buckets.max(1) as f64;
        let edge = |k: usize| Nanos(start.0.saturating_add((length * k as f64).round() as i64));
        let edges: Vec<Nanos> = (0..=buckets).map(edge).collect();
        let amounts = self.amounts(counter, &edges);
        let pairs = amounts.windows(2);
        pairs.map(|pair| (pair[1] - pair[0]) / length).collect()
    }

    /// Returns the integral of `counter` up to each of `edges`, in batch-nanoseconds. The throughput is in batches times 1e9.
    fn amounts(&self, counter: Counter, edges: &[Nanos]) -> Vec<f64> {
        use crate::Activity as A;
        let level = self.tasks_outstanding();
        match counter {
            Counter::In(lane) => self.times(lane, edges, Shares::total),
            Counter::Held => self.times(Lane::Reorder, edges, |s| s.time_in(A::Held)),
            Counter::Waiting => self.times(Lane::Trainer, edges, |s| s.time_in(A::Waiting)),
            Counter::TasksOutstanding => {
                let area = |t: &Nanos| level.area((*t).min(self.last)) as f64;
                edges.iter().map(area).collect()
            }
            Counter::BatchesPerSecond => {
                // Buckets are half-open like the spans: an event at an edge belongs to the later bucket.
                let yielded = |t: &Nanos| self.yields.before(*t) as f64 * 1e9;
                edges.iter().map(yielded).collect()
            }
        }
    }

    /// Returns the `time` of all rows of a lane up to each of the sorted `edges`.
    fn times(&self, lane: Lane, edges: &[Nanos], time: impl Fn(&Shares) -> Nanos) -> Vec<f64> {
        let mut sums = vec![0.0; edges.len()];
        let rows = self
            .lanes
            .get(&lane)
            .into_iter()
            .flat_map(|rows| rows.iter());
        for spans in rows {
            let (mut at, mut count) = (0, 0);
            for (sum, edge) in sums.iter_mut().zip(edges) {
                let t = (*edge).min(self.last);
                // The distance to the previous edge is a good first guess for the search.
                let next = match at {
                    0 => spans.index_after(t),
                    _ => spans.index_near(at + count, t),
                };
                (count, at) = (next.saturating_sub(at), next);
                *sum += time(&spans.until_at(at, t)).0 as f64;
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BatchId, Event, EventKind, RunId, Stage};

    #[test]
    fn counter_means_are_exact() {
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
