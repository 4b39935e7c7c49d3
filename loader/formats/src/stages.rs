//! Stages of the work on a sample.

/// Recorder of the time per stage of a sample.
pub trait Stages {
    /// Starts the stage `name` (`open`, `read`, `decode`, `transform`). The stage lasts until the next call or the end of the
    /// sample. The times of a repeated stage add up.
    fn enter(&mut self, name: &'static str);

    /// Returns true after cancellation of the sample. Long waits (for a server, for a lock) then stop.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Recorder that measures nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Untimed;

impl Stages for Untimed {
    fn enter(&mut self, _: &'static str) {}
}
