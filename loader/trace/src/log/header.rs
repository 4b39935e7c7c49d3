//! First line of a recording.

use loadscope_words::{json_error, say};
use serde::{Deserialize, Serialize};

use crate::LogError;

/// Newest supported version of the format.
pub const FORMAT_VERSION: u64 = 3;

/// Version of a complete recording without stacks, which older programs can read too.
const PLAIN: u64 = 1;

/// Kind of recording, as its header states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordingKind<'a> {
    /// Complete recording without stacks.
    Plain,
    /// Recording with stacks, or an incomplete one: older data is reduced to sums, or some batches were omitted.
    Extended,
    /// Recording in parts, in this folder.
    InParts(&'a str),
    /// Part of a recording, with this number.
    Part(u32),
}

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
    pub fn plain() -> Self {
        Self::of(RecordingKind::Plain)
    }

    pub fn of(kind: RecordingKind<'_>) -> Self {
        let mut header = Self {
            loadscope: FORMAT_VERSION,
            writer: concat!("loadscope ", env!("CARGO_PKG_VERSION")).to_owned(),
            parts: None,
            part: None,
        };
        match kind {
            RecordingKind::Plain => header.loadscope = PLAIN,
            RecordingKind::Extended => {}
            RecordingKind::InParts(folder) => header.parts = Some(folder.to_owned()),
            RecordingKind::Part(number) => header.part = Some(number),
        }
        header
    }

    /// Returns the kind of a copy of the recording in one file.
    pub fn kind_of_copy(&self) -> RecordingKind<'static> {
        match self.loadscope {
            PLAIN => RecordingKind::Plain,
            _ => RecordingKind::Extended,
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
            Some(PLAIN..=FORMAT_VERSION) => serde_json::from_value(value).map_err(|e| {
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
