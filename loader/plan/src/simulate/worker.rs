//! State of simulated workers.

use loadscope_trace::Nanos;

/// Answer of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Arrival {
    /// Time of arrival.
    pub at: Nanos,
    /// Tie-breaker: lower tasks arrive first. The end of a stream follows directly after the last batch of its worker.
    pub after: usize,
    /// Task index.
    pub idx: usize,
    /// Worker whose stream has ended. `None`: the answer is a batch.
    pub ended: Option<usize>,
}

/// State of a simulated worker.
#[derive(Clone, Debug, Default)]
pub(super) struct Worker {
    /// End of its last task.
    pub free: Nanos,
    /// Last answered task.
    pub last: Option<usize>,
    /// Number of tasks sent to the worker.
    pub sent_tasks: usize,
    /// True after the end of its stream. Further tasks get no answer.
    pub ended: bool,
}
