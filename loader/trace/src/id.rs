//! Names of runs, workers and batches.

use std::fmt;

use loadscope_words::say;
use serde::{Deserialize, Serialize};

/// One loader of one rank of one program.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct RunId(pub u32);

/// A worker of a loader, `0..num_workers`, as `get_worker_info().id`.
pub type WorkerId = u16;

/// A batch: PyTorch's task index, which restarts at 0 in every epoch, together with the epoch.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct BatchId {
    /// Epoch, counted from 0.
    pub epoch: u32,
    /// Task index within the epoch: the value `_send_idx` had when it was dispatched.
    #[serde(rename = "batch")]
    pub idx: u32,
}

impl fmt::Display for BatchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.epoch == 0 {
            write!(f, "{}", say!("batch {}", self.idx))
        } else {
            write!(f, "{}", say!("batch {} of epoch {}", self.idx, self.epoch))
        }
    }
}
