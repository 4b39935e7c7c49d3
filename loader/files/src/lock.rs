//! Locks that end with the process that holds them, however it ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

/// Locks `file` for this process. False if another one holds it; file systems without locks count as free.
pub(crate) fn take(file: &File) -> bool {
    !matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

/// True if a process of Loadscope is writing the regular file at `path` now. False also where that cannot be found out.
pub fn is_being_written(path: &Path) -> bool {
    is_locked(path) == Some(true)
}

/// True if it is certain that no process of Loadscope is writing the regular file at `path`: only then may it be removed unasked.
/// Of a file that cannot be opened, because this process has no descriptor left, say, nothing is certain.
pub fn is_abandoned(path: &Path) -> bool {
    is_locked(path) == Some(false)
}

/// Whether another process holds the lock of a file; `None` if it cannot be opened.
fn is_locked(path: &Path) -> Option<bool> {
    // Not the pipe or the device that may have taken its place meanwhile.
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let file = options.open(path).ok()?;
    // Shared: two processes that ask at the same time do not take each other for a writer.
    Some(matches!(
        file.try_lock_shared(),
        Err(TryLockError::WouldBlock)
    ))
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make files of any kind")]
mod tests {
    use super::*;

    #[test]
    fn of_what_cannot_be_opened_nothing_is_certain() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("run.jsonl");
        assert!(!is_being_written(&path) && !is_abandoned(&path));
        let file = File::create(&path).expect("room");
        assert!(!is_being_written(&path) && is_abandoned(&path));
        assert!(take(&file));
        assert!(is_being_written(&path) && !is_abandoned(&path));
        drop(file);
        assert!(!is_being_written(&path) && is_abandoned(&path));
    }
}
