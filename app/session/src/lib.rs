//! Where events come from: the embedded engine, the simulator, recordings, programs that are watched. The only crate of the
//! program that names the engine, and the only one that names the formats of others.
//!
//! Whatever the origin, what arrives is an [`Update`] on one channel. A thread of its own sorts the events and writes the
//! log, so that neither the loader nor the window waits for a disk.

use std::path::PathBuf;
use std::sync::Arc;

use loadscope_files::GrowingFile;
use loadscope_insight::Datasets;
use loadscope_plan::error::EngineError;
use loadscope_plan::order::Samples;
use loadscope_trace::{Event, LogError, Run, RunOptions};

use loadscope_insight::landmarks::Landmarks;
use loadscope_insight::loaders::Loaders;
use loadscope_insight::unsaved::Output;

mod again;
#[cfg(feature = "engine")]
mod engine;
#[cfg(not(feature = "engine"))]
#[path = "no_engine.rs"]
mod engine;
mod export;
mod file;
mod folder;
mod journal;
mod opened;
mod outgoing;
mod reading;
mod session;
mod simulator;
mod watch;

pub use engine::HAS_ENGINE;
pub use export::{ExportFormat, export_runs};
pub use file::{look, refusal};
pub use journal::{Entry, Journal, LeftOver, NewEntry};
pub use loadscope_live::{End, PROBE, ProgramError, at_exit, end_at_once, end_by, take_signals};
pub use opened::{Note, Opened, open, read_run};
pub use outgoing::{new_recording, new_recording_in};
pub use session::Session;
use session::{Kept, Origin};
pub use watch::Watched;

/// Something new from a session.
pub enum Update {
    /// The engine did something.
    Events(Vec<Event>),
    /// So much of a file has been read, 0 to 1.
    Loading(f32),
    /// A file has been read.
    Loaded {
        /// The loader that is shown.
        run: Box<Run>,
        /// The others that were in it.
        loaders: Box<Loaders>,
        /// What can be jumped to in the one that is shown.
        landmarks: Box<Landmarks>,
        /// True if it ends in the middle.
        cut: bool,
        /// What there is to say about the files of a folder.
        notes: Vec<Note>,
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

/// Where the log of a run goes.
pub enum Record {
    /// Nowhere.
    Off,
    /// Into memory, compressed, so that it can be saved later.
    Memory,
    /// Into this file, which is removed again if there is nothing to write.
    File(GrowingFile),
    /// Into the user's journal.
    Journal(NewEntry),
}

/// Why a session could not start.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// This build has no embedded loader.
    #[error(
        "this build has no embedded loader: it opens, records, watches and simulates. `cargo build --release` makes one that has it"
    )]
    NoEngine,
    /// The engine refused.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The recording cannot be written.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The program that is to be watched cannot be started.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The system gave no thread.
    #[error("cannot start a thread: {0}. Close other programs and try again")]
    Thread(std::io::Error),
}

/// Called when something new is there.
pub type Waker = Arc<dyn Fn() + Send + Sync>;

/// Who is asked about datasets: the engine, which opens them.
pub fn datasets() -> Datasets {
    Datasets(engine::CATALOG)
}

/// The samples of the dataset that the options name. Only its length is looked at.
///
/// # Errors
/// If the dataset cannot be opened.
pub fn samples_of_dataset(options: &RunOptions) -> Result<Samples, SessionError> {
    Ok(loadscope_plan::order::samples_of_dataset(
        options,
        engine::CATALOG,
    )?)
}

/// Checks options without running them.
///
/// # Errors
/// The sentence with which [`Session::start`] would refuse them, as far as that is known without opening the dataset.
pub fn check(options: &RunOptions) -> Result<(), SessionError> {
    Ok(loadscope_plan::plan::check_options(options)?)
}

#[cfg(all(test, feature = "engine"))]
mod tests;
