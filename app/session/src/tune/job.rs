//! Configuration, progress and errors of trials.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use loadscope_files::WriteError;
use loadscope_insight::tune::{Kind, Tried};
use loadscope_live::{End, ProgramError, Stop};
use loadscope_trace::{Nanos, Overrides, plural};
use loadscope_words::say;

use crate::SessionError;

/// Configuration of trials.
#[derive(Clone, Debug)]
pub struct Job {
    /// Program and arguments.
    pub command: Vec<OsString>,
    /// Working directory of the program. `None` is that of this process.
    pub started_in: Option<PathBuf>,
    /// Condition that ends each run.
    pub stop: Stop,
    /// Maximum number of settings.
    pub tries: usize,
    /// Requested settings. If empty, the forecast chooses promising ones.
    pub asked: Vec<Overrides>,
    /// Name of the loader. `None` is the one with the longest waits.
    pub loader: Option<String>,
    /// True to set the arguments of all loaders, not only of the measured one.
    pub all_loaders: bool,
    /// Empty folder for the recordings.
    pub folder: PathBuf,
}

/// Progress of the trials.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// Start of a run.
    Begins {
        /// Number of the run, from 1.
        number: usize,
        /// Total number of runs, if it is known.
        of: Option<usize>,
        /// Kind of the run.
        kind: Kind,
        /// Arguments set in the run.
        overrides: &'a Overrides,
    },
    /// End of a run.
    Ended(&'a Tried),
    /// Message for the user, not about a single run.
    Notice(&'a str),
}

/// Formats a line for the user.
impl fmt::Display for Progress<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = match self {
            Self::Begins {
                number,
                of,
                kind,
                overrides,
            } => {
                let of = of.map_or(String::new(), |of| say!(" of {of}"));
                let what = match kind {
                    Kind::First => say!("the unchanged program").to_owned(),
                    Kind::Repeat => say!("the unchanged program, again").to_owned(),
                    Kind::Try => overrides.to_string(),
                };
                say!("run {number}{of}: {what}")
            }
            Self::Ended(tried) => match &tried.measured {
                Ok(m) => say!(
                    "  {} per batch, {} of it waiting ({})",
                    Nanos::from_secs_f64(m.per_batch),
                    Nanos::from_secs_f64(m.waited),
                    plural(m.batches as u64, say!(n: "batch"), say!(n: "batches"))
                ),
                Err(why) => format!("  {why}"),
            },
            Self::Notice(text) => (*text).to_owned(),
        };
        f.write_str(&line)
    }
}

/// Error that prevents the trials.
#[derive(Debug, thiserror::Error)]
pub enum TuneError {
    /// The program cannot be started.
    #[error(transparent)]
    Start(#[from] ProgramError),
    /// The unchanged program failed.
    #[error("{}", say!("the unchanged program failed. Its output is in {log}.", log = .log.display()))]
    Failed {
        /// Exit status.
        end: End,
        /// File with its output.
        log: PathBuf,
    },
    /// There is nothing to measure.
    #[error("{0}")]
    Nothing(String),
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The program cannot be watched.
    #[error(transparent)]
    Session(#[from] SessionError),
}
