//! Unsaved runs and output files.

use std::path::{Path, PathBuf};
use std::time::Duration;

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
