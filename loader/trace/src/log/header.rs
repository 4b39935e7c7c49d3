//! The first line of a log.

use loadscope_words::{json_error, say};
use serde::{Deserialize, Serialize};

use crate::LogError;

/// The newest version of the format that is read.
pub const FORMAT_VERSION: u64 = 2;

/// The version of a recording in which everything is: programs that know no other one read it.
const PLAIN: u64 = 1;

/// What a recording says of itself in its first line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heading<'a> {
    /// Everything is in it.
    Plain,
    /// Not everything is in it: of a part of the time it has sums, or some batches were left out.
    Limited,
    /// It stands in this folder, in parts.
    InParts(&'a str),
    /// It is a part with this number.
    Part(u32),
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Header {
    /// The version. The name of this field marks a file as a recording.
    pub loadscope: u64,
    /// The program that wrote it.
    #[serde(default)]
    pub writer: String,
    /// The folder beside it in which its parts stand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<String>,
    /// Which part of a recording it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<u32>,
}

impl Header {
    pub fn plain() -> Self {
        Self::of(Heading::Plain)
    }

    pub fn of(heading: Heading<'_>) -> Self {
        let mut header = Self {
            loadscope: FORMAT_VERSION,
            writer: concat!("loadscope ", env!("CARGO_PKG_VERSION")).to_owned(),
            parts: None,
            part: None,
        };
        match heading {
            Heading::Plain => header.loadscope = PLAIN,
            Heading::Limited => {}
            Heading::InParts(folder) => header.parts = Some(folder.to_owned()),
            Heading::Part(number) => header.part = Some(number),
        }
        header
    }

    /// What a recording in one file has to say that has the same events.
    pub fn of_copies(&self) -> Heading<'static> {
        match self.loadscope {
            PLAIN => Heading::Plain,
            _ => Heading::Limited,
        }
    }

    #[cfg(not(target_family = "wasm"))]
    /// Its line, without the end.
    pub fn line(&self) -> Vec<u8> {
        // A number and a text are always written.
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
