//! File locks, which end with the process that holds them.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

/// Locks `file` for this process. Returns false if another process holds the lock. File systems without locks count as free.
pub(crate) fn try_lock(file: &File) -> bool {
    !matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

/// Returns true if a process of Loadscope is writing the regular file at `path`. Returns false if this is unknown.
pub fn is_being_written(path: &Path) -> bool {
    is_locked(path) == Some(true)
}

/// Returns true if certainly no process of Loadscope is writing the regular file at `path`. Only such a file may be removed unasked.
/// Returns false if the file cannot be opened, for example without a free descriptor.
pub fn is_abandoned(path: &Path) -> bool {
    is_locked(path) == Some(false)
}

/// Returns true if another process holds the lock of a file. Returns `None` if the file cannot be opened.
fn is_locked(path: &Path) -> Option<bool> {
    // `O_NONBLOCK` is set, because a pipe or a device may have replaced the file.
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    Some(has_writer(&options.open(path).ok()?))
}

/// Returns true if another process holds the lock of an open file.
pub fn has_writer(file: &File) -> bool {
    // The lock is shared, so two simultaneous checks do not take each other for a writer.
    match file.try_lock_shared() {
        Ok(()) => {
            // Without this, a later writer of the file could not lock it. A file that is not unlocked now is unlocked when it is closed.
            let _ = file.unlock();
            false
        }
        Err(error) => matches!(error, TryLockError::WouldBlock),
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make files of any kind")]
mod tests {
    use super::*;

    #[test]
    fn an_unlocked_file_is_abandoned_and_a_missing_one_is_not() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("run.jsonl");
        assert!(!is_being_written(&path) && !is_abandoned(&path));
        let file = File::create(&path).expect("room");
        assert!(!is_being_written(&path) && is_abandoned(&path));
        assert!(try_lock(&file));
        assert!(is_being_written(&path) && !is_abandoned(&path));
        drop(file);
        assert!(!is_being_written(&path) && is_abandoned(&path));
    }
}
