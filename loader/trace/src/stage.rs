//! The stages of a batch's life.

use std::fmt;

use loadscope_words::say;
use serde::{Deserialize, Serialize};

/// Where a batch is. A batch is in exactly one stage at any time after it was dispatched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Stage {
    /// In its worker's index queue.
    Queued,
    /// Its samples are being read from the dataset.
    Fetching,
    /// Its samples are being put together (`collate_fn`).
    Collating,
    /// In the result queue, on its way to the pin thread or the main thread.
    Returning,
    /// Being copied to page-locked memory.
    Pinning,
    /// In the reorder buffer, behind a batch that has not arrived yet.
    Held,
    /// It is this batch's turn; it waits for the trainer to ask.
    Ready,
    /// The trainer works on it.
    Training,
    /// The trainer finished it.
    Done,
    /// Its error was raised in the trainer.
    Failed,
    /// It never reached the trainer: the epoch was stopped early.
    Discarded,
}

impl Stage {
    /// All stages in the order of a batch's life.
    pub const ALL: [Self; 11] = [
        Self::Queued,
        Self::Fetching,
        Self::Collating,
        Self::Returning,
        Self::Pinning,
        Self::Held,
        Self::Ready,
        Self::Training,
        Self::Done,
        Self::Failed,
        Self::Discarded,
    ];

    /// True for the stages that a batch never leaves.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Discarded)
    }

    /// True once the batch has been received by the main thread.
    pub fn has_arrived(self) -> bool {
        self >= Self::Held
    }

    /// True if a batch in stage `self` may enter `next`.
    ///
    /// A batch may be discarded from anywhere, pinning is optional, and a pinned batch goes through
    /// [`Stage::Returning`] a second time (the queue between the pin thread and the main thread).
    /// Sources that could not measure a stage skip it, so every step forward is allowed.
    pub fn may_enter(self, next: Self) -> bool {
        match (self, next) {
            (from, _) if from.is_final() => false,
            (_, Self::Discarded | Self::Failed) => true,
            (Self::Pinning, Self::Returning) => true,
            (from, next) => next > from,
        }
    }

    /// Its name in recordings and tables.
    pub fn id(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Fetching => "fetching",
            Self::Collating => "collating",
            Self::Returning => "returning",
            Self::Pinning => "pinning",
            Self::Held => "held",
            Self::Ready => "ready",
            Self::Training => "training",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Discarded => "discarded",
        }
    }

    /// One word for people, as shown in the window.
    pub fn label(self) -> &'static str {
        match self {
            Self::Queued => say!("Queued"),
            Self::Fetching => say!("Fetching"),
            Self::Collating => say!("Collating"),
            Self::Returning => say!("Returning"),
            Self::Pinning => say!("Pinning"),
            Self::Held => say!("Held"),
            Self::Ready => say!("Ready"),
            Self::Training => say!("Training"),
            Self::Done => say!("Done"),
            Self::Failed => say!("Failed"),
            Self::Discarded => say!("Discarded"),
        }
    }

    /// What a batch in this stage is doing, in one sentence.
    pub fn explanation(self) -> &'static str {
        match self {
            Self::Queued => say!("Waits in its worker's index queue"),
            Self::Fetching => say!("The worker reads its samples from the dataset"),
            Self::Collating => say!("The worker collates the samples into a batch"),
            Self::Returning => say!("Waits in the result queue for the main process"),
            Self::Pinning => say!("The pin thread copies it to page-locked memory"),
            Self::Held => say!("Finished, waiting in the reorder buffer for an earlier batch"),
            Self::Ready => say!("Next in order: waits until the training loop requests it"),
            Self::Training => say!("In the training step"),
            Self::Done => say!("The training step is finished"),
            Self::Failed => say!("Its error was raised in the training loop"),
            Self::Discarded => {
                say!(
                    "Never reached the training loop: the epoch stopped early, or its worker had no more data"
                )
            }
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}
