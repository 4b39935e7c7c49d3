//! The log of a process.

use super::line::Line;
use super::order::is_shuffled;
use super::worker::Worker;

/// Log of a process.
#[derive(Debug, Default)]
pub(super) struct Process {
    pub pid: u64,
    /// Lines of the main process, in the order of the file. Sorted by time after [`Process::complete`].
    pub main: Vec<Line>,
    pub worker: Worker,
}

impl Process {
    /// Sorts the lines in the order of writing. A merged or filtered log may have another order.
    pub fn complete(&mut self) {
        if is_shuffled(&self.main, |line| line.written().0) {
            self.main.sort_by_key(Line::written);
        }
        self.worker.complete();
    }
}
