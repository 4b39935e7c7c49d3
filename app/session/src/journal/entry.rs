//! Handles of the journal's runs: their files, their removal, and the size limit.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use loadscope_files::{GrowingFile, is_being_written};
use loadscope_words::say;

use crate::limited::{NewLimited, remove_folder};

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
