//! Identifiers of runs, workers and batches.

use std::fmt;

use loadscope_words::say;
use serde::{Deserialize, Serialize};

/// Identifier of a run: one loader of one rank of a program.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct RunId(pub u32);

/// Number of a worker, `0..num_workers`, as in `get_worker_info().id`.
pub type WorkerId = u16;

/// Identifier of a batch: the epoch and PyTorch's task index, which restarts at 0 in every epoch.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct BatchId {
    /// Epoch, counted from 0.
    pub epoch: u32,
    /// Task index within the epoch: the value of `_send_idx` at dispatch.
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
