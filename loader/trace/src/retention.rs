//! What is kept of a run of which not everything is.

use serde::{Deserialize, Serialize};

use crate::{Nanos, RunInfo};

/// What is kept of a run whose recording has a limit, and who it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retention {
    /// Number of the part of the recording in which the run began.
    #[serde(skip)]
    pub part: u32,
    /// So much time is kept in full; `None`: as much as there is room for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Nanos>,
    /// So many bytes the recording has at most.
    pub max_size: u64,
    /// Waits of at least this length are kept in full.
    pub long_wait: Nanos,
    /// So many of the slowest batches of all runs are kept in full.
    pub keep_slowest: u32,
    /// Events and things to be kept that were left out, because each was larger than there is room for.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// The run.
    pub info: RunInfo,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
