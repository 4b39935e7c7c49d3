//! Paths for fuzzing.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// Longest input that the repository keeps, bytes.
pub(super) const LONGEST_KEPT: usize = 50_000;

/// Folders for fuzzing.
pub(super) struct FuzzPaths {
    /// The folder `loader/fuzz`.
    pub home: PathBuf,
    /// Folder for generated files outside of the repository.
    pub work: PathBuf,
}

impl FuzzPaths {
    /// Returns the path of the corpus in the repository.
    pub fn archive(&self) -> PathBuf {
        self.home.join("tests/corpus.tar.zst")
    }

    /// Returns the folder with the unpacked corpus.
    pub fn inputs(&self) -> PathBuf {
        self.work.join("inputs")
    }

    pub fn corpus(&self, target: &str) -> PathBuf {
        self.inputs().join(target)
    }

    /// Returns the folder with inputs of former failures. Each has a test.
    pub fn faults(&self, target: &str) -> PathBuf {
        self.home.join("tests/faults").join(target)
    }

    pub fn table(&self) -> PathBuf {
        self.home.join("FUZZ.md")
    }
}

/// Returns the names of all targets. Each has a folder in the corpus.
pub(super) fn targets(fuzz_paths: &FuzzPaths) -> Result<Vec<String>> {
    let name = |path: PathBuf| Some(path.file_name()?.to_string_lossy().into_owned());
    let folders = files(&fuzz_paths.inputs())?;
    Ok(folders.into_iter().filter_map(name).collect())
}

pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry?.path());
    }
    paths.sort();
    Ok(paths)
}
