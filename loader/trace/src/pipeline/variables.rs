//! The variables of PyTorch's `_MultiProcessingDataLoaderIter` at an instant, derived from the events.

use super::Pipeline;
use crate::{Epoch, Run, Stage, Worker, WorkerId};

/// An entry of PyTorch's `_task_info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskInfo {
    /// Task index.
    pub idx: u32,
    /// Who has the task; `None`: the main thread.
    pub worker: Option<WorkerId>,
    /// True if the batch has arrived and is kept: `(worker, data)` instead of `(worker,)`.
    pub has_data: bool,
    /// The stage of the batch.
    pub stage: Stage,
    /// Position in [`Run::batches`].
    pub row: usize,
}

impl Pipeline<'_> {
    /// PyTorch's `_task_info`: the tasks sent whose batches were not yielded, by index. A batch that arrives when it is its turn
    /// is never kept there.
    pub fn task_info(&self) -> impl Iterator<Item = TaskInfo> + '_ {
        self.flying.iter().filter_map(|f| {
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
        })
    }

    /// PyTorch's `_workers_status[worker]`: whether the worker takes tasks. It does not once its part of an iterable dataset is
    /// exhausted, once it has died, and after an epoch whose workers do not persist. The events tell that a worker is exhausted when it
    /// puts its answer into the result queue; PyTorch takes note when it gets there.
    pub fn takes_tasks(&self, worker: WorkerId) -> bool {
        let Some(epoch) = self
            .run
            .epochs
            .iter()
            .rev()
            .find(|e| Some(e.epoch) == self.epoch)
        else {
            return true;
        };
        let is_over = epoch.end.is_some_and(|end| end <= self.at);
        let shut_down = is_over && !self.run.info.options.persistent_workers;
        let has_ended = |w: &Worker| w.end.is_some_and(|(end, _)| end <= self.at);
        !(self.is_exhausted(worker) || shut_down || self.worker(worker).is_some_and(has_ended))
    }

    /// True once the worker has answered, in this epoch, that its part of an iterable dataset has nothing left.
    pub fn is_exhausted(&self, worker: WorkerId) -> bool {
        let epoch = self
            .run
            .epochs
            .iter()
            .rev()
            .find(|e| Some(e.epoch) == self.epoch);
        let is_known = |(at, w): &(u32, WorkerId)| *w == worker && (*at as usize) < self.step;
        epoch.is_some_and(|e| e.exhausted.iter().any(is_known))
    }

    /// The worker of that id that was started last.
    pub fn worker(&self, worker: WorkerId) -> Option<&Worker> {
        let started = self.run.workers.partition_point(|w| w.start <= self.at);
        self.run.workers[..started]
            .iter()
            .rev()
            .find(|w| w.info.worker == worker)
    }

    /// `_rcvd_idx` moves when a batch is yielded, by one if it was that batch's turn, and goes past what is not there any more at
    /// the next call only.
    pub(super) fn derive_rcvd_idx(&self, epoch: &Epoch) -> u32 {
        let pending = self
            .task_info()
            .map(|t| t.idx)
            .min()
            .unwrap_or(self.send_idx);
        let called = self
            .run
            .waits
            .partition_point(|w| w.step as usize <= self.step && w.start <= self.at);
        let Some(call) = self.run.waits[..called].last() else {
            return if self.run.waits.is_empty() {
                pending
            } else {
                0
            };
        };
        if call.start < epoch.start {
            return 0;
        }
        let since = &self.run.transitions[(call.step as usize).min(self.step)..self.step];
        // One at most, unless calls were lost; then the latest counts.
        let yielded = since.iter().rev().find_map(|t| {
            let id = self.run.batches[t.batch as usize].id;
            (is_taken(self.run, t.batch, t.stage) && id.epoch == epoch.epoch).then_some(id.idx)
        });
        match yielded {
            Some(idx) if idx <= pending => idx.saturating_add(1).min(self.send_idx),
            _ => pending,
        }
    }
}

/// True if a batch leaves `_task_info` for good with this stage.
fn is_taken(run: &Run, batch: u32, stage: Stage) -> bool {
    match stage {
        Stage::Ready => !run.batches[batch as usize].was_held,
        stage => matches!(stage, Stage::Training | Stage::Failed),
    }
}
