//! Lanes of the timeline, such as workers and queues. A lane with several batches at a time has several rows.

use std::fmt;

use crate::{Stage, WorkerId};
use loadscope_words::say;

/// Place in the pipeline that contains batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// Training loop, which trains or waits.
    Trainer,
    /// Batches that arrived at the main process and were not yet yielded.
    Reorder,
    /// Queue between the pin thread and the main process.
    DataQueue,
    /// Pin thread.
    Pin,
    /// Queue between the workers and the pin thread, or the main process without a pin thread.
    ResultQueue,
    /// Main process, which fetches the batches itself (`num_workers=0`).
    Main,
    /// Worker with this number.
    Worker(WorkerId),
    /// Index queue of a worker.
    IndexQueue(WorkerId),
}

impl Lane {
    /// Returns the lane of a batch of `worker` in `stage`, or `None` for final stages. `pinned` is true after the pin thread.
    pub fn of(stage: Stage, worker: Option<WorkerId>, pinned: bool) -> Option<Self> {
        match stage {
            Stage::Queued => Some(worker.map_or(Self::Main, Self::IndexQueue)),
            Stage::Fetching | Stage::Collating => Some(worker.map_or(Self::Main, Self::Worker)),
            Stage::Returning if pinned => Some(Self::DataQueue),
            Stage::Returning => Some(Self::ResultQueue),
            // Without workers there is no pin thread, so the main process pins.
            Stage::Pinning => Some(worker.map_or(Self::Main, |_| Self::Pin)),
            Stage::Held | Stage::Ready => Some(Self::Reorder),
            Stage::Training => Some(Self::Trainer),
            Stage::Done | Stage::Failed | Stage::Discarded => None,
        }
    }

    /// Returns true for lanes that can contain several waiting batches.
    pub fn is_queue(self) -> bool {
        matches!(
            self,
            Self::Reorder | Self::DataQueue | Self::ResultQueue | Self::IndexQueue(_)
        )
    }
}

impl Lane {
    /// Returns the untranslated name for files.
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

/// One row of a lane. Its spans never overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Track {
    /// Lane that contains the row.
    pub lane: Lane,
    /// Row within the lane, from 0.
    pub row: u16,
}
