//! Times of batches in stages, and in the reorder buffer.

use loadscope_trace::{Activity, Lane, Nanos, Run, Spans, Stage};

/// Times of all batches in their stages.
pub(super) struct StageTimes {
    /// Work time per batch: fetching and collating.
    pub(super) work: Vec<Nanos>,
    /// Number of finished training steps.
    pub(super) steps: i64,
    /// Total collating time of the `collated` batches.
    pub(super) collating: Nanos,
    /// Number of collated batches, without those that `collating` excludes.
    pub(super) collated: i64,
    /// Total time in the pin thread.
    pub(super) pinning: Nanos,
    /// Number of pinned batches.
    pub(super) pinned: i64,
}

impl StageTimes {
    pub(super) fn of(run: &Run) -> Self {
        let mut stage_times = Self {
            work: vec![Nanos::ZERO; run.batches().len()],
            steps: 0,
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
                Stage::Fetching => stage_times.work[row] += took,
                Stage::Collating => {
                    stage_times.work[row] += took;
                    collated.push((row, took));
                }
                Stage::Training => stage_times.steps += 1,
                Stage::Pinning => {
                    stage_times.pinning += took;
                    stage_times.pinned += 1;
                }
                _ => {}
            }
        }
        // In the main process, the collating time includes the capture of batch contents, which is not part of `collate_fn`.
        // Batches with captured contents are therefore excluded, unless all have them.
        let is_plain = |(row, _): &(usize, Nanos)| run.content(*row).is_none();
        if collated.iter().any(is_plain) {
            collated.retain(is_plain);
        }
        stage_times.collated = collated.len() as i64;
        stage_times.collating = collated
            .iter()
            .fold(Nanos::ZERO, |sum, (_, took)| sum + *took);
        stage_times
    }
}

/// Intervals in which the reorder buffer held at least one batch, merged and in order of time.
pub(super) struct HeldIntervals {
    intervals: Vec<(Nanos, Nanos)>,
    /// Position of the first interval that may overlap the next call of [`HeldIntervals::within`].
    at: usize,
}

impl HeldIntervals {
    pub(super) fn of(run: &Run) -> Self {
        let mut spans = Vec::new();
        let held = run
            .rows_of(Lane::Reorder)
            .flat_map(Spans::all)
            .filter(|s| s.activity == Activity::Held);
        spans.extend(held.map(|s| (s.start, s.end.min(run.end()))));
        spans.sort_unstable();
        let mut intervals: Vec<(Nanos, Nanos)> = Vec::new();
        for (start, end) in spans {
            match intervals.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => intervals.push((start, end)),
            }
        }
        Self { intervals, at: 0 }
    }

    /// Returns the time from `start` until `end` in which a batch was held. Calls must be in order of time.
    pub(super) fn within(&mut self, start: Nanos, end: Nanos) -> Nanos {
        while self.intervals.get(self.at).is_some_and(|s| s.1 <= start) {
            self.at += 1;
        }
        let touched = self.intervals[self.at..].iter();
        let touched = touched.take_while(|s| s.0 < end);
        let times = touched.map(|s| s.1.min(end) - s.0.max(start));
        times.fold(Nanos::ZERO, |sum, time| sum + time)
    }
}
