//! Collects the lines of one process, and sorts them if necessary.

use super::line::Line;
use super::order::is_shuffled;
use super::worker::Worker;

/// Log of a process.
#[derive(Debug, Default)]
pub(super) struct Process {
    pub pid: u64,
    /// Lines of the main process, in the order of the file. [`Process::complete`] sorts shuffled lines by time.
    pub main: Vec<Line>,
    pub worker: Worker,
}

impl Process {
    /// Sorts the lines in the order of writing if many of them are out of order, as in a merged or filtered log.
    pub fn complete(&mut self) {
        if is_shuffled(&self.main, |line| line.written().0) {
            self.main.sort_by_key(Line::written);
        }
        self.worker.complete();
    }
}
