//! Which part of the work on a sample is under way.

/// Takes down where the time of a sample goes: into opening, reading, decoding, transforming.
pub trait Stages {
    /// The work that follows, up to the next call or the end of the sample, is the stage `name`: `open`, `read`, `decode`,
    /// `transform`. A stage that is entered several times adds up.
    fn enter(&mut self, name: &'static str);

    /// True once the sample is not wanted any more: what waits long (for a server, for a lock) gives up.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Measures nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Untimed;

impl Stages for Untimed {
    fn enter(&mut self, _: &'static str) {}
}
