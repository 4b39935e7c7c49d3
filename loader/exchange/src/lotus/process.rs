//! What a process wrote.

use super::line::Line;
use super::worker::Worker;

/// What a process wrote.
#[derive(Debug, Default)]
pub(super) struct Process {
    pub pid: u64,
    /// Lines of the main process, in the order of the file.
    pub main: Vec<Line>,
    pub worker: Worker,
}
