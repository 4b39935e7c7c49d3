//! Where the events come from.

use std::path::PathBuf;

use loadscope_insight::landmarks::Goal;
use loadscope_trace::Nanos;

/// Where the events come from, and how far along that is.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Source {
    /// There is no run.
    #[default]
    None,
    /// A file is being read; the share that was read, if known.
    Loading {
        /// The file.
        path: PathBuf,
        /// 0 to 1.
        share: f32,
    },
    /// The simulator works the run out.
    Simulating,
    /// The engine runs.
    Live {
        /// True while the gate holds it.
        paused: bool,
    },
    /// The engine has come to its end.
    Finished,
    /// Read from a file.
    Recording {
        /// The file.
        path: PathBuf,
        /// True if the file ends in the middle.
        cut: bool,
    },
}

impl Source {
    /// True while the engine runs.
    pub fn is_live(&self) -> bool {
        matches!(self, Self::Live { .. })
    }
}

/// What the engine, held at the gate, is let go on for, one transition at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seek {
    /// What is to happen.
    pub goal: Goal,
    /// How far the run was.
    pub step: usize,
    /// What time it was.
    pub now: Nanos,
    /// How many transitions there were when the last one was asked for.
    pub asked_at: Option<usize>,
}
