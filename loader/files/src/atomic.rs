//! Atomic creation of files.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::target::{Target, folder_of, part_name};
use crate::{Existing, WriteError, lock, stream};

mod folder;

pub use folder::AtomicFolder;

/// New file that is written under a random name next to its path. [`AtomicFile::commit`] moves it to its path.
/// Dropping it leaves the existing file unchanged.
///
/// Writes are not buffered.
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    existing: Existing,
    sink: Sink,
}

#[derive(Debug)]
enum Sink {
    /// Temporary file next to the path.
    Temporary(NamedTempFile),
    /// Pipe or device that is written directly.
    Stream(File),
}

impl AtomicFile {
    /// Creates a temporary file for `path`.
    ///
    /// # Errors
    /// If a file exists that may not be replaced or is being written, or if the folder cannot be written to.
    pub fn create(path: &Path, existing: Existing) -> Result<Self, WriteError> {
        let sink = match Target::of(path, existing)? {
            Target::Stream => Sink::Stream(stream::open(path)?),
            Target::Free | Target::Replaceable => {
                Sink::Temporary(new_part(path, WriteMode::AtPosition)?)
            }
        };
        Ok(Self {
            path: path.to_owned(),
            existing,
            sink,
        })
    }

    /// Writes `bytes` to `path` atomically.
    ///
    /// # Errors
    /// As [`AtomicFile::create`] and [`AtomicFile::commit`].
    pub fn write_all_to(path: &Path, existing: Existing, bytes: &[u8]) -> Result<(), WriteError> {
        let mut file = Self::create(path, existing)?;
        file.write_all(bytes)
            .map_err(|e| WriteError::io(path, "write", e))?;
        file.commit()
    }

    /// Returns the final path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes all data to disk. With several files, each [`AtomicFile::commit`] is then fast.
    ///
    /// # Errors
    /// If the disk is full.
    pub fn sync(&self) -> Result<(), WriteError> {
        match &self.sink {
            Sink::Stream(_) => Ok(()),
            Sink::Temporary(part) => part
                .as_file()
                .sync_all()
                .map_err(|e| WriteError::io(&self.path, "sync", e)),
        }
    }

    /// Moves the file to its path. All data are on disk before.
    ///
    /// # Errors
    /// If the disk is full, or if another file appeared at the path and may not be replaced.
    pub fn commit(self) -> Result<(), WriteError> {
        self.sync()?;
        let path = self.path;
        let part = match self.sink {
            Sink::Stream(mut file) => {
                return file.flush().map_err(|e| WriteError::io(&path, "write", e));
            }
            Sink::Temporary(part) => part,
        };
        let moved = match self.existing {
            Existing::Keep => part.persist_noclobber(&path),
            Existing::Replace => {
                // A recorder may have opened the existing file since.
                Target::of(&path, Existing::Replace)?;
                copy_permissions(&part, &path);
                part.persist(&path)
            }
        };
        match moved {
            Ok(_) => {
                sync_folder(folder_of(&path));
                Ok(())
            }
            Err(e) if e.error.kind() == io::ErrorKind::AlreadyExists => {
                Err(WriteError::Exists(path))
            }
            Err(e) => Err(WriteError::io(&path, "rename", e.error)),
        }
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.sink {
            Sink::Temporary(part) => part.write(bytes),
            Sink::Stream(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::Temporary(part) => part.flush(),
            Sink::Stream(file) => file.flush(),
        }
    }
}

/// Position of writes in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteMode {
    /// At the position of the writer.
    AtPosition,
    /// At the current end of the file. If another program truncates the file, no hole appears.
    Append,
}

/// Creates a locked temporary file in the folder of `path`, with default permissions.
/// Removes temporary files that killed processes left for the same `path`.
pub(crate) fn new_part(path: &Path, writes: WriteMode) -> Result<NamedTempFile, WriteError> {
    sweep(path);
    let (before, behind) = part_name(path);
    let mut builder = tempfile::Builder::new();
    builder
        .prefix(&before)
        .suffix(behind)
        .append(writes == WriteMode::Append);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let part = builder
        .tempfile_in(folder_of(path))
        .map_err(|e| WriteError::io(path, "create", e))?;
    lock::try_lock(part.as_file());
    Ok(part)
}

/// Removes temporary files for `path` that no process writes.
fn sweep(path: &Path) {
    let (before, behind) = part_name(path);
    let (before, behind) = (before.as_encoded_bytes(), behind.as_bytes());
    let Ok(entries) = fs::read_dir(folder_of(path)) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        let is_part = name.starts_with(before)
            && name.ends_with(behind)
            && name.len() == before.len() + RANDOM + behind.len();
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_part && is_file && is_old(&entry) && lock::is_abandoned(&entry.path()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Removes all temporary files in `folder` whose processes have ended.
pub fn sweep_folder(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        let is_part = name.starts_with(b".") && name.ends_with(b".part");
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_part && is_file && is_old(&entry) && lock::is_abandoned(&entry.path()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Number of random characters in the name of a temporary file.
const RANDOM: usize = 6;

/// Returns true for a file that is at least 500 ms old. A newer file may not be locked yet.
fn is_old(entry: &fs::DirEntry) -> bool {
    let changed = entry.metadata().and_then(|found| found.modified());
    let age = changed.ok().and_then(|at| at.elapsed().ok());
    age.is_some_and(|age| age.as_millis() >= 500)
}

/// Copies the permissions, so users without access to the old file have none to the new one.
fn copy_permissions(part: &NamedTempFile, path: &Path) {
    if let Ok(found) = fs::symlink_metadata(path)
        && found.is_file()
    {
        let _ = part.as_file().set_permissions(found.permissions());
    }
}

/// Writes the new name to disk. If the file system cannot do it, a system crash loses at most the name.
pub(crate) fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

#[cfg(test)]
mod tests;
