//! Atomic creation of folders.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::sync_folder;
use crate::WriteError;
use crate::target::{folder_of, part_name};
use crate::temporary::{Lock, sweep};

/// New folder under a random name next to its path. [`AtomicFolder::commit`] moves it to its path, and dropping it removes it.
#[derive(Debug)]
pub struct AtomicFolder {
    path: PathBuf,
    part: TempDir,
    lock: Lock,
}

impl AtomicFolder {
    /// Creates a temporary folder for `path` and its parent folders. Removes those that killed processes left for the same `path`.
    ///
    /// # Errors
    /// If a folder cannot be created.
    pub fn create(path: &Path) -> Result<Self, WriteError> {
        let failed = |e| WriteError::io(path, "create", e);
        let place = folder_of(path);
        fs::create_dir_all(place).map_err(failed)?;
        let (before, behind) = part_name(path);
        sweep(place, &before.to_string_lossy(), behind);
        let mut builder = tempfile::Builder::new();
        builder.prefix(&before).suffix(behind);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
        let part = builder.tempdir_in(place).map_err(failed)?;
        let lock = Lock::new(part.path()).map_err(failed)?;
        Ok(Self {
            path: path.to_owned(),
            part,
            lock,
        })
    }

    /// Returns the temporary folder for the files.
    pub fn staging_path(&self) -> &Path {
        self.part.path()
    }

    /// Moves the folder with its committed files to its path.
    ///
    /// # Errors
    /// If another file or a non-empty folder appeared at the path.
    pub fn commit(self) -> Result<(), WriteError> {
        self.lock.remove();
        #[expect(
            clippy::disallowed_methods,
            reason = "the place where a complete folder gets its name"
        )]
        let moved = fs::rename(self.part.path(), &self.path);
        match moved {
            Ok(()) => {
                // The temporary folder no longer exists, so dropping must not remove it.
                let _ = self.part.keep();
                sync_folder(folder_of(&self.path));
                Ok(())
            }
            Err(e) if e.kind() == ErrorKind::DirectoryNotEmpty => {
                Err(WriteError::NotEmpty(self.path))
            }
            Err(e) => Err(WriteError::io(&self.path, "rename", e)),
        }
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make files of any kind")]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder").flatten();
        let mut names: Vec<String> = entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_new_folder_appears_complete_or_not_at_all() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("a").join("run");
        let new = AtomicFolder::create(&path).expect("room");
        fs::write(new.staging_path().join("table"), "x").expect("room");
        assert!(!path.exists());
        drop(new);
        assert!(names(&dir.path().join("a")).is_empty());
        let new = AtomicFolder::create(&path).expect("room");
        fs::write(new.staging_path().join("table"), "x").expect("room");
        new.commit().expect("the place is free");
        assert_eq!(names(&dir.path().join("a")), ["run"]);
        assert_eq!(names(&path), ["table"]);
        let again = AtomicFolder::create(&path).expect("room");
        let again = again.commit();
        assert!(matches!(again, Err(WriteError::NotEmpty(_))), "{again:?}");
        assert_eq!(names(&dir.path().join("a")), ["run"]);
    }

    #[test]
    fn only_folders_of_killed_processes_are_removed() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("run");
        let living = AtomicFolder::create(&path).expect("room");
        let AtomicFolder { part, lock, .. } = AtomicFolder::create(&path).expect("room");
        let dead = part.keep();
        fs::write(dead.join("table"), "x").expect("room");
        drop(lock);
        drop(AtomicFolder::create(&path).expect("room"));
        assert!(!dead.exists() && living.staging_path().is_dir());
    }
}
