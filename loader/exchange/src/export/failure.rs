//! Errors of writing a table or a trace.

use std::io;
use std::path::Path;

use crate::ExportError;

/// Error of writing a table or a trace, without the path.
pub(super) enum Failure {
    Io(io::Error),
    Other(String),
    Cancelled,
}

impl Failure {
    pub fn at(self, path: &Path) -> ExportError {
        let path = path.to_owned();
        match self {
            Self::Io(cause) => ExportError::Write { path, cause },
            Self::Other(why) => ExportError::Table { path, why },
            Self::Cancelled => ExportError::Cancelled,
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
