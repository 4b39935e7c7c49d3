//! Locks that end with the process that holds them, however it ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

/// Locks `file` for this process. False if another one holds it; file systems without locks count as free.
pub(crate) fn take(file: &File) -> bool {
    !matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

/// True if a process of Loadscope is writing the regular file at `path` now.
pub fn is_being_written(path: &Path) -> bool {
    // Not the pipe or the device that may have taken its place meanwhile.
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let Ok(file) = options.open(path) else {
        return false;
    };
    // Shared: two processes that ask at the same time do not take each other for a writer.
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}
