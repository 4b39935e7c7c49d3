//! A task of PyTorch's `_task_info`.

use crate::{Stage, WorkerId};

/// An entry of PyTorch's `_task_info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskInfo {
    /// Task index.
    pub idx: u32,
    /// The worker that has the task. `None`: the main process.
    pub worker: Option<WorkerId>,
    /// True if the batch has arrived and is kept: `(worker, data)` instead of `(worker,)`.
    pub has_data: bool,
    /// The stage of the batch.
    pub stage: Stage,
    /// Position in [`Run::batches`](crate::Run::batches).
    pub row: usize,
}
