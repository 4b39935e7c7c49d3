//! Errors, warnings and notes that belong to a run.

use serde::{Deserialize, Serialize};

use crate::{BatchId, WorkerId};

/// How bad a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Good to know.
    Info,
    /// PyTorch would print a `UserWarning`.
    Warning,
    /// Something failed.
    Error,
}

/// Something said about a run, a worker or a batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// How bad it is.
    pub level: Level,
    /// Whole sentences.
    pub text: String,
    /// The batch it concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<BatchId>,
    /// The worker it concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<WorkerId>,
    /// The dataset index it concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<u64>,
}
