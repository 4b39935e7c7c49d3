//! Messages from sessions: events, recordings, and results of saving.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use loadscope_trace::{Event, Nanos, Run, RunId};

use crate::landmarks::Landmarks;
use crate::loaders::Loaders;

/// Notification for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// True for errors and missing data.
    pub is_error: bool,
    /// Complete sentences.
    pub text: String,
    /// Subject of the notice.
    pub about: About,
}

/// Subject of a notice, if it matters later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum About {
    /// Any other subject.
    #[default]
    Other,
    /// An export. A successful one removes the notice of an earlier failure.
    Export,
}

impl Notice {
    /// Creates a notice of an error.
    pub fn error(text: String) -> Self {
        Self {
            is_error: true,
            text,
            about: About::Other,
        }
    }

    /// Creates an informative notice.
    pub fn note(text: String) -> Self {
        Self {
            is_error: false,
            ..Self::error(text)
        }
    }
}

/// Loaders of a file that is partly read.
#[derive(Clone, Debug, Default)]
pub struct PartialRead {
    /// The shown loader.
    pub run: Run,
    /// The other loaders.
    pub loaders: Loaders,
    /// Jump targets of the shown loader.
    pub landmarks: Landmarks,
}

/// Loaders of a session, built again with sums in place of old events.
#[derive(Clone, Debug)]
pub struct RebuiltRuns {
    /// All loaders by id, with their jump targets.
    pub runs: Vec<(RunId, Run, Landmarks)>,
    /// Token that exists while the message is in flight. No second message is created for a window that does not receive.
    pub in_flight: Arc<()>,
}

/// Message from a session.
#[derive(Clone, Debug)]
pub enum SessionEvent {
    /// New events of the engine.
    Events(Vec<Event>),
    /// All data so far, in less memory.
    Rebuilt(RebuiltRuns),
    /// Progress of reading a file, 0 to 1.
    Loading(f32),
    /// First part of a file, shown until it is replaced.
    Partial(Box<PartialRead>),
    /// A file is completely read.
    Loaded {
        /// The shown loader.
        run: Box<Run>,
        /// The other loaders.
        loaders: Box<Loaders>,
        /// Jump targets of the shown loader.
        landmarks: Box<Landmarks>,
        /// Initial position of the cursor: the instant to show first.
        at: Option<Nanos>,
        /// True if the file is truncated.
        cut: bool,
        /// Notices about the files of a folder.
        notes: Vec<Notice>,
    },
    /// A simulation has ended.
    Simulated {
        /// The simulated run.
        run: Box<Run>,
        /// Its jump targets.
        landmarks: Box<Landmarks>,
    },
    /// End of the session, with an error message if it failed.
    Ended(Option<String>),
    /// The recording is saved.
    Saved(PathBuf),
    /// Nothing was written, because existing files must not be replaced.
    Exists(Output),
    /// The recording could not be saved, with the error message.
    NotSaved(String),
    /// Progress of an export, 0 to 1.
    Exporting(f32),
    /// The run is exported to these files.
    Exported(Vec<PathBuf>),
    /// The run was not exported, with the error message. `None` means that the user canceled.
    NotExported(Option<String>),
    /// Information for the user. The recording is complete.
    Notice(String),
    /// An error. The run continues, but its recording is incomplete.
    Failed(String),
}

/// A file to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Recording of the shown run.
    Recording(PathBuf),
    /// An export for other tools. The second path is an existing file of the export that must not be replaced.
    Export(PathBuf, Option<PathBuf>),
}

impl Output {
    /// Returns the path of the existing file.
    pub fn existing(&self) -> &Path {
        match self {
            Self::Recording(path) | Self::Export(path, None) | Self::Export(_, Some(path)) => path,
        }
    }
}

/// An unsaved run from an earlier session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsavedRun {
    /// Path of the recording.
    pub path: PathBuf,
    /// Time of its last event since 1970.
    pub until: Duration,
    /// Its size, bytes.
    pub bytes: u64,
    /// Text of the dataset.
    pub dataset: String,
    /// `num_workers`
    pub workers: usize,
}
