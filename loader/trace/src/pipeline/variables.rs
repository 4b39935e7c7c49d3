//! Variables of PyTorch's `_MultiProcessingDataLoaderIter` at an instant, derived from the events.

use super::{Pipeline, TaskInfo};
use crate::{Epoch, Run, Stage, Worker, WorkerId};

impl Pipeline<'_> {
    /// Returns PyTorch's `_task_info`: the tasks whose batches were not yielded, sorted by index. A batch that arrives in its turn is never
    /// stored there. A task answered with the end of a stream stays until `_rcvd_idx` passes it.
    pub fn task_info(&self) -> impl Iterator<Item = TaskInfo> + '_ {
        self.tasks.iter().copied()
    }

    /// Returns the tasks whose batches are on their way or held.
    pub(super) fn pending(&self) -> Vec<TaskInfo> {
        let pending = self.in_flight.iter().filter_map(|f| {
            let batch = &self.run.batches[f.batch as usize];
            let was_kept = f.stage == Stage::Held || (f.stage == Stage::Ready && batch.was_held);
            let is_pending = f.stage < Stage::Held || was_kept;
            (is_pending && Some(batch.id.epoch) == self.epoch).then_some(TaskInfo {
                idx: batch.id.idx,
                worker: batch.worker,
                has_data: was_kept,
                stage: f.stage,
                row: f.batch as usize,
            })
        });
        pending.collect()
    }

    /// Returns the tasks that were answered with the end of a stream and not yet passed by `_rcvd_idx`. A call of `next` passes them when
    /// no earlier batch is missing.
    pub(super) fn ended(&self, epoch: &Epoch, call: Call) -> Vec<TaskInfo> {
        if epoch.end.is_some_and(|end| end <= self.at) {
            return Vec::new();
        }
        let first = self.tasks.first().map(|task| task.idx);
        let received = epoch.exhausted.iter().copied();
        let received = received.filter(|(at, _)| (*at as usize) < self.step);
        let ended = received.filter_map(|(at, worker)| {
            let row = self.run.transitions.get(at as usize)?.batch as usize;
            let idx = self.run.batches[row].id.idx;
            let is_blocked = first.is_some_and(|first| first < idx);
            // The last call yielded the previous batch, so the next call passes these tasks.
            let is_next = matches!(call, Call::Yielded(yielded) if yielded < idx);
            (is_blocked || is_next).then_some(TaskInfo {
                idx,
                worker: Some(worker),
                has_data: false,
                stage: Stage::Discarded,
                row,
            })
        });
        ended.collect()
    }

    /// Returns PyTorch's `_workers_status[worker]`: true if the loader sends tasks to the worker. False after the main process received the
    /// end of the worker's stream, after the worker's death, and after an epoch without persistent workers.
    pub fn takes_tasks(&self, worker: WorkerId) -> bool {
        let Some(epoch) = self.current_epoch() else {
            return true;
        };
        let is_over = epoch.end.is_some_and(|end| end <= self.at);
        let shut_down = is_over && !self.run.info.options.persistent_workers;
        let has_ended = |w: &Worker| w.end.is_some_and(|(end, _)| end <= self.at);
        let was_received = |(at, w): &(u32, WorkerId)| *w == worker && (*at as usize) < self.step;
        let is_exhausted = epoch.exhausted.iter().any(was_received);
        !(is_exhausted || shut_down || self.worker(worker).is_some_and(has_ended))
    }

    /// Returns true after the worker put the end of its stream into the result queue. [`Pipeline::takes_tasks`] stays true until the main
    /// process receives it.
    pub fn is_exhausted(&self, worker: WorkerId) -> bool {
        let was_sent = |(at, w): &(u32, WorkerId)| {
            let answer = self.run.transitions.get(*at as usize);
            let id = answer.map(|t| self.run.batches[t.batch as usize].id);
            let stage = id.and_then(|id| self.stage_of(id));
            *w == worker && stage.is_some_and(|stage| stage > Stage::Fetching)
        };
        let epoch = self.current_epoch();
        epoch.is_some_and(|e| e.exhausted.iter().any(was_sent))
    }

    fn current_epoch(&self) -> Option<&Epoch> {
        let mut epochs = self.run.epochs.iter().rev();
        epochs.find(|e| Some(e.epoch) == self.epoch)
    }

    /// Returns the latest worker with this number.
    pub fn worker(&self, worker: WorkerId) -> Option<&Worker> {
        let started = self.run.workers.partition_point(|w| w.start <= self.at);
        self.run
            .workers
            .range(..started)
            .iter()
            .rev()
            .find(|w| w.info.worker == worker)
    }

    /// Returns the state of the last call of `next` in this epoch.
    pub(super) fn last_call(&self, epoch: &Epoch) -> Call {
        let called = self
            .run
            .waits
            .partition_point(|w| w.step as usize <= self.step && w.start <= self.at);
        let Some(call) = self.run.waits.range(..called).last() else {
            return match self.run.waits.is_empty() {
                true => Call::Unknown,
                false => Call::NotYet,
            };
        };
        if call.start < epoch.start {
            return Call::NotYet;
        }
        let since = self
            .run
            .transitions
            .range((call.step as usize).min(self.step)..self.step);
        // A call yields at most one batch. If events of calls were lost, the latest batch counts.
        let yielded = since.iter().rev().find_map(|t| {
            let id = self.run.batches[t.batch as usize].id;
            (is_taken(self.run, t.batch, t.stage) && id.epoch == epoch.epoch).then_some(id.idx)
        });
        yielded.map_or(Call::UnderWay, Call::Yielded)
    }

    /// Removes a held batch from `_task_info` if it is next. PyTorch does this before it sends the next task.
    pub(super) fn take_kept(&mut self, call: Call) -> Call {
        let is_kept = |task: &&TaskInfo| task.has_data && task.stage == Stage::Ready;
        match self.tasks.first().filter(is_kept).map(|task| task.idx) {
            Some(idx) if call == Call::UnderWay => {
                self.tasks.remove(0);
                Call::Yielded(idx)
            }
            _ => call,
        }
    }

    /// Returns `_rcvd_idx`. It increases by one when the batch with that index is yielded. The next call skips missing indices.
    pub(super) fn derive_rcvd_idx(&self, call: Call) -> u32 {
        let pending = self.tasks.first().map_or(self.send_idx, |task| task.idx);
        match call {
            Call::NotYet => 0,
            Call::Yielded(idx) if idx <= pending => idx.saturating_add(1).min(self.send_idx),
            Call::Unknown | Call::UnderWay | Call::Yielded(_) => pending,
        }
    }
}

/// State of the last call of `next` in an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    /// Calls are not recorded.
    Unknown,
    /// `next` was not called yet.
    NotYet,
    /// The call yielded nothing so far.
    UnderWay,
    /// The call yields or yielded the batch with this index.
    Yielded(u32),
}

/// Returns true if a batch leaves `_task_info` with this stage.
fn is_taken(run: &Run, batch: u32, stage: Stage) -> bool {
    match stage {
        Stage::Ready => !run.batches[batch as usize].was_held,
        stage => matches!(stage, Stage::Training | Stage::Failed),
    }
}
