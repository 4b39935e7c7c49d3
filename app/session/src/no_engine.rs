//! What stands in the place of the embedded loader in a build without it.

use crossbeam_channel::Sender;
use loadscope_plan::dataset::{Catalog, MadeUp};
use loadscope_trace::RunOptions;

use super::memory::SharedLog;
use super::{Record, SessionError, SessionEvent, Waker};

/// False: this build runs no loader itself.
pub const HAS_ENGINE: bool = false;

/// Knows the datasets that need no file.
pub(super) const CATALOG: &(dyn Catalog + Sync) = &MadeUp;

/// Holds and stops a loader that never runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Control(());

impl Control {
    pub fn stretched(self, _: u32) -> Self {
        self
    }
    pub fn pause(&self) {}
    pub fn resume(&self) {}
    pub fn step(&self) {}
    pub fn stop(&self) {}
}

/// What would have been run.
#[expect(dead_code, reason = "the fields of the other build")]
pub(super) struct Job {
    pub options: RunOptions,
    pub control: Control,
    pub record: Record,
    pub shared: SharedLog,
    pub out: Sender<SessionEvent>,
    pub wake: Waker,
    /// Bytes that the runs of the window may have.
    pub memory: Option<u64>,
}

/// Refuses.
pub(super) fn start(_: Job) -> Result<(), SessionError> {
    Err(SessionError::NoEngine)
}
