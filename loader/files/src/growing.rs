//! A file that is readable while it grows.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::atomic::{WriteMode, new_part, sync_folder};
use crate::target::{Target, folder_of, shortened, sibling_path};
use crate::{Existing, WriteError, lock, stream};

/// A recording in progress: created exclusively, locked until it is finished, readable after any kill.
///
/// A replaced file stays in place until [`GrowingFile::finish`]. Until then, the new one grows next to it under a name that also opens,
/// such as `run.unfinished-k3x9wq.jsonl.zst`.
/// A file that is dropped without any writes is removed.
///
/// Writes are not buffered.
#[derive(Debug)]
pub struct GrowingFile {
    /// Path after [`GrowingFile::finish`].
    path: PathBuf,
    /// Current path, if it differs.
    unfinished_path: Option<PathBuf>,
    file: File,
    is_stream: bool,
    /// Expected size, bytes.
    length: u64,
    /// True if the file is removed when it is dropped: while it contains only its head, or after [`GrowingFile::discard`].
    removed_on_drop: bool,
}

impl GrowingFile {
    /// Creates the file, or a file next to it if it replaces another.
    /// The name appears together with `head`, so other processes never find less.
    ///
    /// # Errors
    /// If a file exists that may not be replaced or is being written, or if the folder cannot be written to.
    pub fn create(path: &Path, existing: Existing, head: &[u8]) -> Result<Self, WriteError> {
        let (file, unfinished_path, is_stream) = match Target::of(path, existing)? {
            Target::Stream => (stream_with(path, head)?, None, true),
            Target::Free => (create_new(path, path, head)?, None, false),
            Target::Replaceable => {
                let (file, at) = create_unfinished(path, head)?;
                (file, Some(at), false)
            }
        };
        Ok(Self {
            path: path.to_owned(),
            unfinished_path,
            file,
            is_stream,
            length: head.len() as u64,
            removed_on_drop: true,
        })
    }

    /// Creates a file under the first free name.
    ///
    /// # Errors
    /// If the folder cannot be written to.
    pub fn create_free(
        names: impl IntoIterator<Item = PathBuf>,
        head: &[u8],
    ) -> Result<Self, WriteError> {
        let mut last = None;
        for path in names {
            match Self::create(&path, Existing::Keep, head) {
                Err(
                    e @ (WriteError::Exists(_) | WriteError::InUse(_) | WriteError::IsFolder(_)),
                ) => {
                    last = Some(e);
                }
                other => return other,
            }
        }
        Err(last.unwrap_or_else(|| WriteError::Exists(PathBuf::new())))
    }

    /// Returns the final path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path under which the file can be opened now.
    pub fn current_path(&self) -> &Path {
        self.unfinished_path.as_deref().unwrap_or(&self.path)
    }

    /// Completes the file and moves it to its final path.
    ///
    /// # Errors
    /// If the disk is full. The written data stay readable.
    pub fn finish(mut self) -> Result<PathBuf, WriteError> {
        self.removed_on_drop = false;
        if self.is_stream {
            let flushed = self.file.flush();
            return match flushed {
                Ok(()) => Ok(self.path.clone()),
                Err(e) => Err(WriteError::io(&self.path, "write", e)),
            };
        }
        let at = self.current_path().to_owned();
        // A removed name, or one of another file, must not count as written.
        if !is_same(&self.file, &at) {
            return Err(match current_path_of(&self.file) {
                Some(now) => WriteError::Moved { path: at, now },
                None => WriteError::Vanished(at),
            });
        }
        // A different size means that another program truncated the file.
        let found = self.file.metadata();
        if found.is_ok_and(|found| found.len() != self.length) {
            return Err(WriteError::Changed(at));
        }
        self.file
            .sync_all()
            .map_err(|e| WriteError::io(&at, "sync", e))?;
        if let Some(from) = self.unfinished_path.take() {
            #[expect(
                clippy::disallowed_methods,
                reason = "the place where a complete recording replaces an old one"
            )]
            let moved = Target::of(&self.path, Existing::Replace).and_then(|_| {
                fs::rename(&from, &self.path).map_err(|e| WriteError::io(&from, "rename", e))
            });
            if let Err(e) = moved {
                self.unfinished_path = Some(from);
                return Err(e);
            }
        }
        sync_folder(folder_of(&self.path));
        Ok(self.path.clone())
    }

    /// Keeps the file when it is dropped, because other files belong to it.
    pub fn keep(&mut self) {
        self.removed_on_drop = false;
    }

    /// Removes the unused file. A file that it would have replaced stays.
    pub fn discard(mut self) {
        self.removed_on_drop = true;
    }
}

impl Write for GrowingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.removed_on_drop &= written == 0;
        self.length += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for GrowingFile {
    fn drop(&mut self) {
        // The file was created exclusively, and is removed while it is locked. No other process uses it.
        if self.removed_on_drop && !self.is_stream && is_same(&self.file, self.current_path()) {
            let _ = fs::remove_file(self.current_path());
        }
    }
}

/// Returns the current path of a moved file, if the system knows it.
fn current_path_of(file: &File) -> Option<PathBuf> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd as _;
        let link = format!("/proc/self/fd/{}", file.as_raw_fd());
        fs::read_link(link).ok().filter(|now| is_same(file, now))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = file;
        None
    }
}

/// Returns true if the path still belongs to the created file.
fn is_same(file: &File, path: &Path) -> bool {
    let opened = file.try_clone().and_then(same_file::Handle::from_file);
    let named = fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
    match (opened, named) {
        (Ok(opened), true) => same_file::Handle::from_path(path).is_ok_and(|found| found == opened),
        _ => false,
    }
}

fn stream_with(path: &Path, head: &[u8]) -> Result<File, WriteError> {
    let mut file = stream::open(path)?;
    file.write_all(head)
        .map_err(|e| WriteError::io(path, "write", e))?;
    Ok(file)
}

/// Creates a new file that is locked and contains `head` when its name appears.
/// If this process is killed before, the next process that writes `target` removes the temporary file.
fn create_new(path: &Path, target: &Path, head: &[u8]) -> Result<File, WriteError> {
    let mut part = new_part(target, WriteMode::Append)?;
    part.write_all(head)
        .map_err(|e| WriteError::io(path, "write", e))?;
    match part.persist_noclobber(path) {
        Ok(file) => Ok(file),
        Err(e) if e.error.kind() == io::ErrorKind::AlreadyExists => Err(exists_error(path)),
        // The file system has neither links nor exclusive renaming.
        Err(_) => create_in_place(path, head),
    }
}

/// Returns the error for a file that another process writes or has written.
fn exists_error(path: &Path) -> WriteError {
    match lock::is_being_written(path) {
        true => WriteError::InUse(path.to_owned()),
        false => WriteError::Exists(path.to_owned()),
    }
}

fn create_in_place(path: &Path, head: &[u8]) -> Result<File, WriteError> {
    let created = OpenOptions::new().append(true).create_new(true).open(path);
    let mut file = match created {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => return Err(exists_error(path)),
        Err(e) => return Err(WriteError::io(path, "create", e)),
    };
    lock::try_lock(&file);
    file.write_all(head)
        .map_err(|e| WriteError::io(path, "write", e))?;
    Ok(file)
}

/// Creates a new file next to `path`, with `unfinished` in its name and the same extensions.
fn create_unfinished(path: &Path, head: &[u8]) -> Result<(File, PathBuf), WriteError> {
    let name = shortened(path.file_name().unwrap_or_default());
    let name = name.to_string_lossy();
    let (stem, endings) = match name.find('.').filter(|at| *at > 0) {
        Some(at) => name.split_at(at),
        None => (&*name, ""),
    };
    let made = tempfile::Builder::new()
        .prefix(&OsString::from(format!("{stem}.unfinished-")))
        .suffix(endings)
        .make_in(folder_of(path), |at| {
            create_new(at, path, head).map_err(io::Error::other)
        });
    let made = made.map_err(|e| WriteError::io(path, "create", e))?;
    let (file, at) = made
        .keep()
        .map_err(|e| WriteError::io(path, "create", e.error))?;
    let at = sibling_path(path, at.file_name().unwrap_or_default());
    Ok((file, at))
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make files of any kind")]
mod tests;
