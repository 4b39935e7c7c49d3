//! Which lanes a run has, from top to bottom.

use std::collections::BTreeSet;

use loadscope_trace::{Lane, Run, Stage};

use crate::view::LaneGroup;

/// Batches side by side in a lane, at most.
pub type Rows = usize;

/// What a run has used so far, and will use.
#[derive(Clone, Debug)]
pub struct Used {
    lanes: Vec<(Lane, Rows)>,
    /// Workers, those that are only planned as well.
    pub workers: BTreeSet<u16>,
    /// `prefetch_factor`: how many batches may wait in an index queue.
    pub prefetch: usize,
    /// The loader has workers, or had some.
    pub has_workers: bool,
    /// The main process does everything, one after the other: it loads a batch, then trains on it.
    pub is_one_process: bool,
}

impl Used {
    /// What this run uses. All workers are there from the beginning, so that nothing pops up.
    pub fn of(run: &Run) -> Self {
        let lanes: Vec<(Lane, Rows)> = run.lanes().collect();
        let options = &run.info.options;
        // A file may say anything; workers that were seen have lanes in any case.
        let planned = options.num_workers.min(256) as u16;
        let seen = lanes.iter().filter_map(|(lane, _)| match lane {
            Lane::Worker(w) | Lane::IndexQueue(w) => Some(*w),
            _ => None,
        });
        let workers: BTreeSet<u16> = (0..planned).chain(seen).collect();
        let loads_itself = lanes.iter().any(|(lane, _)| *lane == Lane::Main);
        Self {
            has_workers: !workers.is_empty(),
            // Where fetching was not measured, something else may have fetched.
            is_one_process: workers.is_empty() && loads_itself && run.measures(Stage::Fetching),
            workers,
            prefetch: options.prefetch(),
            lanes,
        }
    }

    /// How many rows a lane has; `None` if nothing was ever in it.
    pub fn rows(&self, lane: Lane) -> Option<Rows> {
        let found = self.lanes.binary_search_by_key(&lane, |(l, _)| *l).ok()?;
        Some(self.lanes[found].1)
    }

    /// The lane of the reorder buffer.
    pub fn reorder(&self) -> Option<(Lane, Rows)> {
        let rows = self.rows(Lane::Reorder);
        Some((Lane::Reorder, rows.or(self.has_workers.then_some(1))?))
    }

    /// The lanes of the pin thread and of what the main thread loads itself.
    pub fn alone(&self) -> impl Iterator<Item = (Lane, Rows)> + '_ {
        let lanes = [Lane::Pin, Lane::Main].into_iter();
        lanes.filter_map(|lane| Some((lane, self.rows(lane)?)))
    }

    /// The queues between workers, pin thread and main thread.
    pub fn queues(&self) -> impl Iterator<Item = (Lane, Rows)> + '_ {
        let lanes = [Lane::ResultQueue, Lane::DataQueue].into_iter();
        lanes.filter_map(|lane| {
            let always = self.has_workers && lane == Lane::ResultQueue;
            Some((lane, self.rows(lane).or(always.then_some(1))?))
        })
    }
}

/// All lanes of a run that are shown, from top to bottom.
pub fn order(run: &Run, folded: &BTreeSet<LaneGroup>) -> Vec<Lane> {
    let used = Used::of(run);
    if used.is_one_process {
        return vec![Lane::Main];
    }
    let open = |group| !folded.contains(&group);
    let trainer = Some(Lane::Trainer).filter(|_| !run.batches().is_empty());
    let reorder = used.reorder().filter(|_| open(LaneGroup::Reorder));
    let mut all: Vec<Lane> = trainer.into_iter().collect();
    all.extend(reorder.map(|(lane, _)| lane));
    all.extend(used.alone().map(|(lane, _)| lane));
    if open(LaneGroup::Workers) {
        let pairs = used.workers.iter();
        all.extend(pairs.flat_map(|w| [Lane::Worker(*w), Lane::IndexQueue(*w)]));
    }
    if open(LaneGroup::Queues) {
        all.extend(used.queues().map(|(lane, _)| lane));
    }
    all
}
