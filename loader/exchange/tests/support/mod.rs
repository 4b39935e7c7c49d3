//! Helpers for the tests of this crate.
#![allow(dead_code, reason = "not every test file uses all of it")]
#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]

pub mod protobuf;

use std::path::{Path, PathBuf};

use loadscope_exchange::{ImportError, read};
use loadscope_trace::{Fleet, Run, RunId};

/// Returns the path of a test file.
pub fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/data")
        .join(name)
}

/// Reads all loaders of an input. The flag is true if the input is truncated.
pub fn try_fleet(path: &Path) -> Result<(Fleet, bool), ImportError> {
    let mut fleet = Fleet::default();
    let mut last = None;
    let outcome = read(path, |event, _| {
        if let Some(event) = &event {
            assert!(last <= Some(event.at), "in order of time");
            last = Some(event.at);
            fleet.apply(event);
        }
        true
    })?;
    Ok((fleet, outcome.cut))
}

/// Reads the first loader of an input. The flag is true if the input is truncated.
pub fn try_open(path: &Path) -> Result<(Run, bool), ImportError> {
    let (fleet, cut) = try_fleet(path)?;
    let run = fleet.get(RunId(0)).cloned();
    Ok((run.unwrap_or_default(), cut))
}

/// Reads the first loader of an input, and panics if it cannot be read. The flag is true if the input is truncated.
pub fn opened(path: &Path) -> (Run, bool) {
    try_open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Reads bytes as a file with this name.
pub fn try_bytes(name: &str, bytes: &[u8]) -> Result<(Run, bool), ImportError> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("there is room");
    try_open(&path)
}
