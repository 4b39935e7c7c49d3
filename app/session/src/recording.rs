//! New recordings.

use std::path::{Path, PathBuf};

use loadscope_files::{Existing, GrowingFile, WriteError};
use loadscope_trace::{Compression, LogWriter};

use super::Selection;

/// Creates a recording at `path`, compressed by its file extension. It can be opened immediately.
///
/// # Errors
/// If a file exists that may not be replaced or is being written, or if the folder cannot be written to.
pub fn new_recording(
    path: &Path,
    existing: Existing,
    selection: &Selection,
) -> Result<GrowingFile, WriteError> {
    let head = head(Compression::for_path(path), selection);
    GrowingFile::create(path, existing, &head)
}

/// Creates a compressed recording under the first free name.
///
/// # Errors
/// If the folder cannot be written to.
pub fn new_recording_in(
    names: impl IntoIterator<Item = PathBuf>,
    selection: &Selection,
) -> Result<GrowingFile, WriteError> {
    GrowingFile::create_free(names, &head(Compression::Zstd, selection))
}

/// Returns a log without events. Its header records if an epoch may start in its middle.
pub(super) fn head(compression: Compression, selection: &Selection) -> Vec<u8> {
    let log = LogWriter::with_header(Vec::new(), compression, selection.recording_kind());
    let log = log.and_then(LogWriter::finish);
    log.unwrap_or_default()
}
