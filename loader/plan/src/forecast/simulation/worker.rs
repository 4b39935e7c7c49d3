//! State of a simulated worker.

use std::collections::VecDeque;

/// Batch in progress in a worker.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    /// Task index.
    pub idx: usize,
    /// Position in the load.
    pub task: usize,
    /// Finished halves of its parts. Each part is time off a core, then time on a core.
    pub halves: usize,
    pub began: f64,
}

impl Job {
    pub fn new(idx: usize, task: usize) -> Self {
        Self {
            idx,
            task,
            halves: 0,
            began: 0.0,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Worker {
    pub queue: VecDeque<usize>,
    /// Batch in progress. `None`: idle, or about to read the queue.
    pub job: Option<Job>,
    /// Computing before the first read of the queue.
    pub begins: f64,
    /// True while the worker is about to read its queue.
    pub reads_next: bool,
    /// True after the first task.
    pub has_started: bool,
    /// Number of tasks sent to the worker.
    pub sent_tasks: usize,
    /// True after the end of its stream. Further tasks are ignored.
    pub ended: bool,
}
