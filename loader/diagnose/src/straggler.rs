//! Straggler: the rank that all other ranks wait for.

use std::collections::BTreeMap;

use loadscope_trace::{Activity, Lane, Nanos, Run, RunId};

use crate::WaitSummary;

/// Straggler among the ranks of a loader.
#[derive(Clone, Debug, PartialEq)]
pub struct Straggler {
    /// Run of the rank.
    pub run: RunId,
    /// Rank of the straggler, from 0.
    pub rank: u32,
    /// Waited time of its trainer.
    pub waited: Nanos,
    /// Median waited time of the other ranks.
    pub usual: Nanos,
    /// Cost for all ranks, as a share of the time: they wait for this rank when gradients are exchanged.
    pub share: f64,
    /// Number of epochs in which it waited longest.
    pub epochs: usize,
    /// Number of epochs that all ranks have.
    pub of_epochs: usize,
}

/// Minimum share of the time that makes a rank a straggler.
pub const STRAGGLER_SHARE: f64 = 0.05;

/// Finds the rank whose trainer waits longer for its loader than the other ranks, if the difference costs at least
/// [`STRAGGLER_SHARE`]. `runs` contains one loader on all ranks.
pub fn straggler<'a>(runs: impl IntoIterator<Item = (RunId, &'a Run)>) -> Option<Straggler> {
    // A rank without batches receives them from another rank, as with accelerate's dispatcher.
    let runs = runs
        .into_iter()
        .filter(|(_, run)| !run.yields().all().is_empty());
    let runs: Vec<(RunId, &Run)> = runs.collect();
    // A failed step on one rank delays all ranks in the next collective.
    let has_failed = runs.iter().any(|(_, run)| run.step_failure().is_some());
    if runs.len() < 2 || has_failed {
        return None;
    }
    let common = Common::of(&runs);
    let mut waits: Vec<(Nanos, RunId, &Run)> = runs
        .iter()
        .map(|(id, run)| (common.waited(run), *id, *run))
        .collect();
    waits.sort_by_key(|(waited, id, _)| (*waited, *id));
    let (waited, id, slowest) = waits.pop()?;
    let usual = waits[waits.len() / 2].0;
    let total = WaitSummary::of(slowest).total;
    let share = (waited - usual).0 as f64 / total.0.max(1) as f64;
    let of_epochs = runs.iter().map(|(_, r)| r.epochs().len()).min()?;
    let slowest_in = |epoch: usize| {
        let all = runs.iter().map(|(id, run)| (waited_in(run, epoch), *id));
        all.max().map(|(_, id)| id)
    };
    (share >= STRAGGLER_SHARE).then(|| Straggler {
        run: id,
        rank: slowest.info.rank,
        waited,
        usual,
        share,
        epochs: (0..of_epochs)
            .filter(|e| slowest_in(*e) == Some(id))
            .count(),
        of_epochs,
    })
}

/// Batches that all ranks of a loader yielded. A rank with more batches also waits longer, and does not count as a straggler.
struct Common {
    /// Number of common batches per epoch, or `None` if all ranks have the same number.
    batches: Option<BTreeMap<u32, usize>>,
}

impl Common {
    fn of(runs: &[(RunId, &Run)]) -> Self {
        let mut counts: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (_, run) in runs {
            for epoch in run.epochs() {
                let yielded = run.yielded_in(epoch);
                counts.entry(epoch.epoch).or_default().push(yielded);
            }
        }
        let differ = |of: &Vec<usize>| of.len() < runs.len() || of.iter().any(|n| *n != of[0]);
        if !counts.values().any(differ) {
            return Self { batches: None };
        }
        let least = |of: Vec<usize>| match of.len() < runs.len() {
            true => 0,
            false => of.into_iter().min().unwrap_or(0),
        };
        let batches = counts.into_iter().map(|(epoch, of)| (epoch, least(of)));
        Self {
            batches: Some(batches.collect()),
        }
    }

    /// Sums up the waits for the common batches.
    fn waited(&self, run: &Run) -> Nanos {
        let Some(batches) = &self.batches else {
            return run.waited();
        };
        let mut seen: BTreeMap<u32, usize> = BTreeMap::new();
        let mut waited = Nanos::ZERO;
        for wait in run.waits() {
            let Some(batch) = wait.batch.and_then(|row| run.batches().get(row as usize)) else {
                continue;
            };
            let nth = seen.entry(batch.id.epoch).or_default();
            *nth += 1;
            // The first batch of an epoch is late because the workers start.
            if *nth > 1 && batches.get(&batch.id.epoch).is_some_and(|n| *nth <= *n) {
                waited += wait.end - wait.start;
            }
        }
        waited
    }
}

/// Returns the waited time of an epoch, by its position.
fn waited_in(run: &Run, epoch: usize) -> Nanos {
    let Some(epoch) = run.epochs().get(epoch) else {
        return Nanos::ZERO;
    };
    let end = epoch.end.unwrap_or(run.end());
    run.spent(Lane::Trainer, epoch.start, end)
        .time_in(Activity::Waiting)
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{BatchId, Event, EventKind, Fleet, RunInfo, Stage};

    use super::*;

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
    fn the_straggler_is_named_and_even_ranks_have_none() {
        let mut fleet = Fleet::default();
        for k in 0..4 {
            rank(&mut fleet, k, &[if k == 2 { 10 } else { 2 }; 20]);
        }
        let found = straggler(fleet.runs()).expect("rank 2 is slow");
        assert_eq!((found.run, found.rank), (RunId(2), 2));
        assert_eq!(found.waited, Nanos::from_millis(200));
        assert_eq!(found.usual, Nanos::from_millis(40));
        assert!((found.share - 0.4).abs() < 1e-9, "{}", found.share);
        assert_eq!((found.epochs, found.of_epochs), (1, 1));
        assert_eq!(fleet.longest_waiting(), Some(RunId(2)));
        let mut even = Fleet::default();
        (0..4).for_each(|k| rank(&mut even, k, &[5; 20]));
        assert_eq!(straggler(even.runs()), None);
        assert_eq!(straggler(even.runs().take(1)), None);
    }
}
