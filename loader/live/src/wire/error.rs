//! Error for an invalid line.

use std::fmt;

use loadscope_trace::brief;
use loadscope_words::json_error;

/// Error: the line is not a valid record of the wire format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireError(pub String);

impl WireError {
    /// Returns the shortened message of a JSON error, which can quote the whole line.
    pub(super) fn of(error: serde_json::Error) -> Self {
        Self(brief(json_error(&error.to_string())))
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WireError {}
