//! What can go wrong with a log.

use std::path::{Path, PathBuf};

use loadscope_words::{say, shell_word};
use thiserror::Error;

/// Why a log could not be written or read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LogError {
    /// The file cannot be opened.
    #[error("{}", loadscope_words::path_error(.path, .cause))]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// The disk or the pipe failed.
    #[error("{}", say!("cannot {doing} the recording after {lines} lines: {cause}", doing = verb(.doing), lines = .lines, cause = loadscope_words::explain(.cause)))]
    Io {
        /// `read` or `write`.
        doing: &'static str,
        /// Lines that went well.
        lines: u64,
        /// Why.
        cause: std::io::Error,
    },
    /// Something else than a recording.
    #[error("{}", say!("this is not a Loadscope recording: {why}. A recording is a .jsonl or .jsonl.zst file whose first line begins with {{\"loadscope\": …", why = .why))]
    NotALog {
        /// What was found instead.
        why: String,
    },
    /// A recording that was cut off before anything was recorded.
    #[error("{}", say!("it ends within its first line, so nothing can be recovered. Copy it again, or record again."))]
    CutHeader,
    /// Written by a newer program.
    #[error("{}", say!("this recording has format version {found}, but this Loadscope reads versions up to {supported}. Open it with a newer Loadscope, or record again.", found = .found, supported = .supported))]
    Version {
        /// The version in the header.
        found: u64,
        /// The version that can be read.
        supported: u64,
    },
    /// The parts of a recording are not there.
    #[error("{}", say!("cannot read the parts of this recording in {folder}: {cause}. Copy or move this folder together with the file.", folder = .folder.display(), cause = loadscope_words::cause(.cause)))]
    Parts {
        /// The folder with its parts.
        folder: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// A line that is no event.
    #[error("{}", say!("line {line} of the recording is damaged: {why}. Recover the intact lines with `loadscope repair FILE`.", line = .line, why = .why))]
    Line {
        /// Line number, from 1.
        line: u64,
        /// What is wrong.
        why: String,
    },
    /// Compressed data that cannot be decompressed.
    #[error("{}", say!("the compressed recording is damaged after line {lines}: {cause}. Recover the intact lines with `loadscope repair FILE`.", lines = .lines, cause = loadscope_words::cause(.cause)))]
    Compressed {
        /// Lines that went well.
        lines: u64,
        /// What zstd says.
        cause: std::io::Error,
    },
}

impl LogError {
    /// The same error where `before` lines come before those that were counted.
    #[must_use]
    pub fn after(mut self, before: u64) -> Self {
        if let Self::Io { lines: count, .. }
        | Self::Line { line: count, .. }
        | Self::Compressed { lines: count, .. } = &mut self
        {
            *count += before;
        }
        self
    }

    /// The sentence about the recording at `path`, with its name in the command that repairs it.
    pub fn about(&self, path: &Path) -> String {
        let text = self.to_string();
        text.replace("`loadscope repair FILE`", &repair_command(path))
    }

    /// That reading failed after so many lines. Of compressed data, what the system did not refuse is damaged.
    pub(crate) fn reading(cause: std::io::Error, lines: u64, packed: bool) -> Self {
        match packed && cause.raw_os_error().is_none() {
            true => Self::Compressed { lines, cause },
            false => Self::Io {
                doing: "read",
                lines,
                cause,
            },
        }
    }
}

/// The command that repairs a recording.
fn repair_command(path: &Path) -> String {
    format!("`loadscope repair {}`", shell_word(path))
}

/// What failed, in the language of the program.
fn verb(doing: &'static str) -> &'static str {
    match doing {
        "read" => say!("read"),
        "write" => say!("write"),
        other => other,
    }
}
