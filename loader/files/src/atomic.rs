//! A file that is complete or not there.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::target::{Target, folder_of, part_name};
use crate::{Existing, WriteError, lock, stream};

mod folder;

pub use folder::NewFolder;

/// Writes a file under a random name beside its place and moves it there by [`NewFile::commit`]. Dropping it instead
/// leaves what was there before.
///
/// Writes are not buffered.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    existing: Existing,
    sink: Sink,
}

#[derive(Debug)]
enum Sink {
    /// A file beside the place.
    Beside(NamedTempFile),
    /// A pipe or a device, which is written into.
    Stream(File),
}

impl NewFile {
    /// Begins a file for `path`.
    ///
    /// # Errors
    /// If there is one already that may not be replaced or is being written, or the folder cannot be written to.
    pub fn create(path: &Path, existing: Existing) -> Result<Self, WriteError> {
        let sink = match Target::of(path, existing)? {
            Target::Stream => Sink::Stream(stream::open(path)?),
            Target::Free | Target::Replaceable => Sink::Beside(new_part(path, Writes::Anywhere)?),
        };
        Ok(Self {
            path: path.to_owned(),
            existing,
            sink,
        })
    }

    /// Writes `bytes` to `path` as a whole.
    ///
    /// # Errors
    /// As [`NewFile::create`] and [`NewFile::commit`].
    pub fn write_all_to(path: &Path, existing: Existing, bytes: &[u8]) -> Result<(), WriteError> {
        let mut file = Self::create(path, existing)?;
        file.write_all(bytes)
            .map_err(|e| WriteError::io(path, "write", e))?;
        file.commit()
    }

    /// Where it will stand.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts everything on the disk. With several files, [`NewFile::commit`] then takes little time for each.
    ///
    /// # Errors
    /// If the disk is full.
    pub fn sync(&self) -> Result<(), WriteError> {
        match &self.sink {
            Sink::Stream(_) => Ok(()),
            Sink::Beside(part) => part
                .as_file()
                .sync_all()
                .map_err(|e| WriteError::io(&self.path, "sync", e)),
        }
    }

    /// Puts it in its place. Everything is on the disk before the name leads to it.
    ///
    /// # Errors
    /// If the disk is full, or another file took the place meanwhile and may not be replaced.
    pub fn commit(self) -> Result<(), WriteError> {
        self.sync()?;
        let path = self.path;
        let part = match self.sink {
            Sink::Stream(mut file) => {
                return file.flush().map_err(|e| WriteError::io(&path, "write", e));
            }
            Sink::Beside(part) => part,
        };
        let moved = match self.existing {
            Existing::Keep => part.persist_noclobber(&path),
            Existing::Replace => {
                // It may have been opened by a recorder since.
                Target::of(&path, Existing::Replace)?;
                keep_permissions(&part, &path);
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

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.sink {
            Sink::Beside(part) => part.write(bytes),
            Sink::Stream(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::Beside(part) => part.flush(),
            Sink::Stream(file) => file.flush(),
        }
    }
}

/// Where a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writes {
    /// Where its writer stands.
    Anywhere,
    /// At its end, wherever that is: one that another program cuts meanwhile gets no holes.
    AtItsEnd,
}

/// A new file in the folder of `path`, locked, with the permissions of any new file. Removes those that killed processes
/// have left there for the same `path`.
pub(crate) fn new_part(path: &Path, writes: Writes) -> Result<NamedTempFile, WriteError> {
    sweep(path);
    let (before, behind) = part_name(path);
    let mut builder = tempfile::Builder::new();
    builder
        .prefix(&before)
        .suffix(behind)
        .append(writes == Writes::AtItsEnd);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let part = builder
        .tempfile_in(folder_of(path))
        .map_err(|e| WriteError::io(path, "create", e))?;
    lock::take(part.as_file());
    Ok(part)
}

/// Removes unfinished files for `path` that no process writes any more.
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

/// Removes all files in `folder` that processes which are no more had begun to create, whatever their names would have been.
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

/// Random characters in the name of an unfinished file.
const RANDOM: usize = 6;

/// A file that was just created may not be locked yet.
fn is_old(entry: &fs::DirEntry) -> bool {
    let changed = entry.metadata().and_then(|found| found.modified());
    let age = changed.ok().and_then(|at| at.elapsed().ok());
    age.is_some_and(|age| age.as_millis() >= 500)
}

/// Who could not read the old file cannot read the new one.
fn keep_permissions(part: &NamedTempFile, path: &Path) {
    if let Ok(found) = fs::symlink_metadata(path)
        && found.is_file()
    {
        let _ = part.as_file().set_permissions(found.permissions());
    }
}

/// Puts the new name on the disk. File systems that cannot do it lose at most the name in a crash of the system.
pub(crate) fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

#[cfg(test)]
mod tests;
