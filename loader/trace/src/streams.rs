//! Streams of an iterable-style dataset: the batches of each worker, and the end of its stream.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Fact, Nanos, Run, WorkerId};

/// Batches per worker of an iterable-style dataset, in an epoch whose streams all ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Streams {
    /// Number of yielded batches and end of the stream, by worker.
    pub workers: BTreeMap<WorkerId, (u64, Nanos)>,
    /// Start of the epoch.
    pub start: Nanos,
    /// True if each worker yielded the whole stream.
    pub are_repeated: bool,
}

impl Streams {
    /// Returns the streams of the first epoch in which the streams of at least two workers ended, and of all workers with batches. Returns
    /// `None` without such an epoch.
    pub fn of(run: &Run) -> Option<Self> {
        let mut streams = run.epochs().iter().find_map(|epoch| {
            let ended = epoch.exhausted.iter();
            let ended =
                ended.filter_map(|(at, w)| Some((*w, run.transitions.get(*at as usize)?.at)));
            let mut workers: BTreeMap<WorkerId, (u64, Nanos)> =
                ended.map(|(worker, at)| (worker, (0, at))).collect();
            for row in epoch.rows.iter() {
                let Some(batch) = run.batches.get(*row as usize) else {
                    continue;
                };
                let of = workers.get_mut(&batch.worker?)?;
                of.0 += u64::from(batch.was_yielded);
            }
            (workers.len() > 1 && !epoch.was_running).then_some(Self {
                workers,
                start: epoch.start,
                are_repeated: false,
            })
        })?;
        streams.are_repeated = streams.repeat(run);
        Some(streams)
    }

    /// Returns the number of workers that yielded a batch.
    pub fn active(&self) -> usize {
        self.workers.values().filter(|(n, _)| *n > 0).count()
    }

    /// Returns the number of batches that all workers yielded.
    pub fn batches(&self) -> u64 {
        self.workers.values().map(|(n, _)| n).sum()
    }

    /// Returns the end of the last stream.
    pub fn end(&self) -> Nanos {
        let ends = self.workers.values().map(|(_, at)| *at);
        ends.max().unwrap_or(self.start)
    }

    /// Returns true if all workers yielded the same number of batches, and that number is `len(loader)`. If the length is unknown, no
    /// worker must have a means of knowing its part.
    fn repeat(&self, run: &Run) -> bool {
        let mut yielded = self.workers.values().map(|(n, _)| *n);
        let first = yielded.next().unwrap_or(0);
        if first == 0 || yielded.any(|n| n != first) {
            return false;
        }
        if let Some(length) = run.length() {
            return first == length;
        }
        let undivided = run.facts().iter().filter_map(|(_, fact)| match fact {
            Fact::UndividedStream { worker } => Some(*worker),
            _ => None,
        });
        let undivided: BTreeSet<WorkerId> = undivided.collect();
        // A `worker_init_fn` gets the number of the worker.
        let is_reported = run
            .info
            .arguments
            .iter()
            .any(|a| a.starts_with("worker_init_fn="));
        !is_reported && self.workers.keys().all(|worker| undivided.contains(worker))
    }
}
