//! Source of the events.

use std::path::PathBuf;

use loadscope_insight::landmarks::Goal;
use loadscope_trace::Nanos;

/// Source of the events, with its progress.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Source {
    /// There is no run.
    #[default]
    None,
    /// A file is being read.
    Loading {
        /// File or folder that is being read.
        path: PathBuf,
        /// Fraction that was read, 0 to 1.
        share: f32,
    },
    /// The simulator computes the run.
    Simulating,
    /// The engine runs.
    Live {
        /// True while the gate pauses the engine.
        paused: bool,
    },
    /// The engine has finished.
    Finished,
    /// The run was read from a file.
    Recording {
        /// File or folder of the recording.
        path: PathBuf,
        /// True if the file is truncated.
        cut: bool,
    },
}

impl Source {
    /// Returns true while the engine runs.
    pub fn is_live(&self) -> bool {
        matches!(self, Self::Live { .. })
    }
}

/// Search for a moment. The paused engine performs one transition after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seek {
    /// Searched moment.
    pub goal: Goal,
    /// Number of transitions at the start of the search.
    pub step: usize,
    /// Time at the start of the search.
    pub now: Nanos,
    /// Number of transitions at the last request for a transition.
    pub asked_at: Option<usize>,
}
