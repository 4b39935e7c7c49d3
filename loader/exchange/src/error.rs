//! Kinds of inputs, and errors of imports and exports.

use std::fmt;
use std::path::{Path, PathBuf};

use loadscope_trace::LogError;
use loadscope_words::{Text, say, text};
use thiserror::Error;

/// Kind of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Recording of Loadscope.
    Log,
    /// Trace of `torch.profiler` (Kineto), plain or compressed with gzip.
    Profiler,
    /// Log of LotusTrace, or a folder of logs.
    Lotus,
    /// Statistics of SPDL in an SQLite file.
    Spdl,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Log => "recording",
            Self::Profiler => say!("Chrome trace"),
            Self::Lotus => say!("LotusTrace log"),
            Self::Spdl => say!("SQLite file"),
        })
    }
}

/// List of the supported inputs, the end of an error message.
const OPENABLE: Text = text!(
    "Loadscope opens recordings (.jsonl, .jsonl.zst), folders of recordings, torch.profiler traces (.json, .json.gz), folders of LotusTrace logs and SPDL statistics (SQLite)"
);

/// Error of an import.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The recording of Loadscope is invalid.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The file cannot be opened or read.
    #[error("{}", loadscope_words::path_error(.path, .cause))]
    Open {
        /// File or folder.
        path: PathBuf,
        /// Error of the operating system.
        cause: std::io::Error,
    },
    /// The input is not in a supported format.
    #[error("{}", match .is_folder {
        true => say!("this folder {what}. {OPENABLE}.", what = .what),
        false => say!("this file {what}. {OPENABLE}.", what = .what),
    })]
    Foreign {
        /// True for a folder, false for a file.
        is_folder: bool,
        /// Predicate of the error message: `is a PNG image`.
        what: String,
    },
    /// The file is empty or contains only whitespace.
    #[error("{}", say!("this file is empty. Record it or copy it again."))]
    Empty,
    /// The input has a supported format, but contains no data of a loader.
    #[error("{}", say!("this {kind} {why}. {OPENABLE}.", kind = .kind, why = .why))]
    Nothing {
        /// Format of the input.
        kind: Kind,
        /// Predicate of the error message, about the missing data.
        why: String,
    },
    /// The file is damaged.
    #[error("{}", say!("this {kind} is damaged {place}: {why}. Copy it again, or record again.", kind = .kind, place = .place, why = .why))]
    Damaged {
        /// Format of the file.
        kind: Kind,
        /// Position of the damage: `at byte 512`.
        place: String,
        /// Error message of the parser.
        why: String,
    },
    /// The input is larger than the memory limit.
    #[error("{}", say!("this {kind} has more than {most} {what}, the most that fit in memory. {remedy}.", kind = .kind, most = .most, what = .what, remedy = .remedy))]
    TooMuch {
        /// Format of the input.
        kind: Kind,
        /// Maximum number of items.
        most: usize,
        /// Items that are counted.
        what: &'static str,
        /// Remedy, the end of the error message.
        remedy: &'static str,
    },
}

impl ImportError {
    /// Returns true if the message already names the file.
    pub fn names_the_file(&self) -> bool {
        // `Log` is transparent, so its message is that of the inner error.
        matches!(self, Self::Open { .. } | Self::Log(LogError::Open { .. }))
    }

    /// Returns the predicate of the error message about a file of an unknown kind: `is a PNG image`. Returns `None` for other errors.
    pub fn other_kind(&self) -> Option<&str> {
        let Self::Foreign { what, .. } = self else {
            return None;
        };
        Some(what)
    }

    /// Returns the error for a file that cannot be read.
    pub(crate) fn unreadable(path: &Path, cause: std::io::Error) -> Self {
        Self::Open {
            path: path.to_owned(),
            cause,
        }
    }

    /// Returns the error for a file of an unknown kind. `what` is the predicate of the error message.
    pub(crate) fn foreign(what: &str) -> Self {
        Self::Foreign {
            is_folder: false,
            what: what.to_owned(),
        }
    }
}

/// Error of an export.
#[derive(Debug, Error)]
pub enum ExportError {
    /// A file cannot be created or written.
    #[error("{}", loadscope_words::path_error(.path, .cause))]
    Write {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        cause: std::io::Error,
    },
    /// A file already exists, or its path cannot be a file.
    #[error(transparent)]
    Refused(#[from] loadscope_files::WriteError),
    /// The format does not support the run.
    #[error("{path}: {why}")]
    Table {
        /// Path of the file.
        path: PathBuf,
        /// Reason why the format does not support the run.
        why: String,
    },
    /// The format contains only sampled stacks, and the runs have none.
    #[error("{}", say!("the recording has no sampled stacks. Record again with --stacks 100."))]
    NoStacks,
    /// The export was canceled.
    #[error("{}", say!("the export was canceled"))]
    Cancelled,
}
