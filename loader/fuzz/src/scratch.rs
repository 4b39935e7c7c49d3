//! Temporary files of the targets, in one reused folder per thread.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

thread_local! {
    static FOLDER: TempDir = tempfile::tempdir().expect("the folder for temporary files can be written");
}

/// Runs `work` with the folder of this thread.
pub fn with<T>(work: impl FnOnce(&Path) -> T) -> T {
    FOLDER.with(|folder| work(folder.path()))
}

/// Writes a file. A file with the same name is replaced.
pub fn file(name: &str, bytes: &[u8]) -> PathBuf {
    with(|folder| {
        let path = folder.join(name);
        fs::write(&path, bytes).expect("there is room for a temporary file");
        path
    })
}
