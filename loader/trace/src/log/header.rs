//! First line of a recording.

use loadscope_words::{json_error, say};
use serde::{Deserialize, Serialize};

use crate::LogError;

/// Version of written recordings. Older versions are read too.
pub const FORMAT_VERSION: u64 = 3;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Header {
    /// Version of the format. The name of this field identifies a recording.
    pub loadscope: u64,
    /// Program that wrote the recording.
    #[serde(default)]
    pub writer: String,
    /// Name of the folder with the parts, next to the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<String>,
    /// Number of the part, if the file is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<u32>,
}

impl Header {
    /// Returns the header of a recording in one file.
    pub fn new() -> Self {
        Self {
            loadscope: FORMAT_VERSION,
            writer: concat!("loadscope ", env!("CARGO_PKG_VERSION")).to_owned(),
            parts: None,
            part: None,
        }
    }

    #[cfg(not(target_family = "wasm"))]
    /// Returns the header line without its end.
    pub fn line(&self) -> Vec<u8> {
        // Serializing numbers and strings cannot fail.
        serde_json::to_vec(self).unwrap_or_default()
    }

    pub fn parse(line: &[u8]) -> Result<Self, LogError> {
        let not_a_log = |why: &str| LogError::NotALog {
            why: why.to_owned(),
        };
        if line.is_empty() {
            return Err(not_a_log(say!("it is empty")));
        }
        let text = std::str::from_utf8(line).map_err(|_| not_a_log(say!("it is a binary file")))?;
        let value: serde_json::Value = serde_json::from_str(text)
            .map_err(|_| not_a_log(say!("its first line is not a JSON object")))?;
        let version = value
            .get("loadscope")
            .ok_or_else(|| not_a_log(say!("its first line has no field `loadscope`")))?;
        match version.as_u64() {
            Some(1..=FORMAT_VERSION) => serde_json::from_value(value).map_err(|e| {
                let why = json_error(&e.to_string());
                not_a_log(&say!("its header is damaged: {why}"))
            }),
            Some(found) => Err(LogError::Version {
                found,
                supported: FORMAT_VERSION,
            }),
            None => Err(not_a_log(say!(
                "the version in its header is not a whole number"
            ))),
        }
    }
}
