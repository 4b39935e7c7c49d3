//! The loaders of a session: a program's loaders for training and validation, and the loaders of its ranks. One of them is shown.

use std::collections::BTreeMap;
use std::sync::Arc;

use loadscope_trace::fleet::extent;
use loadscope_trace::{Event, EventKind, Fleet, Moment, Nanos, Run, RunId, RunInfo};

mod find;
mod group_findings;
mod strip;

pub use find::{NoSuchLoader, find};
pub use group_findings::findings;
pub use group_findings::{clocks, describe_straggler};
pub use loadscope_trace::fleet::{group_names, name, names};
pub use strip::{Part, trainer};

/// The loaders that are not shown, and the id of the shown one.
#[derive(Clone, Debug, Default)]
pub struct Loaders {
    shown: RunId,
    others: BTreeMap<RunId, Run>,
}

impl Loaders {
    /// Splits a fleet into the shown loader and the others. `wanted` is shown if it exists, otherwise the loader with the longest waits.
    pub fn of(fleet: Fleet, wanted: Option<RunId>) -> (Self, Run) {
        let wanted = wanted.filter(|id| fleet.get(*id).is_some());
        let shown = wanted.or(fleet.longest_waiting()).unwrap_or_default();
        let mut others = BTreeMap::new();
        let mut run = Run::default();
        for (id, one) in fleet.into_runs() {
            match id == shown {
                true => run = one,
                false => _ = others.insert(id, one),
            }
        }
        (Self { shown, others }, run)
    }

    /// Returns all loaders as a fleet that accepts events, the inverse of [`of`](Self::of).
    pub fn into_fleet(self, run: Run) -> Fleet {
        Fleet::of(self.others.into_iter().chain([(self.shown, run)]))
    }

    /// Returns the id of the shown loader.
    pub fn shown(&self) -> RunId {
        self.shown
    }

    /// Returns the number of loaders.
    pub fn count(&self) -> usize {
        self.others.len() + 1
    }

    /// Returns true if there is more than one loader.
    pub fn are_many(&self) -> bool {
        !self.others.is_empty()
    }

    /// Returns all loaders by id. `run` is the shown one.
    pub fn all<'a>(&'a self, run: &'a Run) -> Vec<(RunId, &'a Run)> {
        let others = self.others.iter().map(|(id, one)| (*id, one));
        let mut all: Vec<(RunId, &Run)> = others.collect();
        let at = all.partition_point(|(id, _)| *id < self.shown);
        all.insert(at, (self.shown, run));
        all
    }

    /// Returns the time from the first epoch of any loader to the last event. `run` is the shown loader.
    pub fn extent(&self, run: &Run) -> Option<(Nanos, Nanos)> {
        extent(self.others.values().chain([run]))
    }

    /// Hides events after `at` of the loaders that are not shown. `None` shows all.
    pub fn hide_after(&mut self, at: Option<Nanos>) {
        for other in self.others.values_mut() {
            let moment = at.filter(|at| *at < other.whole().end()).map(|at| Moment {
                step: other.whole().transitions().partition_point(|t| t.at <= at),
                at,
            });
            if other.hidden_after() != moment {
                other.hide_after(moment);
            }
        }
    }

    /// Returns snapshots of all loaders by id. `run` is the shown one.
    pub fn snapshot(&self, run: &Run) -> Vec<(RunId, Arc<Run>)> {
        let all = self.all(run).into_iter();
        all.map(|(id, one)| (id, one.snapshot())).collect()
    }

    /// Replaces the runs with the same ids, which have the same events. `run` is the shown loader.
    pub fn replace(&mut self, run: &mut Run, all: Vec<(RunId, Run)>) {
        for (id, one) in all {
            match id == self.shown {
                true => *run = one,
                false => _ = self.others.insert(id, one),
            }
        }
    }

    /// Applies an event. `run` is the shown loader. Returns true if another loader is now shown, because it is the first with a task.
    pub fn apply(&mut self, run: &mut Run, event: &Event) -> bool {
        if run.events() == 0 && self.others.is_empty() {
            self.shown = event.run;
        }
        let loads = matches!(event.kind, EventKind::Dispatched(_));
        let switch = loads && event.run != self.shown && run.batches().is_empty();
        if switch {
            self.show(run, event.run);
        }
        match event.run == self.shown {
            true => run.apply(event),
            false => self.others.entry(event.run).or_default().apply(event),
        }
        switch
    }

    /// Shows another loader in place of `run`. Returns false if it is already shown or does not exist.
    pub fn show(&mut self, run: &mut Run, id: RunId) -> bool {
        let Some(other) = self.others.remove(&id) else {
            return false;
        };
        let before = std::mem::replace(run, other);
        self.others
            .insert(std::mem::replace(&mut self.shown, id), before);
        true
    }

    /// Returns the loader after or before the shown one, cyclically.
    pub fn neighbour(&self, forwards: bool) -> Option<RunId> {
        let mut others = self.others.keys().copied();
        if forwards {
            let after = self.others.range(self.shown..).next().map(|(id, _)| *id);
            return after.or(others.next());
        }
        let before = self.others.range(..self.shown).next_back();
        before.map(|(id, _)| *id).or(others.next_back())
    }
}

/// Groups the loaders that do the same work on all ranks, as positions in `all`. A loader of a program without ranks is its own group.
pub fn rank_groups(all: &[(RunId, &Run)]) -> Vec<Vec<usize>> {
    let mut rank_groups: Vec<Vec<usize>> = Vec::new();
    for (at, (_, run)) in all.iter().enumerate() {
        let joins = |group: &&mut Vec<usize>| {
            let first = &all[group[0]].1.info;
            is_in_group(all, group, &run.info) && first.dataset == run.info.dataset
        };
        match rank_groups.iter_mut().find(joins) {
            Some(group) => group.push(at),
            None => rank_groups.push(vec![at]),
        }
    }
    join_uneven(all, rank_groups)
}

/// Merges groups of ranks whose datasets differ in length.
fn join_uneven(all: &[(RunId, &Run)], rank_groups: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    let mut joined: Vec<Vec<usize>> = Vec::new();
    for group in rank_groups {
        let info = &all[group[0]].1.info;
        let joins = |other: &&mut Vec<usize>| {
            let is_placed = info.made_at.is_some();
            let mut ranks = group.iter().map(|at| &all[*at].1.info);
            is_placed && ranks.all(|info| is_in_group(all, other, info))
        };
        match joined.iter_mut().find(joins) {
            Some(other) => other.extend(group),
            None => joined.push(group),
        }
    }
    joined
}

/// Returns true if a loader can belong to another rank of `group`: created at the same line, with the same number of ranks.
fn is_in_group(all: &[(RunId, &Run)], group: &[usize], info: &RunInfo) -> bool {
    let first = &all[group[0]].1.info;
    info.world_size > 1
        && first.world_size == info.world_size
        && first.made_at == info.made_at
        && group.iter().all(|at| all[*at].1.info.rank != info.rank)
}

#[cfg(test)]
mod tests {
    use loadscope_trace::BatchId;

    use super::*;

    fn event(run: u32, kind: EventKind) -> Event {
        Event {
            at: Nanos(1),
            run: RunId(run),
            kind,
        }
    }

    fn dispatched() -> EventKind {
        EventKind::dispatched(BatchId::default(), None, [7])
    }

    #[test]
    fn the_first_loader_with_a_batch_is_shown() {
        let (mut loaders, mut run) = (Loaders::default(), Run::default());
        for id in [3, 5] {
            let info = RunInfo {
                dataset: format!("of {id}"),
                ..RunInfo::default()
            };
            let info = EventKind::RunStarted(Box::new(info));
            loaders.apply(&mut run, &event(id, info));
            let begun = event(id, EventKind::EpochStarted { epoch: 0 });
            loaders.apply(&mut run, &begun);
        }
        assert_eq!((loaders.shown(), loaders.count()), (RunId(3), 2));
        assert!(loaders.apply(&mut run, &event(5, dispatched())));
        assert_eq!((loaders.shown(), run.batches().len()), (RunId(5), 1));
        // The shown loader no longer changes.
        assert!(!loaders.apply(&mut run, &event(3, dispatched())));
        assert_eq!(loaders.shown(), RunId(5));
        let names: Vec<String> = loaders
            .all(&run)
            .iter()
            .map(|(_, r)| name(&r.info))
            .collect();
        assert_eq!(names, ["of 3", "of 5"]);
        assert_eq!(loaders.neighbour(true), Some(RunId(3)));
        assert!(loaders.show(&mut run, RunId(3)));
        assert!(!loaders.show(&mut run, RunId(9)));
        assert_eq!(run.info.dataset, "of 3");
        assert_eq!(loaders.neighbour(false), Some(RunId(5)));
    }

    #[test]
    fn loaders_of_a_file_equal_those_of_a_live_run() {
        let events = [
            event(1, dispatched()),
            event(2, dispatched()),
            event(1, EventKind::RunEnded),
        ];
        let mut fleet = Fleet::default();
        let (mut live, mut run) = (Loaders::default(), Run::default());
        for e in &events {
            fleet.apply(e);
            live.apply(&mut run, e);
        }
        let (read, same) = Loaders::of(fleet, Some(RunId(1)));
        let all = format!("{:?}", read.all(&same));
        assert_eq!(all, format!("{:?}", live.all(&run)));
        let (again, same) = Loaders::of(read.into_fleet(same), Some(RunId(1)));
        assert_eq!(all, format!("{:?}", again.all(&same)));
    }

    #[test]
    fn ranks_of_one_loader_form_one_group() {
        let run = |rank, dataset: &str| {
            Run::new(RunInfo {
                rank,
                world_size: 2,
                dataset: dataset.to_owned(),
                ..RunInfo::default()
            })
        };
        let runs = [
            run(0, "a"),
            run(0, "b"),
            run(1, "a"),
            run(1, "b"),
            run(1, "b"),
        ];
        let all: Vec<(RunId, &Run)> = runs
            .iter()
            .enumerate()
            .map(|(k, r)| (RunId(k as u32), r))
            .collect();
        assert_eq!(rank_groups(&all), [vec![0, 2], vec![1, 3], vec![4]]);
    }
}
