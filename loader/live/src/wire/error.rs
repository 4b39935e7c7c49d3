//! The error of a line that is not a record.

use std::fmt;

use loadscope_trace::brief;
use loadscope_words::json_error;

/// Error: the line is not a record of the wire format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireError(pub String);

impl WireError {
    /// Shortens the message: it quotes the line.
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
