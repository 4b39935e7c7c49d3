//! Time that batches and the reorder buffer spent.

use loadscope_trace::{Activity, Lane, Nanos, Run, Spans, Stage};

/// The time that batches spent in stages.
pub(super) struct Spent {
    pub(super) work: Vec<Nanos>,
    pub(super) trained: i64,
    pub(super) collating: Nanos,
    pub(super) collated: i64,
    pub(super) pinning: Nanos,
    pub(super) pinned: i64,
}

impl Spent {
    pub(super) fn of(run: &Run) -> Self {
        let mut spent = Self {
            work: vec![Nanos::ZERO; run.batches().len()],
            trained: 0,
            collating: Nanos::ZERO,
            collated: 0,
            pinning: Nanos::ZERO,
            pinned: 0,
        };
        let mut collated = Vec::new();
        let mut since = vec![(Stage::Queued, Nanos::ZERO); run.batches().len()];
        for t in run.transitions() {
            let row = t.batch as usize;
            let (stage, entered) = std::mem::replace(&mut since[row], (t.stage, t.at));
            let took = t.at - entered;
            match stage {
                Stage::Fetching => spent.work[row] += took,
                Stage::Collating => {
                    spent.work[row] += took;
                    collated.push((row, took));
                }
                Stage::Training => spent.trained += 1,
                Stage::Pinning => {
                    spent.pinning += took;
                    spent.pinned += 1;
                }
                _ => {}
            }
        }
        // In the main process what is kept of a batch is looked at while it is collated: that is not the function's time.
        let is_plain = |(row, _): &(usize, Nanos)| run.content(*row).is_none();
        if collated.iter().any(is_plain) {
            collated.retain(is_plain);
        }
        spent.collated = collated.len() as i64;
        spent.collating = collated
            .iter()
            .fold(Nanos::ZERO, |sum, (_, took)| sum + *took);
        spent
    }
}

/// The stretches in which batches were held, in order of time.
pub(super) struct Held {
    stretches: Vec<(Nanos, Nanos)>,
    at: usize,
}

impl Held {
    pub(super) fn of(run: &Run) -> Self {
        let mut spans = Vec::new();
        let held = run
            .rows_of(Lane::Reorder)
            .flat_map(Spans::all)
            .filter(|s| s.activity == Activity::Held);
        spans.extend(held.map(|s| (s.start, s.end.min(run.end()))));
        spans.sort_unstable();
        let mut stretches: Vec<(Nanos, Nanos)> = Vec::new();
        for (start, end) in spans {
            match stretches.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => stretches.push((start, end)),
            }
        }
        Self { stretches, at: 0 }
    }

    /// For how long batches were held from `start` until `end`; asked in order of time.
    pub(super) fn within(&mut self, start: Nanos, end: Nanos) -> Nanos {
        while self.stretches.get(self.at).is_some_and(|s| s.1 <= start) {
            self.at += 1;
        }
        let touched = self.stretches[self.at..].iter();
        let touched = touched.take_while(|s| s.0 < end);
        let times = touched.map(|s| s.1.min(end) - s.0.max(start));
        times.fold(Nanos::ZERO, |sum, time| sum + time)
    }
}
