//! Describes errors of recordings, with a remedy for the user.

use std::path::{Path, PathBuf};

use loadscope_words::{say, shell_quoted};
use thiserror::Error;

/// Error of reading or writing a recording.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LogError {
    /// The file cannot be opened.
    #[error("{}", loadscope_words::path_error(.path, .cause))]
    Open {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        cause: std::io::Error,
    },
    /// Reading from or writing to a disk or a pipe failed.
    #[error("{}", say!("cannot {doing} the recording after {lines} lines: {cause}", doing = verb(.doing), lines = .lines, cause = loadscope_words::explain(.cause)))]
    Io {
        /// `read` or `write`.
        doing: &'static str,
        /// Number of lines before the error.
        lines: u64,
        /// Error of the operating system.
        cause: std::io::Error,
    },
    /// The file is not a recording.
    #[error("{}", say!("this is not a Loadscope recording: {why}. A recording is a .jsonl or .jsonl.zst file whose first line begins with {{\"loadscope\": …", why = .why))]
    NotALog {
        /// Description of the actual content.
        why: String,
    },
    /// The recording ends within its header.
    #[error("{}", say!("it ends within its first line, so nothing can be recovered. Copy it again, or record again."))]
    CutHeader,
    /// A newer program wrote the recording.
    #[error("{}", say!("this recording has format version {found}, but this Loadscope reads versions up to {supported}. Open it with a newer Loadscope, or record again.", found = .found, supported = .supported))]
    Version {
        /// Version in the header.
        found: u64,
        /// Newest supported version.
        supported: u64,
    },
    /// The parts of a recording are missing.
    #[error("{}", say!("cannot read the parts of this recording in {folder}: {cause}. Copy or move this folder together with the file.", folder = .folder.display(), cause = loadscope_words::cause(.cause)))]
    Parts {
        /// Folder of the parts.
        folder: PathBuf,
        /// Error of the operating system.
        cause: std::io::Error,
    },
    /// A line is not a valid event.
    #[error("{}", say!("line {line} of the recording is damaged: {why}. Recover the intact lines with `loadscope repair FILE`.", line = .line, why = .why))]
    Line {
        /// Line number, from 1.
        line: u64,
        /// Error message of the parser.
        why: String,
    },
    /// Compressed data cannot be decompressed.
    #[error("{}", say!("the compressed recording is damaged after line {lines}: {cause}. Recover the intact lines with `loadscope repair FILE`.", lines = .lines, cause = loadscope_words::cause(.cause)))]
    Compressed {
        /// Number of lines before the error.
        lines: u64,
        /// Error of zstd.
        cause: std::io::Error,
    },
}

impl LogError {
    /// Adds `before` to the line number, for a reader that started after `before` lines.
    #[must_use]
    pub fn offset_lines(mut self, before: u64) -> Self {
        if let Self::Io { lines: count, .. }
        | Self::Line { line: count, .. }
        | Self::Compressed { lines: count, .. } = &mut self
        {
            *count += before;
        }
        self
    }

    /// Returns the error text, with `path` in the suggested repair command.
    pub fn describe(&self, path: &Path) -> String {
        let text = self.to_string();
        text.replace("`loadscope repair FILE`", &repair_command(path))
    }

    /// Creates the error of a failed read after `lines` lines. In compressed data, an error without an OS error code means damage.
    pub(crate) fn from_read(cause: std::io::Error, lines: u64, packed: bool) -> Self {
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

fn repair_command(path: &Path) -> String {
    format!("`loadscope repair {}`", shell_quoted(path))
}

/// Returns the translation of `doing`.
fn verb(doing: &'static str) -> &'static str {
    match doing {
        "read" => say!("read"),
        "write" => say!("write"),
        other => other,
    }
}
