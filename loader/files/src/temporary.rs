//! Temporary folders, which the next start removes if this process is killed.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::lock;
use loadscope_words::{cause, say};

/// Maximum length of the path, bytes. A Unix socket in the folder has an address of at most 107 bytes.
const MAX_PATH_LEN: usize = 90;

/// File in the folder that its owner locks.
const LOCK: &str = "lock";

/// Name of the lock file before it is locked.
const NEW_LOCK: &str = "lock.new";

/// Age at which a folder without a lock counts as abandoned: its owner was killed while creating it.
const STALE: Duration = Duration::from_secs(600);

/// A new folder that only this user can read. Dropping it removes the folder.
/// If the owner is killed, the next temporary folder in the same place removes the abandoned one.
#[derive(Debug)]
pub struct TemporaryFolder {
    path: PathBuf,
    _lock: Lock,
}

impl TemporaryFolder {
    /// Creates a folder with `prefix` in its name in the first usable place: `TMPDIR`, the user's runtime folder, `/tmp`, `/var/tmp`.
    /// Its path is short enough for a Unix socket, and can be in a list of paths (no `:`).
    ///
    /// # Errors
    /// If no place can be written to. The error is that of the first place.
    pub fn new(prefix: &str) -> io::Result<Self> {
        let mut first = None;
        for place in candidate_folders() {
            sweep(&place, prefix, "");
            match Self::new_in(&place, prefix) {
                Ok(made) => return Ok(made),
                Err(e) => {
                    let text = format!("{}: {}", place.display(), cause(&e));
                    first.get_or_insert(io::Error::new(e.kind(), text));
                }
            }
        }
        Err(first.unwrap_or_else(|| io::ErrorKind::NotFound.into()))
    }

    /// Creates a folder in `place`.
    ///
    /// # Errors
    /// If the place cannot be written to, or if its path is unsuitable.
    pub fn new_in(place: &Path, prefix: &str) -> io::Result<Self> {
        let place = std::path::absolute(place)?;
        if place.as_os_str().len() + prefix.len() + 8 > MAX_PATH_LEN {
            return Err(io::Error::other(say!("the path is too long")));
        }
        // The path is passed on as text.
        if place.to_str().is_none() {
            return Err(io::Error::other(say!("the path is not UTF-8")));
        }
        if std::env::join_paths([&place]).is_err() {
            return Err(io::Error::other(say!(
                "the path contains a character that separates paths"
            )));
        }
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        let made = tempfile::Builder::new()
            .prefix(prefix)
            .make_in(&place, |path| builder.create(path))?;
        // From here on, `Drop` removes the folder.
        let path = made.into_temp_path().keep()?;
        // Opening a directory could fail without a free descriptor, so the lock file and the folder are removed by name.
        let lock = Lock::new(&path).inspect_err(|_| {
            let _ = fs::remove_file(path.join(NEW_LOCK));
            let _ = fs::remove_dir(&path);
        })?;
        Ok(Self { path, _lock: lock })
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Lock of a folder: a file that is locked before it gets its name. An unlocked file with this name means that the owner has ended.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    /// Locks a new folder.
    ///
    /// # Errors
    /// If the lock file cannot be created.
    pub fn new(folder: &Path) -> io::Result<Self> {
        let new = folder.join(NEW_LOCK);
        let file = File::create_new(&new)?;
        lock::try_lock(&file);
        let path = folder.join(LOCK);
        #[expect(
            clippy::disallowed_methods,
            reason = "within a new folder of its own, where nothing has that name"
        )]
        fs::rename(new, &path)?;
        Ok(Self { path, _file: file })
    }

    /// Removes the lock file of a complete folder.
    pub fn remove(self) {
        let _ = fs::remove_file(self.path);
    }
}

/// Creates a file without a name in the first usable place. The system removes it at the end of the process, even after a kill.
///
/// # Errors
/// If no place can be written to. The error is that of the first place.
pub fn unnamed_file() -> io::Result<File> {
    let mut first = None;
    for place in candidate_folders() {
        match tempfile::tempfile_in(&place) {
            Ok(file) => return Ok(file),
            Err(e) => first = first.or(Some(e)),
        }
    }
    Err(first.unwrap_or_else(|| io::ErrorKind::NotFound.into()))
}

/// Returns the places for temporary folders, in the order of preference.
fn candidate_folders() -> Vec<PathBuf> {
    let mut folders = vec![std::env::temp_dir()];
    if cfg!(unix) {
        folders.extend(std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from));
        folders.extend(["/tmp", "/var/tmp"].map(PathBuf::from));
    }
    folders
}

/// Removes the folders of ended processes.
pub(crate) fn sweep(place: &Path, prefix: &str, suffix: &str) {
    let Ok(entries) = fs::read_dir(place) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        let is_ours = name.starts_with(prefix.as_bytes())
            && name.ends_with(suffix.as_bytes())
            && entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_ours && is_own(&entry) && is_abandoned(&entry) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Returns true if the owner has ended.
fn is_abandoned(entry: &fs::DirEntry) -> bool {
    let lock = entry.path().join(LOCK);
    if lock.is_file() {
        return lock::is_abandoned(&lock);
    }
    // Without a lock, the folder is being created, was abandoned during creation, or belongs to another program.
    let mut inside = fs::read_dir(entry.path()).into_iter().flatten().flatten();
    let changed = entry.metadata().and_then(|found| found.modified());
    let age = changed.ok().and_then(|at| at.elapsed().ok());
    age.is_some_and(|age| age > STALE) && inside.all(|inside| inside.file_name() == NEW_LOCK)
}

#[cfg(unix)]
#[expect(unsafe_code, reason = "a system call")]
fn is_own(entry: &fs::DirEntry) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    // SAFETY: geteuid has no arguments and cannot fail.
    let user = unsafe { libc::geteuid() };
    entry.metadata().is_ok_and(|found| found.uid() == user)
}

#[cfg(not(unix))]
fn is_own(_: &fs::DirEntry) -> bool {
    true
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make files of any kind")]
mod tests {
    use super::*;

    #[test]
    fn only_folders_of_dead_processes_are_swept() {
        let place = tempfile::tempdir().expect("a temporary folder");
        let living = TemporaryFolder::new_in(place.path(), "test-").expect("room");
        let dead = place.path().join("test-dead");
        let foreign = place.path().join("test-foreign");
        for folder in [&dead, &foreign] {
            fs::create_dir(folder).expect("room");
            fs::write(folder.join("file"), "x").expect("room");
        }
        fs::write(dead.join(LOCK), "").expect("room");
        sweep(place.path(), "test-", "");
        assert!(living.path().is_dir() && foreign.is_dir());
        assert!(!dead.exists());
        let path = living.path().to_owned();
        drop(living);
        assert!(!path.exists());
    }

    #[test]
    fn a_sweep_keeps_folders_made_at_the_same_time() {
        let place = tempfile::tempdir().expect("a temporary folder");
        std::thread::scope(|threads| {
            for _ in 0..8 {
                threads.spawn(|| {
                    for _ in 0..40 {
                        sweep(place.path(), "test-", "");
                        let made = TemporaryFolder::new_in(place.path(), "test-").expect("room");
                        assert!(made.path().join(LOCK).is_file());
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(place.path()).expect("a folder").count(), 0);
    }

    #[test]
    fn unusable_places_are_refused() {
        let place = tempfile::tempdir().expect("a temporary folder");
        let long = place.path().join("x".repeat(100));
        fs::create_dir(&long).expect("room");
        let error = TemporaryFolder::new_in(&long, "test-").expect_err("too long");
        assert!(error.to_string().contains("too long"));
        assert!(TemporaryFolder::new_in(&place.path().join("missing"), "test-").is_err());
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStrExt as _;
            for name in [b"a:b".as_slice(), b"\xff"] {
                let odd = place.path().join(std::ffi::OsStr::from_bytes(name));
                fs::create_dir(&odd).expect("room");
                assert!(TemporaryFolder::new_in(&odd, "test-").is_err());
                assert_eq!(fs::read_dir(&odd).expect("a folder").count(), 0);
            }
        }
    }
}
