//! Where a target puts its files: a folder for each thread, used again and again.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

thread_local! {
    static FOLDER: TempDir = tempfile::tempdir().expect("the folder for temporary files can be written");
}

/// Does something with the folder.
pub fn with<T>(work: impl FnOnce(&Path) -> T) -> T {
    FOLDER.with(|folder| work(folder.path()))
}

/// Writes a file. The name stays the same, so one file takes the place of the other.
pub fn file(name: &str, bytes: &[u8]) -> PathBuf {
    with(|folder| {
        let path = folder.join(name);
        fs::write(&path, bytes).expect("there is room for a temporary file");
        path
    })
}
