//! Several runs of one session: the loaders of a program, and those of its ranks, on one clock.

use std::collections::BTreeMap;

use crate::{Activity, Event, Lane, Nanos, Past, Run, RunId};

mod names;

pub use names::{crew_names, name, names, place};

/// All runs of a session, by the id that their events carry.
#[derive(Clone, Debug, Default)]
pub struct Fleet {
    /// In the order of their ids.
    runs: Vec<(RunId, Box<Run>)>,
    /// Events of runs beyond [`Fleet::MOST`].
    left_out: u64,
    /// Position of the one that the last event was about: the next one is mostly about the same.
    last: usize,
}

impl Fleet {
    /// So many runs are kept: no program has more loaders, but a broken file may name any number.
    pub const MOST: usize = 4096;

    /// Of runs that were kept one by one. Of several with one id the last is kept.
    pub fn of(runs: impl IntoIterator<Item = (RunId, Run)>) -> Self {
        let runs: BTreeMap<RunId, Run> = runs.into_iter().collect();
        let runs = runs.into_iter();
        Self {
            runs: runs.map(|(id, run)| (id, Box::new(run))).collect(),
            ..Self::default()
        }
    }

    /// Takes an event in. Runs come with the first event that carries their id.
    pub fn apply(&mut self, event: &Event) {
        if self
            .runs
            .get(self.last)
            .is_none_or(|(id, _)| *id != event.run)
        {
            self.last = match self.runs.binary_search_by_key(&event.run, |(id, _)| *id) {
                Ok(at) => at,
                Err(_) if self.runs.len() >= Self::MOST => {
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

    /// Events that were left out because they are of more than [`Fleet::MOST`] runs.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// All runs, by id.
    pub fn runs(&self) -> impl ExactSizeIterator<Item = (RunId, &Run)> {
        self.runs.iter().map(|(id, run)| (*id, &**run))
    }

    /// A run.
    pub fn get(&self, id: RunId) -> Option<&Run> {
        let at = self.runs.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        self.runs.get(at).map(|(_, run)| &**run)
    }

    /// Number of events that were taken in.
    pub fn events(&self) -> u64 {
        self.runs.iter().map(|(_, run)| run.events()).sum()
    }

    /// Marks all runs as read to their end, also if their last events are missing.
    pub fn close(&mut self) {
        self.runs.iter_mut().for_each(|(_, run)| run.close());
    }

    /// The run to look at first: of those that loaded batches the one whose trainer waited longest, otherwise the first.
    pub fn foremost(&self) -> Option<RunId> {
        let loaded = self.runs.iter().filter(|(_, r)| !r.batches().is_empty());
        let foremost = loaded.max_by_key(|(id, run)| (run.waited(), std::cmp::Reverse(*id)));
        foremost.or(self.runs.first()).map(|(id, _)| *id)
    }

    /// All runs, to be kept one by one.
    pub fn into_runs(self) -> impl Iterator<Item = (RunId, Run)> {
        self.runs.into_iter().map(|(id, run)| (id, *run))
    }
}

/// From the first epoch of any of `runs`, or from where everything is kept of it, to their last event, also if these are hidden.
pub fn extent<'a>(runs: impl IntoIterator<Item = &'a Run>) -> Option<(Nanos, Nanos)> {
    let of = |run: &Run| {
        let kept = run.past().and_then(Past::until);
        let start = run.whole().start()?;
        let start = start.max(kept.unwrap_or(start));
        // A run that ended before is not in what is kept.
        Some((start, run.whole().end().max(start)))
    };
    let all = runs.into_iter().filter_map(of);
    all.reduce(|(a, b), (c, d)| (a.min(c), b.max(d)))
}

/// How ready the batches of a run were when the trainer wanted them, in `parts` equal parts of the time from `start` until
/// `end`: 1 where it never waited, 0 where it did nothing else, and nothing where it did neither.
pub fn readiness(run: &Run, start: Nanos, end: Nanos, parts: usize) -> Vec<Option<f32>> {
    let length = i128::from((end - start).0.max(0));
    let at = |k: usize| start + Nanos((length * k as i128 / parts.max(1) as i128) as i64);
    let part = |k: usize| {
        let spent = run.spent(Lane::Trainer, at(k), at(k + 1));
        let (waits, trains) = (spent.of(Activity::Waiting), spent.of(Activity::Training));
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

    /// A rank that trains for 10 ms per batch and waits `waits` ms for each batch.
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
    fn a_file_that_names_any_number_of_runs_is_kept_within_bounds() {
        let mut fleet = Fleet::default();
        let many = Fleet::MOST as u32 + 10;
        for id in (0..many).rev() {
            let (at, run) = (Nanos(1), RunId(id));
            let kind = EventKind::EpochStarted { epoch: 0 };
            fleet.apply(&Event { at, run, kind });
        }
        assert_eq!((fleet.runs().len(), fleet.left_out()), (Fleet::MOST, 10));
    }

    #[test]
    fn the_foremost_run_waited_longest() {
        let mut fleet = Fleet::default();
        (0..3).for_each(|k| rank(&mut fleet, k, &[if k == 1 { 10 } else { 2 }; 5]));
        assert_eq!(fleet.foremost(), Some(RunId(1)));
    }

    #[test]
    fn nothing_is_known_of_nothing() {
        assert_eq!(Fleet::default().foremost(), None);
        assert_eq!(extent([&Run::default()]), None);
        assert_eq!(
            readiness(&Run::default(), Nanos(5), Nanos(3), 2),
            [None, None]
        );
    }

    proptest! {
        /// What the parts say adds up to what the whole says.
        #[test]
        fn readiness_adds_up(waits in prop::collection::vec(0i64..50, 1..40), parts in 1usize..30) {
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
