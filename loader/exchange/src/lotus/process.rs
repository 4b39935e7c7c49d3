//! What a process wrote.

use super::line::Line;
use super::order::is_shuffled;
use super::worker::Worker;

/// What a process wrote.
#[derive(Debug, Default)]
pub(super) struct Process {
    pub pid: u64,
    /// Lines of the main process: in the order of the file, and after [`Process::complete`] in order of time.
    pub main: Vec<Line>,
    pub worker: Worker,
}

impl Process {
    /// Puts the lines into the order in which they were written. A log that was merged or filtered may have another one.
    pub fn complete(&mut self) {
        if is_shuffled(&self.main, |line| line.written().0) {
            self.main.sort_by_key(Line::written);
        }
        self.worker.complete();
    }
}
