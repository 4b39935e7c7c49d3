//! New recordings.

use std::path::{Path, PathBuf};

use loadscope_files::{Existing, GrowingFile, WriteError};
use loadscope_trace::{Compression, LogWriter};

/// Creates a recording at `path`, compressed as its name asks for. It can be opened from the moment it is there.
///
/// # Errors
/// If there is a file that may not be replaced or is being written, or the folder cannot be written to.
pub fn new_recording(path: &Path, existing: Existing) -> Result<GrowingFile, WriteError> {
    GrowingFile::create(path, existing, &head(Compression::for_path(path)))
}

/// Creates a compressed recording under the first of `names` that is free.
///
/// # Errors
/// If the folder cannot be written to.
pub fn new_recording_in(
    names: impl IntoIterator<Item = PathBuf>,
) -> Result<GrowingFile, WriteError> {
    GrowingFile::create_free(names, &head(Compression::Zstd))
}

/// A log without an event.
pub(super) fn head(compression: Compression) -> Vec<u8> {
    let log = LogWriter::new(Vec::new(), compression).and_then(LogWriter::finish);
    log.unwrap_or_default()
}
