//! Stages of a batch.

use std::fmt;

use loadscope_words::say;
use serde::{Deserialize, Serialize};

/// Stage of a batch. After its dispatch, a batch is always in exactly one stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Stage {
    /// In the index queue of its worker.
    Queued,
    /// The worker reads its samples from the dataset.
    Fetching,
    /// The worker collates its samples (`collate_fn`).
    Collating,
    /// In the result queue, on its way to the pin thread or the main process.
    Returning,
    /// The pin thread copies it to page-locked memory.
    Pinning,
    /// In the reorder buffer, until an earlier batch arrives.
    Held,
    /// Next in order, until the trainer requests it.
    Ready,
    /// In the training step.
    Training,
    /// The training step is finished.
    Done,
    /// The error of the batch was raised in the trainer.
    Failed,
    /// The batch never reached the trainer: the epoch was stopped early, or its worker had no more data.
    Discarded,
}

impl Stage {
    /// All stages, in order.
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

    /// Returns true for the stages that a batch never leaves.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Discarded)
    }

    /// Returns true after the main process received the batch.
    pub fn has_arrived(self) -> bool {
        self >= Self::Held
    }

    /// Returns true if a batch in this stage may enter `next`.
    ///
    /// A batch can be discarded in any stage, and pinning is optional. A pinned batch enters [`Stage::Returning`] a second time, for the
    /// queue between the pin thread and the main process. Sources skip stages that they do not measure, so every step forward is allowed.
    pub fn may_enter(self, next: Self) -> bool {
        match (self, next) {
            (from, _) if from.is_final() => false,
            (_, Self::Discarded | Self::Failed) => true,
            (Self::Pinning, Self::Returning) => true,
            (from, next) => next > from,
        }
    }

    /// Returns the name in recordings and tables.
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

    /// Returns the name in the window, in the user's language.
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

    /// Returns an explanation in one sentence, in the user's language.
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
