//! Detection of archives with split samples.

use std::cell::RefCell;
use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::Archive;
use super::key::{base_plus_ext, is_meta};

/// Number of files that [`early_split`] examines.
const MAX_EXAMINED: usize = 2000;

/// Order of an archive's files, examined only when a sample lacks a file.
#[derive(Debug)]
pub(crate) struct Order {
    path: PathBuf,
    split: OnceLock<Option<String>>,
}

impl Order {
    pub(super) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            split: OnceLock::new(),
        }
    }

    /// Returns the key of a sample whose files are not consecutive.
    pub(super) fn split_sample(&self) -> Option<&str> {
        let split = || split_sample(&self.path, usize::MAX);
        self.split.get_or_init(split).as_deref()
    }
}

/// Returns the key of the first sample whose files are not consecutive, among the first `most` files of an archive. Returns `None` if
/// there is none, or the archive is damaged before it.
fn split_sample(path: &Path, most: usize) -> Option<String> {
    let mut archive = Archive::open(path).ok()?;
    let hash = RandomState::new();
    let seen = RefCell::new(SplitSearch::default());
    // An accepted file ends the scan with an error, because it exceeds the room of 0 bytes.
    let walked = archive.next(0, |name| {
        let mut seen = seen.borrow_mut();
        seen.files += 1;
        let Some((key, _)) = base_plus_ext(name).filter(|_| !is_meta(name)) else {
            return seen.files >= most;
        };
        if seen.current.as_deref() != Some(key) {
            if !seen.keys.insert(hash.hash_one(key)) {
                seen.split = Some(key.to_owned());
            }
            seen.current = Some(key.to_owned());
        }
        seen.split.is_some() || seen.files >= most
    });
    drop(walked);
    seen.into_inner().split
}

/// Returns a split sample among the first files. Returns `None` for a compressed archive, because skipping is slow there.
pub(crate) fn early_split(path: &Path) -> Option<String> {
    let is_plain = Archive::open(path).ok()?.input.is_plain();
    is_plain.then(|| split_sample(path, MAX_EXAMINED)).flatten()
}

#[derive(Default)]
struct SplitSearch {
    files: usize,
    keys: HashSet<u64>,
    current: Option<String>,
    split: Option<String>,
}
