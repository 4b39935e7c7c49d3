//! Stores the recorded data of a worker.

use crate::Nanos;
use crate::event::{EndReason, RandomStates, WorkerInfo};

/// Worker of a run, from its start to its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Worker {
    /// Number, seed and process id.
    pub info: WorkerInfo,
    /// Time of its start.
    pub start: Nanos,
    /// True if it started before the complete part of the recording.
    pub was_running: bool,
    /// False if it started before the recording, so its work is not recorded.
    pub is_recorded: bool,
    /// Time and reason of its end.
    pub end: Option<(Nanos, EndReason)>,
    /// Digests of its initial random states, if recorded.
    pub generators: Option<RandomStates>,
}
