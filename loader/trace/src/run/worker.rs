//! A worker, as far as it is known.

use crate::Nanos;
use crate::event::{EndReason, Generators, WorkerInfo};

/// A worker as far as it introduced itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Worker {
    /// Id and seed.
    pub info: WorkerInfo,
    /// When it started.
    pub start: Nanos,
    /// It started earlier: before what is known in full.
    pub was_running: bool,
    /// False for a worker that was started before the recording: its work is not recorded.
    pub is_recorded: bool,
    /// When and why it ended.
    pub end: Option<(Nanos, EndReason)>,
    /// What its random numbers began with, if it told.
    pub generators: Option<Generators>,
}
