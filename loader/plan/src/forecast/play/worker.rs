//! A worker, and what it fetches.

use std::collections::VecDeque;

/// A batch under way in a worker.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    /// Its task index.
    pub idx: usize,
    /// Its position in the load.
    pub task: usize,
    /// Halves of its parts that are done: time off, then time on a core.
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

/// A worker.
#[derive(Clone, Debug, Default)]
pub(super) struct Worker {
    /// Its index queue.
    pub queue: VecDeque<usize>,
    /// What it fetches; `None` while it has nothing to do or goes to its queue.
    pub job: Option<Job>,
    /// What it computes before it looks into its queue for the first time.
    pub begins: f64,
    /// It is on its way to its queue.
    pub coming: bool,
    /// It has fetched something.
    pub at_work: bool,
    /// Tasks it was sent.
    pub asked: usize,
    /// Its stream has ended: tasks get no answer.
    pub ended: bool,
}
