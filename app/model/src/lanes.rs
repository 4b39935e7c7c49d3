//! Lanes of a run, from top to bottom.

use std::collections::BTreeSet;

use loadscope_trace::{Lane, Run, Stage};

use crate::view::LaneGroup;

/// Maximum number of simultaneous batches in a lane.
pub type Rows = usize;

/// Lanes and queues that a run has used or plans to use.
#[derive(Clone, Debug)]
pub struct LanesInUse {
    lanes: Vec<(Lane, Rows)>,
    /// Numbers of the workers, including planned ones.
    pub workers: BTreeSet<u16>,
    /// `prefetch_factor`: number of batches that may wait in an index queue.
    pub prefetch: usize,
    /// True if the loader has or had workers.
    pub has_workers: bool,
    /// True if the main process loads each batch itself and then trains on it.
    pub is_one_process: bool,
}

impl LanesInUse {
    /// Returns the lanes of this run. All planned workers are included from the start, so no lane appears later.
    pub fn of(run: &Run) -> Self {
        let lanes: Vec<(Lane, Rows)> = run.lanes().collect();
        let options = &run.info.options;
        // A file can contain any number, so planned workers are limited. Recorded workers always have lanes.
        let planned = options.num_workers.min(256) as u16;
        let seen = lanes.iter().filter_map(|(lane, _)| match lane {
            Lane::Worker(w) | Lane::IndexQueue(w) => Some(*w),
            _ => None,
        });
        let workers: BTreeSet<u16> = (0..planned).chain(seen).collect();
        let loads_itself = lanes.iter().any(|(lane, _)| *lane == Lane::Main);
        Self {
            has_workers: !workers.is_empty(),
            // If fetching was not measured, an unknown process may have fetched.
            is_one_process: workers.is_empty() && loads_itself && run.measures(Stage::Fetching),
            workers,
            prefetch: options.prefetch(),
            lanes,
        }
    }

    /// Returns the number of rows of a lane. Returns `None` if it was never used.
    pub fn rows(&self, lane: Lane) -> Option<Rows> {
        let found = self.lanes.binary_search_by_key(&lane, |(l, _)| *l).ok()?;
        Some(self.lanes[found].1)
    }

    /// Returns the lane of the reorder buffer.
    pub fn reorder(&self) -> Option<(Lane, Rows)> {
        let rows = self.rows(Lane::Reorder);
        Some((Lane::Reorder, rows.or(self.has_workers.then_some(1))?))
    }

    /// Returns the lanes of the pin thread and of batches that the main process loads itself.
    pub fn alone(&self) -> impl Iterator<Item = (Lane, Rows)> + '_ {
        let lanes = [Lane::Pin, Lane::Main].into_iter();
        lanes.filter_map(|lane| Some((lane, self.rows(lane)?)))
    }

    /// Returns the queues between workers, pin thread and main process.
    pub fn queues(&self) -> impl Iterator<Item = (Lane, Rows)> + '_ {
        let lanes = [Lane::ResultQueue, Lane::DataQueue].into_iter();
        lanes.filter_map(|lane| {
            let always = self.has_workers && lane == Lane::ResultQueue;
            Some((lane, self.rows(lane).or(always.then_some(1))?))
        })
    }
}

/// Returns all shown lanes of a run, from top to bottom.
pub fn order(run: &Run, folded: &BTreeSet<LaneGroup>) -> Vec<Lane> {
    let used = LanesInUse::of(run);
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
