//! The questions there are: what to do with a run that was not saved and is about to be replaced, and whether to replace a file.

use std::path::{Path, PathBuf};

use crate::update::Effect;

/// What waits for the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// What was asked for.
    pub then: Effect,
    /// True while the run is being saved; what was asked for comes after.
    pub saving: bool,
}

/// A file that is to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// The recording.
    Recording(PathBuf),
    /// The run for other tools. The second path is the one of its files that was in the way, if one was.
    Export(PathBuf, Option<PathBuf>),
}

impl Output {
    /// The file that exists already.
    pub fn existing(&self) -> &Path {
        match self {
            Self::Recording(path) | Self::Export(path, None) | Self::Export(_, Some(path)) => path,
        }
    }
}

/// What to do with the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Save it first.
    Save,
    /// It is not needed.
    Discard,
    /// Leave everything as it is.
    Cancel,
}

impl Question {
    /// What will happen to the run, as the end of a question.
    pub fn what(&self) -> &'static str {
        match self.then {
            Effect::Quit => "before the window closes",
            Effect::Close => "before it is closed",
            Effect::Open(_) => "before the recording takes its place",
            _ => "before the next one takes its place",
        }
    }
}
