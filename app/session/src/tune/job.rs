//! What is to be tried, how far it is, and why nothing was tried.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use loadscope_files::WriteError;
use loadscope_insight::tune::{Kind, Tried};
use loadscope_live::{End, ProgramError, Stop};
use loadscope_trace::{Nanos, Overrides, plural};
use loadscope_words::say;

use crate::SessionError;

/// What is to be tried.
#[derive(Clone, Debug)]
pub struct Job {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// The folder that it is started in; `None`: that of this process.
    pub started_in: Option<PathBuf>,
    /// When each run has told enough.
    pub stop: Stop,
    /// So many settings are tried at most.
    pub tries: usize,
    /// These, if there are any, instead of what the forecast holds for promising.
    pub asked: Vec<Overrides>,
    /// The loader, as a person names it; `None`: the one that is waited for longest.
    pub loader: Option<String>,
    /// The arguments of all loaders are set, and not only of the one that is measured.
    pub all_loaders: bool,
    /// Where the recordings go: an empty folder.
    pub folder: PathBuf,
}

/// How far it is.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// A run begins.
    Begins {
        /// From 1.
        number: usize,
        /// How many there will be, once that is known.
        of: Option<usize>,
        /// What it is for.
        kind: Kind,
        /// What is set in it.
        overrides: &'a Overrides,
    },
    /// A run has ended.
    Ended(&'a Tried),
    /// There is something to say.
    Notice(&'a str),
}

/// A line for a person who waits.
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

/// Why nothing was tried.
#[derive(Debug, thiserror::Error)]
pub enum TuneError {
    /// The program cannot be started.
    #[error(transparent)]
    Start(#[from] ProgramError),
    /// It failed by itself, as it is.
    #[error("{}", say!("the unchanged program failed. Its output is in {log}.", log = .log.display()))]
    Failed {
        /// How it ended.
        end: End,
        /// What it wrote.
        log: PathBuf,
    },
    /// There is nothing to measure.
    #[error("{0}")]
    Nothing(String),
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A program cannot be followed.
    #[error(transparent)]
    Session(#[from] SessionError),
}
