//! New recordings.

use std::path::{Path, PathBuf};

use loadscope_files::{Existing, GrowingFile, WriteError};
use loadscope_trace::{Compression, LogWriter};

use super::Selection;

/// Creates a recording at `path`, compressed as its name asks for. It can be opened from the moment it is there.
///
/// # Errors
/// If there is a file that may not be replaced or is being written, or the folder cannot be written to.
pub fn new_recording(
    path: &Path,
    existing: Existing,
    selection: &Selection,
) -> Result<GrowingFile, WriteError> {
    let head = head(Compression::for_path(path), selection);
    GrowingFile::create(path, existing, &head)
}

/// Creates a compressed recording under the first of `names` that is free.
///
/// # Errors
/// If the folder cannot be written to.
pub fn new_recording_in(
    names: impl IntoIterator<Item = PathBuf>,
    selection: &Selection,
) -> Result<GrowingFile, WriteError> {
    GrowingFile::create_free(names, &head(Compression::Zstd, selection))
}

/// A log without an event. One in which an epoch may begin in its middle says so.
pub(super) fn head(compression: Compression, selection: &Selection) -> Vec<u8> {
    let log = LogWriter::headed(Vec::new(), compression, selection.heading());
    let log = log.and_then(LogWriter::finish);
    log.unwrap_or_default()
}
