//! Limits of a recording.

use serde::{Deserialize, Serialize};

use crate::{Nanos, RunInfo};

/// Limits of a recording, and the description of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retention {
    /// Number of the part in which the run began.
    #[serde(skip)]
    pub part: u32,
    /// Duration that is kept in full. `None` if only the size is limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Nanos>,
    /// Maximum size of the recording, bytes.
    pub max_size: u64,
    /// Minimum length of a wait that is kept in full.
    pub long_wait: Nanos,
    /// Number of slowest batches of all runs that are kept in full.
    pub keep_slowest: u32,
    /// Number of events and kept items that were larger than the space for them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// Description of the run.
    pub info: RunInfo,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
