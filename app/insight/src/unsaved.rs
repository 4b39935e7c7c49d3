//! Runs that are not saved yet, and where they are to go.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// A file that is to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// The recording.
    Recording(PathBuf),
    /// The run for other tools. The second path is the one of its files that was in the way, if one was.
    Export(PathBuf, Option<PathBuf>),
}

impl Output {
    /// The file that exists already.
    pub fn existing(&self) -> &Path {
        match self {
            Self::Recording(path) | Self::Export(path, None) | Self::Export(_, Some(path)) => path,
        }
    }
}

/// A run that was written but never saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOver {
    /// The recording.
    pub path: PathBuf,
    /// When its last event was written, since 1970.
    pub until: Duration,
    /// Its size, bytes.
    pub bytes: u64,
    /// What was loaded.
    pub dataset: String,
    /// `num_workers`
    pub workers: usize,
}
