//! Parsing of one line, and its errors.

use super::wire::Line;
use crate::{Event, LogError, brief};
use loadscope_words::{json_error, say};

/// Parses any valid line. Returns `None` for an empty line.
pub(super) fn parse_line(line: &[u8]) -> Result<Option<Event>, String> {
    let text = line.trim_ascii();
    if text.is_empty() {
        return Ok(None);
    }
    serde_json::from_slice::<Line<'_>>(text)
        .map_err(|e| json_error(&e.to_string()))
        .and_then(|line| line.into_event().map_err(|wrong| wrong.to_string()))
        .map(Some)
        // The message quotes the line, which can be long.
        .map_err(brief)
}

pub(super) fn too_long(line: u64, longest: usize) -> LogError {
    let why = say!("it is longer than {} MiB", longest >> 20);
    LogError::Line { line, why }
}
