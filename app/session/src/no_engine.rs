//! Replacement of the embedded loader in builds without it.

use crossbeam_channel::Sender;
use loadscope_plan::dataset::{Catalog, SyntheticCatalog};
use loadscope_trace::RunOptions;

use super::memory::SharedLog;
use super::{Record, SessionError, SessionEvent, Waker};

/// False, because this build contains no embedded loader.
pub const HAS_ENGINE: bool = false;

/// Catalog of the datasets that need no file.
pub(super) const CATALOG: &(dyn Catalog + Sync) = &SyntheticCatalog;

/// Control of a loader that never runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Control(());

impl Control {
    pub fn with_slow_motion(self, _: u32) -> Self {
        self
    }
    pub fn pause(&self) {}
    pub fn resume(&self) {}
    pub fn step(&self) {}
    pub fn stop(&self) {}
}

/// Configuration of a run, as in the other build.
#[expect(dead_code, reason = "the fields of the other build")]
pub(super) struct Job {
    pub options: RunOptions,
    pub control: Control,
    pub record: Record,
    pub shared: SharedLog,
    pub out: Sender<SessionEvent>,
    pub wake: Waker,
    /// Memory limit of the window's runs, bytes.
    pub memory: Option<u64>,
}

/// Returns an error, because this build has no loader.
pub(super) fn start(_: Job) -> Result<(), SessionError> {
    Err(SessionError::NoEngine)
}
