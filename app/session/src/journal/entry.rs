//! Runs of the journal: handles, files with sizes and removal, and descriptions from the first events.
//! A run is one file. A run with a limit also has a folder of parts.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};
use std::{fs, io};

use loadscope_files::{GrowingFile, is_being_written};
use loadscope_trace::multipart::{self, PartFile};
use loadscope_trace::{EventKind, LogError, LogReader, RunInfo};
use loadscope_words::say;

use crate::limited::{NewLimited, parts_of, remove_folder};

/// Maximum size of one run, bytes.
pub(super) const MAX_RUN_BYTES: u64 = 2 << 30;

/// A new run in the journal, before writing.
#[derive(Debug)]
pub struct NewEntry {
    files: NewFiles,
    entry: Entry,
}

/// Files of a new run.
#[derive(Debug)]
pub(crate) enum NewFiles {
    /// One file with all events.
    Whole(GrowingFile),
    /// A recording with a limit.
    Limited(NewLimited),
}

/// A run in the journal, during or after writing.
#[derive(Clone, Debug)]
pub struct Entry {
    path: PathBuf,
    /// Folder of the parts. `None` for a run without a limit.
    parts: Option<PathBuf>,
    unwanted: Arc<AtomicBool>,
}

impl NewEntry {
    pub(super) fn new(files: NewFiles) -> Self {
        let (path, parts) = match &files {
            NewFiles::Whole(file) => (file.path(), None),
            NewFiles::Limited(new) => (new.path(), Some(new.folder().to_owned())),
        };
        let entry = Entry {
            path: path.to_owned(),
            parts,
            unwanted: Arc::default(),
        };
        Self { files, entry }
    }

    /// Returns the handle that the session keeps.
    pub fn entry(&self) -> Entry {
        self.entry.clone()
    }

    pub(crate) fn split(self) -> (NewFiles, Entry) {
        (self.files, self.entry)
    }
}

impl Entry {
    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the run after it was saved or discarded. A run that is still being written is removed at its end.
    pub fn discard(&self) {
        self.unwanted.store(true, Ordering::Release);
        let is_written = is_being_written(&self.path);
        // The file may be gone, or the system may not delete open files.
        let _ = fs::remove_file(&self.path);
        // The writing thread removes the parts at its end. Without the main file they are not offered.
        if let Some(folder) = self.parts.as_deref().filter(|_| !is_written) {
            remove_folder(folder);
        }
    }

    pub(crate) fn is_unwanted(&self) -> bool {
        self.unwanted.load(Ordering::Acquire)
    }

    /// Returns an error if the size limit is reached.
    pub(crate) fn check(&self, written: u64) -> io::Result<()> {
        match written < MAX_RUN_BYTES {
            true => Ok(()),
            false => Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                say!(
                    "the run is larger than {} GB, the limit of the journal. Record to a file with `loadscope record`.",
                    MAX_RUN_BYTES >> 30
                ),
            )),
        }
    }
}

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

/// Maximum number of events to search for the dataset.
pub(super) const MAX_EVENTS: usize = 64;

/// Description from the first events.
pub(super) enum RunDescription {
    /// There are no events, and no line was truncated. Removing the file loses nothing.
    Nothing,
    /// The description of the run.
    Run(Box<RunInfo>),
    /// There are events. The text describes the run.
    Unknown(&'static str),
}

impl RunDescription {
    pub fn of(path: &Path, file: File) -> Self {
        // A full disk or a system crash can leave a file without a header.
        if file.metadata().is_ok_and(|found| found.len() == 0) {
            return Self::Nothing;
        }
        match Self::read(path, file) {
            Ok(found) => found,
            Err(LogError::Version { .. }) => {
                Self::Unknown(say!("A run of a newer Loadscope version"))
            }
            Err(_) => Self::Unknown(say!("A damaged run")),
        }
    }

    fn read(path: &Path, file: File) -> Result<Self, LogError> {
        let mut events = LogReader::new(file)?;
        if events.parts().is_some() {
            events = LogReader::open(path)?;
        }
        let mut run = None;
        let mut damage = None;
        for event in events.by_ref().take(MAX_EVENTS) {
            match event.map(|event| introduced(event.kind)) {
                Ok(Some(info)) => run = Some(info),
                Ok(None) if run.is_some() => break,
                Ok(None) => {}
                Err(error) => damage = Some(error),
            }
        }
        match (run, damage) {
            (Some(run), _) => Ok(Self::Run(run)),
            (None, Some(error)) => Err(error),
            // Lines of an unknown version count as content.
            (None, None) if events.lines() <= 1 && !events.is_truncated() => Ok(Self::Nothing),
            (None, None) => Ok(Self::Unknown(say!("A run of an unknown dataset"))),
        }
    }
}

/// Returns the run of an introduction. If parts were dropped, the recording starts with its retention event.
fn introduced(kind: EventKind) -> Option<Box<RunInfo>> {
    match kind {
        EventKind::RunStarted(info) => Some(info),
        EventKind::Retention(retention) => Some(Box::new(retention.info)),
        _ => None,
    }
}
