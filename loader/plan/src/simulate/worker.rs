//! What the simulation knows of its workers.

use loadscope_trace::Nanos;

/// An answer of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Arrival {
    /// When it gets there.
    pub at: Nanos,
    /// At the same time those of lower tasks come first. The end of a stream comes right after the last batch of its worker.
    pub after: usize,
    /// The task.
    pub idx: usize,
    /// The worker, if its stream has ended.
    pub ended: Option<usize>,
}

/// A worker of the simulation.
#[derive(Clone, Debug, Default)]
pub(super) struct Worker {
    /// When it has finished what it was given.
    pub free: Nanos,
    /// The task that it answered last.
    pub last: Option<usize>,
    /// Batches it was asked for.
    pub asked: usize,
    /// Its stream has ended: tasks get no answer any more.
    pub ended: bool,
}
