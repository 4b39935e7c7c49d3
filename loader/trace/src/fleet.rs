//! The runs of a session on one clock: the loaders of a program and of its ranks.

use std::collections::BTreeMap;

use crate::{Activity, Event, Lane, Nanos, Past, Run, RunId};

mod names;

pub use names::{group_names, name, names, place};

/// All runs of a session, by id.
#[derive(Clone, Debug, Default)]
pub struct Fleet {
    /// Runs in order of their ids.
    runs: Vec<(RunId, Box<Run>)>,
    /// Number of ignored events of runs beyond [`Fleet::MAX_RUNS`].
    left_out: u64,
    /// Position of the previous event's run, which is usually also the run of the next event.
    last: usize,
}

impl Fleet {
    /// Maximum number of runs. A program has far fewer loaders, but a damaged file can name any number.
    pub const MAX_RUNS: usize = 4096;

    /// Creates a fleet of separate runs. If several have the same id, the last one is kept.
    pub fn of(runs: impl IntoIterator<Item = (RunId, Run)>) -> Self {
        let runs: BTreeMap<RunId, Run> = runs.into_iter().collect();
        let runs = runs.into_iter();
        Self {
            runs: runs.map(|(id, run)| (id, Box::new(run))).collect(),
            ..Self::default()
        }
    }

    /// Applies an event to its run, which is created with its first event.
    pub fn apply(&mut self, event: &Event) {
        if self
            .runs
            .get(self.last)
            .is_none_or(|(id, _)| *id != event.run)
        {
            self.last = match self.runs.binary_search_by_key(&event.run, |(id, _)| *id) {
                Ok(at) => at,
                Err(_) if self.runs.len() >= Self::MAX_RUNS => {
                    self.left_out += 1;
                    return;
                }
                Err(at) => {
                    self.runs.insert(at, (event.run, Box::default()));
                    at
                }
            };
        }
        if let Some((_, run)) = self.runs.get_mut(self.last) {
            run.apply(event);
        }
    }

    /// Returns the number of ignored events of runs beyond [`Fleet::MAX_RUNS`].
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Returns all runs, by id.
    pub fn runs(&self) -> impl ExactSizeIterator<Item = (RunId, &Run)> {
        self.runs.iter().map(|(id, run)| (*id, &**run))
    }

    /// Returns the run with this id.
    pub fn get(&self, id: RunId) -> Option<&Run> {
        let at = self.runs.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        self.runs.get(at).map(|(_, run)| &**run)
    }

    /// Returns the number of applied events.
    pub fn events(&self) -> u64 {
        self.runs.iter().map(|(_, run)| run.events()).sum()
    }

    /// Marks all runs as completely read, even if their last events are missing.
    pub fn close(&mut self) {
        self.runs.iter_mut().for_each(|(_, run)| run.close());
    }

    /// Returns the run to show first: among runs with batches, the one with the longest total wait, otherwise the first run.
    pub fn longest_waiting(&self) -> Option<RunId> {
        let loaded = self.runs.iter().filter(|(_, r)| !r.batches().is_empty());
        let longest_waiting = loaded.max_by_key(|(id, run)| (run.waited(), std::cmp::Reverse(*id)));
        longest_waiting.or(self.runs.first()).map(|(id, _)| *id)
    }

    /// Returns all runs as separate values.
    pub fn into_runs(self) -> impl Iterator<Item = (RunId, Run)> {
        self.runs.into_iter().map(|(id, run)| (id, *run))
    }
}

/// Returns the interval from the earliest start to the latest end of `runs`, including hidden events. A run starts with its first epoch, or
/// with its first full detail.
pub fn extent<'a>(runs: impl IntoIterator<Item = &'a Run>) -> Option<(Nanos, Nanos)> {
    let extent_of = |run: &Run| {
        let kept = run.past().and_then(Past::until);
        let start = run.whole().start()?;
        let start = start.max(kept.unwrap_or(start));
        // A run can end before its full detail begins.
        Some((start, run.whole().end().max(start)))
    };
    let all = runs.into_iter().filter_map(extent_of);
    all.reduce(|(a, b), (c, d)| (a.min(c), b.max(d)))
}

/// Returns the readiness of a run in `parts` equal parts of `start..end`: 1 if the trainer never waited, 0 if it only waited. An entry is
/// `None` if the trainer neither waited nor trained.
pub fn readiness(run: &Run, start: Nanos, end: Nanos, parts: usize) -> Vec<Option<f32>> {
    let length = i128::from((end - start).0.max(0));
    let at = |k: usize| start + Nanos((length * k as i128 / parts.max(1) as i128) as i64);
    let part = |k: usize| {
        let spent = run.spent(Lane::Trainer, at(k), at(k + 1));
        let (waits, trains) = (
            spent.time_in(Activity::Waiting),
            spent.time_in(Activity::Training),
        );
        let busy = (waits + trains).0;
        (busy > 0).then(|| (trains.0 as f64 / busy as f64) as f32)
    };
    (0..parts).map(part).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{BatchId, EventKind, RunInfo, Stage};

    /// Adds a rank that trains for 10 ms per batch and waits `waits` ms for each batch.
    fn rank(fleet: &mut Fleet, rank: u32, waits: &[i64]) {
        let mut now = 0;
        let mut tell = |ms: i64, kind| {
            now += ms;
            fleet.apply(&Event {
                at: Nanos::from_millis(now),
                run: RunId(rank),
                kind,
            });
        };
        let info = RunInfo {
            rank,
            world_size: 4,
            ..RunInfo::default()
        };
        tell(0, EventKind::RunStarted(Box::new(info)));
        tell(0, EventKind::EpochStarted { epoch: 0 });
        for (idx, wait) in waits.iter().enumerate() {
            let batch = BatchId {
                epoch: 0,
                idx: idx as u32,
            };
            tell(0, EventKind::dispatched(batch, None, [idx as u64]));
            tell(0, EventKind::Consumer { waiting: true });
            let enter = |stage| EventKind::Entered { batch, stage };
            tell(0, enter(Stage::Fetching));
            tell(*wait, enter(Stage::Training));
            tell(10, enter(Stage::Done));
        }
        tell(0, EventKind::EpochEnded { epoch: 0 });
        tell(0, EventKind::RunEnded);
    }

    #[test]
    fn runs_above_the_limit_are_left_out_and_counted() {
        let mut fleet = Fleet::default();
        let many = Fleet::MAX_RUNS as u32 + 10;
        for id in (0..many).rev() {
            let (at, run) = (Nanos(1), RunId(id));
            let kind = EventKind::EpochStarted { epoch: 0 };
            fleet.apply(&Event { at, run, kind });
        }
        assert_eq!(
            (fleet.runs().len(), fleet.left_out()),
            (Fleet::MAX_RUNS, 10)
        );
    }

    #[test]
    fn the_foremost_run_waited_longest() {
        let mut fleet = Fleet::default();
        (0..3).for_each(|k| rank(&mut fleet, k, &[if k == 1 { 10 } else { 2 }; 5]));
        assert_eq!(fleet.longest_waiting(), Some(RunId(1)));
    }

    #[test]
    fn an_empty_fleet_has_no_foremost_run_and_no_extent() {
        assert_eq!(Fleet::default().longest_waiting(), None);
        assert_eq!(extent([&Run::default()]), None);
        assert_eq!(
            readiness(&Run::default(), Nanos(5), Nanos(3), 2),
            [None, None]
        );
    }

    proptest! {
        /// Readiness of the parts adds up to readiness of the whole.
        #[test]
        fn readiness_of_parts_adds_up_to_the_whole(waits in prop::collection::vec(0i64..50, 1..40), parts in 1usize..30) {
            let mut fleet = Fleet::default();
            rank(&mut fleet, 0, &waits);
            let run = fleet.get(RunId(0)).unwrap();
            let (start, end) = extent([run]).unwrap();
            let whole = readiness(run, start, end, 1)[0].unwrap();
            let length = (end - start).0 as f64;
            let mut trained = 0.0;
            for (k, part) in readiness(run, start, end, parts).into_iter().enumerate() {
                let at = |k: usize| (length * k as f64 / parts as f64).floor();
                trained += f64::from(part.unwrap_or(0.0)) * (at(k + 1) - at(k));
            }
            prop_assert!((trained / length - f64::from(whole)).abs() < 1e-3);
        }
    }
}
