//! What can go wrong with files of others.

use std::path::{Path, PathBuf};

use loadscope_trace::LogError;
use loadscope_words::{Text, say, text};
use thiserror::Error;

use crate::Kind;

/// What can be opened, in a sentence.
const OPENABLE: Text = text!(
    "Loadscope opens recordings (.jsonl, .jsonl.zst), folders of recordings, torch.profiler traces (.json, .json.gz), folders of LotusTrace logs and SPDL statistics (SQLite)"
);

/// Why something could not be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImportError {
    /// A recording of our own.
    #[error(transparent)]
    Log(#[from] LogError),
    /// It cannot be opened or read.
    #[error("{}", loadscope_words::path_error(.path, .cause))]
    Open {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// Nothing that can be opened.
    #[error("{}", match .is_folder {
        true => say!("this folder {what}. {OPENABLE}.", what = .what),
        false => say!("this file {what}. {OPENABLE}.", what = .what),
    })]
    Foreign {
        /// A folder, not a file.
        is_folder: bool,
        /// Predicate of a sentence about it: `is a PNG image`.
        what: String,
    },
    /// A file without content, or with whitespace alone.
    #[error("{}", say!("this file is empty. Record it or copy it again."))]
    Empty,
    /// It is what it seemed to be, but there is nothing of a data loader in it.
    #[error("{}", say!("this {kind} {why}. {OPENABLE}.", kind = .kind, why = .why))]
    Nothing {
        /// What it is.
        kind: Kind,
        /// What is missing.
        why: String,
    },
    /// It is damaged.
    #[error("{}", say!("this {kind} is damaged {place}: {why}. Copy it again, or record again.", kind = .kind, place = .place, why = .why))]
    Damaged {
        /// What it is.
        kind: Kind,
        /// Where: `at byte 512`.
        place: String,
        /// What is wrong.
        why: String,
    },
    /// More than fits into the memory.
    #[error("{}", say!("this {kind} has more than {most} {what}, the most that fit in memory. {remedy}.", kind = .kind, most = .most, what = .what, remedy = .remedy))]
    TooMuch {
        /// What it is.
        kind: Kind,
        /// How many can be held.
        most: usize,
        /// Of what.
        what: &'static str,
        /// What to do.
        remedy: &'static str,
    },
}

impl ImportError {
    /// True if the sentence names the file already.
    pub fn names_the_file(&self) -> bool {
        // The error of a recording is reported as itself.
        matches!(self, Self::Open { .. } | Self::Log(LogError::Open { .. }))
    }

    /// The predicate of a sentence about a file of an unknown kind: `is a PNG image`. `None` for other errors.
    pub fn other_kind(&self) -> Option<&str> {
        let Self::Foreign { what, .. } = self else {
            return None;
        };
        Some(what)
    }

    /// That a file cannot be read.
    pub(crate) fn unreadable(path: &Path, cause: std::io::Error) -> Self {
        Self::Open {
            path: path.to_owned(),
            cause,
        }
    }

    /// The error for a file of an unknown kind; `what` is the predicate of a sentence about it.
    pub(crate) fn foreign(what: &str) -> Self {
        Self::Foreign {
            is_folder: false,
            what: what.to_owned(),
        }
    }
}

/// Why a run could not be written.
#[derive(Debug, Error)]
pub enum ExportError {
    /// A file cannot be created or written.
    #[error("{}", loadscope_words::path_error(.path, .cause))]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// A file exists already, or is no place for a file.
    #[error(transparent)]
    Refused(#[from] loadscope_files::WriteError),
    /// The run cannot be written in this format.
    #[error("{path}: {why}")]
    Table {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// It was stopped.
    #[error("{}", say!("the export was canceled"))]
    Cancelled,
}
