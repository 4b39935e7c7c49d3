//! Lanes: the places where batches are. A lane that holds several batches at a time has several rows.

use std::fmt;

use crate::{Stage, WorkerId};
use loadscope_words::say;

/// A place in the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// The training loop: trains or waits.
    Trainer,
    /// Batches that have arrived and were not yet yielded.
    Reorder,
    /// Between the pin thread and the main thread.
    DataQueue,
    /// The pin thread.
    Pin,
    /// Between the workers and the pin thread, or the main thread when nothing is pinned.
    ResultQueue,
    /// The main thread fetching by itself (`num_workers=0`).
    Main,
    /// A worker.
    Worker(WorkerId),
    /// The index queue of a worker.
    IndexQueue(WorkerId),
}

impl Lane {
    /// The lane in which a batch of `worker` is while in `stage`; `pinned` tells whether the batch has passed the pin thread.
    /// `None` for the final stages.
    pub fn of(stage: Stage, worker: Option<WorkerId>, pinned: bool) -> Option<Self> {
        match stage {
            Stage::Queued => Some(worker.map_or(Self::Main, Self::IndexQueue)),
            Stage::Fetching | Stage::Collating => Some(worker.map_or(Self::Main, Self::Worker)),
            Stage::Returning if pinned => Some(Self::DataQueue),
            Stage::Returning => Some(Self::ResultQueue),
            // Without workers there is no pin thread: the main thread pins.
            Stage::Pinning => Some(worker.map_or(Self::Main, |_| Self::Pin)),
            Stage::Held | Stage::Ready => Some(Self::Reorder),
            Stage::Training => Some(Self::Trainer),
            Stage::Done | Stage::Failed | Stage::Discarded => None,
        }
    }

    /// True for lanes where batches wait side by side.
    pub fn is_queue(self) -> bool {
        matches!(
            self,
            Self::Reorder | Self::DataQueue | Self::ResultQueue | Self::IndexQueue(_)
        )
    }
}

impl Lane {
    /// As it stands in files, whatever language is spoken.
    pub fn key(self) -> String {
        match self {
            Self::Trainer => "trainer".to_owned(),
            Self::Reorder => "reorder buffer".to_owned(),
            Self::DataQueue => "pinned queue".to_owned(),
            Self::Pin => "pin thread".to_owned(),
            Self::ResultQueue => "result queue".to_owned(),
            Self::Main => "main thread".to_owned(),
            Self::Worker(w) => format!("worker {w}"),
            Self::IndexQueue(w) => format!("index queue {w}"),
        }
    }
}

impl fmt::Display for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trainer => f.write_str(say!("trainer")),
            Self::Reorder => f.write_str(say!("reorder buffer")),
            Self::DataQueue => f.write_str(say!("data queue (pinned)")),
            Self::Pin => f.write_str(say!("pin thread")),
            Self::ResultQueue => f.write_str(say!("result queue")),
            Self::Main => f.write_str(say!("main process")),
            Self::Worker(w) => write!(f, "{}", say!("worker {w}")),
            Self::IndexQueue(w) => write!(f, "{}", say!("index queue {w}")),
        }
    }
}

/// One row of a lane. Spans of a track never overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Track {
    /// The lane.
    pub lane: Lane,
    /// The row within the lane, from 0.
    pub row: u16,
}
