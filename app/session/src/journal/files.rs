//! Files of a run in the journal: one file, and for a run with a limit a folder of parts.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use loadscope_trace::multipart::{self, PartFile};

use crate::limited::{parts_of, remove_folder};

/// Age of an orphaned folder of parts before its removal.
/// A younger one can belong to a discarded run that is still written, or to a new run.
const STALE: Duration = Duration::from_secs(24 * 60 * 60);

/// The files of a run.
pub(super) struct Files {
    /// Main file.
    pub path: PathBuf,
    parts: Option<PathBuf>,
    /// Total size, bytes.
    pub bytes: u64,
    /// Time of the last modification.
    pub until: SystemTime,
}

impl Files {
    /// Returns the files of the run at `path`. Returns `None` if it is not a file.
    pub fn of(path: &Path) -> Option<Self> {
        let found = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        let mut files = Self {
            path: path.to_owned(),
            parts: parts_of(path),
            bytes: found.len(),
            until: found.modified().unwrap_or(SystemTime::UNIX_EPOCH),
        };
        for found in files.parts.iter().flat_map(|folder| members(folder)) {
            files.bytes += found.len();
            files.until = files.until.max(found.modified().unwrap_or(files.until));
        }
        Some(files)
    }

    /// Removes the files. If this process is killed in between, `sweep` removes the parts later.
    pub fn remove(&self) -> io::Result<()> {
        fs::remove_file(&self.path)?;
        if let Some(folder) = &self.parts {
            remove_folder(folder);
        }
        Ok(())
    }
}

fn members(folder: &Path) -> impl Iterator<Item = fs::Metadata> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_member = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        name.to_str().and_then(PartFile::parse).is_some()
    };
    entries
        .filter(is_member)
        .filter_map(|entry| entry.metadata().ok())
}

/// Removes orphaned folders of parts.
pub(super) fn sweep(folder: &Path, runs: &[Files]) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_ours = entry
            .file_name()
            .as_encoded_bytes()
            .ends_with(multipart::FOLDER_SUFFIX.as_bytes());
        let is_of_run = runs.iter().any(|run| run.parts.as_ref() == Some(&path));
        if is_ours && !is_of_run && is_stale(&path) {
            remove_folder(&path);
        }
    }
}

fn is_stale(folder: &Path) -> bool {
    let itself = fs::metadata(folder).into_iter();
    let mut times = itself
        .chain(members(folder))
        .filter_map(|found| found.modified().ok());
    times.all(|at| at.elapsed().is_ok_and(|age| age > STALE))
}
