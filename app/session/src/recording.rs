//! New recordings.

use std::path::{Path, PathBuf};

use loadscope_files::{Existing, GrowingFile, WriteError};
use loadscope_trace::{Compression, LogWriter};

/// Creates a recording at `path`, compressed by its file extension. It can be opened immediately.
///
/// # Errors
/// If a file exists that may not be replaced or is being written, or if the folder cannot be written to.
pub fn new_recording(path: &Path, existing: Existing) -> Result<GrowingFile, WriteError> {
    GrowingFile::create(path, existing, &head(Compression::for_path(path)))
}

/// Creates a compressed recording under the first free name.
///
/// # Errors
/// If the folder cannot be written to.
pub fn new_recording_in(
    names: impl IntoIterator<Item = PathBuf>,
) -> Result<GrowingFile, WriteError> {
    GrowingFile::create_free(names, &head(Compression::Zstd))
}

/// Returns a log without events.
pub(super) fn head(compression: Compression) -> Vec<u8> {
    let log = LogWriter::new(Vec::new(), compression);
    log.and_then(LogWriter::finish).unwrap_or_default()
}
