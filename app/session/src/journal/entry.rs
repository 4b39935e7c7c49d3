//! A run in the journal that is written, or was.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use loadscope_files::{GrowingFile, is_being_written};
use loadscope_words::say;

use crate::limited::{NewLimited, remove_folder};

/// One run has at most so many bytes.
pub(super) const MOST_OF_ONE: u64 = 2 << 30;

/// A journal that is to be written.
#[derive(Debug)]
pub struct NewEntry {
    files: NewFiles,
    entry: Entry,
}

/// What it is written into.
#[derive(Debug)]
pub(crate) enum NewFiles {
    /// One file with everything.
    Whole(GrowingFile),
    /// A recording with a limit.
    Limited(NewLimited),
}

/// A journal that is being written, or was.
#[derive(Clone, Debug)]
pub struct Entry {
    path: PathBuf,
    /// The folder with its parts, if it has a limit.
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

    /// What stays with the session.
    pub fn entry(&self) -> Entry {
        self.entry.clone()
    }

    pub(crate) fn split(self) -> (NewFiles, Entry) {
        (self.files, self.entry)
    }
}

impl Entry {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// It is saved, or of no use: it is removed, now or when its last event has been written.
    pub fn discard(&self) {
        self.unwanted.store(true, Ordering::Release);
        let is_written = is_being_written(&self.path);
        // It may be gone already, or be open on a system that keeps open files.
        let _ = fs::remove_file(&self.path);
        // Who writes the parts removes them at the end; without the file they are offered no more.
        if let Some(folder) = self.parts.as_deref().filter(|_| !is_written) {
            remove_folder(folder);
        }
    }

    pub(crate) fn is_unwanted(&self) -> bool {
        self.unwanted.load(Ordering::Acquire)
    }

    /// Refuses to grow without end.
    pub(crate) fn check(&self, written: u64) -> io::Result<()> {
        match written < MOST_OF_ONE {
            true => Ok(()),
            false => Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                say!(
                    "the run is larger than {} GB, the limit of the journal. Record to a file with `loadscope record`.",
                    MOST_OF_ONE >> 30
                ),
            )),
        }
    }
}
