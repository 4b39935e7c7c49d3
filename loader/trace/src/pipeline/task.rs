use crate::{Stage, WorkerId};

/// Entry of PyTorch's `_task_info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskInfo {
    /// Task index.
    pub idx: u32,
    /// Worker of the task. `None` for the main process.
    pub worker: Option<WorkerId>,
    /// True if the batch arrived and is held, so the entry is `(worker, data)` instead of `(worker,)`.
    pub has_data: bool,
    /// Stage of the batch.
    pub stage: Stage,
    /// Position in [`Run::batches`](crate::Run::batches).
    pub row: usize,
}
