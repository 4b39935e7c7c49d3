//! An iterator and its workers: the tasks dispatched to each worker, and the process ids.

use std::collections::{BTreeMap, HashMap};

use loadscope_trace::{BatchId, RunId, WorkerId};

use crate::wire::{BatchRef, Record};

/// Number of recent epochs whose tasks are kept. A persistent worker still fetches queued tasks of an epoch that was stopped early.
const EPOCHS_KEPT: usize = 3;

/// Result of the search for the batch of a worker's record.
pub(super) enum BatchLookup {
    /// The batch. `indices` is empty except at the end of its fetch.
    Batch {
        run: RunId,
        batch: BatchId,
        indices: Vec<u64>,
    },
    /// The record has no batch.
    Nothing,
    /// The main process has not dispatched the batch yet.
    NotYet,
    /// The main process can no longer dispatch the batch.
    Never,
}

/// Tasks of one worker in one epoch. `by_count` maps the number of a task to its batch and indices.
#[derive(Default)]
struct Tasks {
    by_count: BTreeMap<u64, (u32, Vec<u64>)>,
    /// Number of dispatched tasks.
    dispatched_count: u64,
}

/// An iterator and its workers.
pub(super) struct WorkerPool {
    pub run: RunId,
    /// Epochs in order of their start. The generation in a worker's record is an index into this list.
    epochs: Vec<u32>,
    ended: usize,
    tasks: BTreeMap<(u32, WorkerId), Tasks>,
    pids: BTreeMap<WorkerId, u64>,
    /// Indices of the batch that the main process fetches itself.
    main_indices: Vec<u64>,
    /// Batch of the current training step.
    pub stepping: Option<BatchId>,
    /// Worker and sample of each failed batch.
    failures: HashMap<BatchId, (Option<WorkerId>, Option<u64>)>,
    /// Position of the sample that could not be collated, by batch.
    mismatches: HashMap<BatchId, u32>,
}

impl WorkerPool {
    pub fn new(run: RunId) -> Self {
        Self {
            run,
            epochs: Vec::new(),
            ended: 0,
            tasks: BTreeMap::new(),
            pids: BTreeMap::new(),
            main_indices: Vec::new(),
            stepping: None,
            failures: HashMap::new(),
            mismatches: HashMap::new(),
        }
    }

    pub fn begin(&mut self, epoch: u32) {
        self.epochs.push(epoch);
        if let Some(last) = self.epochs.len().checked_sub(EPOCHS_KEPT) {
            let kept = &self.epochs[last..];
            self.tasks.retain(|(epoch, _), _| kept.contains(epoch));
            self.failures.retain(|batch, _| kept.contains(&batch.epoch));
            self.mismatches
                .retain(|batch, _| kept.contains(&batch.epoch));
        }
    }

    pub fn end(&mut self, epoch: u32) {
        self.ended = self
            .epochs
            .iter()
            .position(|e| *e == epoch)
            .map_or(self.ended, |at| at + 1);
    }

    /// Returns true if all its epochs and all its workers have ended.
    pub fn is_over(&self) -> bool {
        self.ended >= self.epochs.len() && self.pids.is_empty()
    }

    pub fn add_worker(&mut self, worker: WorkerId, pid: u64) {
        self.pids.insert(worker, pid);
    }

    /// Removes a worker that has ended. Returns its process id, or `None` if it was removed before.
    pub fn remove_worker(&mut self, worker: WorkerId) -> Option<u64> {
        self.pids.remove(&worker)
    }

    /// Returns the running workers with their process ids.
    pub fn running(&self) -> impl Iterator<Item = (WorkerId, u64)> + '_ {
        self.pids.iter().map(|(worker, pid)| (*worker, *pid))
    }

    pub fn add_task(
        &mut self,
        epoch: u32,
        worker: WorkerId,
        count: u64,
        batch: u32,
        indices: &[u64],
    ) {
        let tasks = self.tasks.entry((epoch, worker)).or_default();
        tasks.dispatched_count = tasks.dispatched_count.max(count.saturating_add(1));
        tasks.by_count.insert(count, (batch, indices.to_vec()));
    }

    pub fn set_main_indices(&mut self, indices: &[u64]) {
        indices.clone_into(&mut self.main_indices);
    }

    pub fn take_main_indices(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.main_indices)
    }

    /// Records the position of a sample that could not be collated.
    pub fn set_mismatch_position(&mut self, batch: BatchId, position: Option<u32>) {
        if let Some(position) = position {
            self.mismatches.insert(batch, position);
        }
    }

    pub fn add_failure(
        &mut self,
        failed: Option<(BatchId, Option<WorkerId>, Option<u64>)>,
        indices: &[u64],
    ) {
        if let Some((batch, worker, sample)) = failed {
            let position = self.mismatches.remove(&batch);
            let sample = sample.or_else(|| indices.get(position? as usize).copied());
            self.failures.insert(batch, (worker, sample));
        }
    }

    /// Removes and returns the worker and the sample of a failed batch, as far as they are known.
    pub fn take_failure(&mut self, batch: BatchId) -> Option<(Option<WorkerId>, Option<u64>)> {
        self.failures.remove(&batch)
    }

    /// Returns the batch of a record of `worker`. The end of a fetch takes the indices, because no later record needs them.
    pub fn find(&mut self, worker: WorkerId, record: &Record) -> BatchLookup {
        let (of, is_last) = match record {
            Record::Begin { of, .. } | Record::Collate { of, .. } | Record::Content { of, .. } => {
                (*of, false)
            }
            Record::Fetch(fetch) => (fetch.of, true),
            Record::Fact(fact) => match fact.batch_ref() {
                Some(of) => (of, false),
                None => return BatchLookup::Nothing,
            },
            _ => return BatchLookup::Nothing,
        };
        let BatchRef::Worker { generation, count } = of else {
            return BatchLookup::Nothing;
        };
        let Some(epoch) = self.epochs.get(generation as usize).copied() else {
            return BatchLookup::NotYet;
        };
        let over = (generation as usize) < self.ended;
        let tasks = self.tasks.get_mut(&(epoch, worker));
        let Some(tasks) = tasks else {
            return if over {
                BatchLookup::Never
            } else {
                BatchLookup::NotYet
            };
        };
        let batch = |idx| BatchId { epoch, idx };
        match tasks.by_count.get_mut(&count) {
            Some((idx, indices)) => BatchLookup::Batch {
                run: self.run,
                batch: batch(*idx),
                indices: match is_last {
                    true => std::mem::take(indices),
                    false => Vec::new(),
                },
            },
            None if over || count < tasks.dispatched_count => BatchLookup::Never,
            None => BatchLookup::NotYet,
        }
    }
}
