//! Opening of input files.

use std::fs::File;
use std::path::Path;

use loadscope_files::{ReadError, open_regular};
use loadscope_words::say;

use crate::ImportError;

/// Opens a regular file. A pipe cannot be read twice, and a device may be endless.
pub(crate) fn open(path: &Path) -> Result<File, ImportError> {
    open_regular(path).map_err(|e| match e {
        ReadError::Io { cause, .. } => ImportError::unreadable(path, cause),
        _ => ImportError::foreign(say!("is not a regular file: save it as a file first")),
    })
}
