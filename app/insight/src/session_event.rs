//! What arrives from where runs come from: events, recordings that were read, and what became of what was written.

use std::path::PathBuf;
use std::sync::Arc;

use loadscope_trace::{Event, Nanos, Run, RunId};

use crate::landmarks::Landmarks;
use crate::loaders::Loaders;
use crate::unsaved::Output;

/// What the user should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Something went wrong, or something is missing that should be there.
    pub is_error: bool,
    /// Whole sentences.
    pub text: String,
    /// What it is about.
    pub about: About,
}

/// What a notice is about, where that counts later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum About {
    /// Anything else.
    #[default]
    Other,
    /// An export: one that succeeds takes away that an earlier one failed.
    Export,
}

impl Notice {
    /// Something went wrong.
    pub fn error(text: String) -> Self {
        Self {
            is_error: true,
            text,
            about: About::Other,
        }
    }

    /// Something that is good to know.
    pub fn note(text: String) -> Self {
        Self {
            is_error: false,
            ..Self::error(text)
        }
    }
}

/// The loaders of a file as far as they were read.
#[derive(Clone, Debug, Default)]
pub struct PartialRead {
    /// The one that is shown.
    pub run: Run,
    /// The others.
    pub loaders: Loaders,
    /// What can be jumped to in the one that is shown.
    pub landmarks: Landmarks,
}

/// The loaders of a session, folded anew: of their far past there are sums in the place of events.
#[derive(Clone, Debug)]
pub struct Renewed {
    /// All of them by id, with what can be jumped to.
    pub runs: Vec<(RunId, Run, Landmarks)>,
    /// It is on its way as long as this is there: of a window that takes nothing in, no second one is made.
    pub on_its_way: Arc<()>,
}

/// Something new from a session.
#[derive(Clone, Debug)]
pub enum SessionEvent {
    /// The engine did something.
    Events(Vec<Event>),
    /// Everything that has arrived so far, in less memory.
    Renewed(Renewed),
    /// So much of a file has been read, 0 to 1.
    Loading(f32),
    /// So much of a file has been read so far; it is shown until it is taken back.
    Partial(Box<PartialRead>),
    /// A file has been read.
    Loaded {
        /// The loader that is shown.
        run: Box<Run>,
        /// The others that were in it.
        loaders: Box<Loaders>,
        /// What can be jumped to in the one that is shown.
        landmarks: Box<Landmarks>,
        /// The instant at which one begins to look at it.
        at: Option<Nanos>,
        /// True if it ends in the middle.
        cut: bool,
        /// What there is to say about the files of a folder.
        notes: Vec<Notice>,
    },
    /// A run has been simulated.
    Simulated {
        /// What happened in it.
        run: Box<Run>,
        /// What can be jumped to in it.
        landmarks: Box<Landmarks>,
    },
    /// Nothing more will come. The sentence says what ended it, if it was an error.
    Ended(Option<String>),
    /// The recording was saved.
    Saved(PathBuf),
    /// Nothing was written: there are files that may not be replaced.
    Exists(Output),
    /// The recording could not be saved. The sentence says why.
    NotSaved(String),
    /// So much of the run was exported, 0 to 1.
    Exporting(f32),
    /// The run was exported to these files.
    Exported(Vec<PathBuf>),
    /// The run was not exported. The sentence says why; there is none if that was asked for.
    NotExported(Option<String>),
    /// Something that is worth knowing. Nothing of the recording is missing.
    Notice(String),
    /// Something did not work; the run goes on, and part of its recording is missing.
    Failed(String),
}
