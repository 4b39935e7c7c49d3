//! What can be to blame for the trainer's waiting.

use std::fmt;

use loadscope_words::say;
use serde::{Deserialize, Serialize};

use loadscope_trace::{Activity, Stage};

/// What is to blame for a part of the trainer's waiting, in the order of a batch's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Cause {
    /// The awaited batch had not been given to anyone: the sampler had not drawn it.
    NotDispatched,
    /// Its worker had not started, or was not ready yet.
    Starting,
    /// It was queued behind an earlier batch of its worker.
    Queued,
    /// It was in the index queue of a worker that had nothing else to do.
    IndexQueue,
    /// Its samples were read.
    Fetching,
    /// Its samples were put together.
    Collating,
    /// It was on its way to the main thread.
    Returning,
    /// It was copied to page-locked memory.
    Pinning,
    /// It was held in the reorder buffer.
    Held,
    /// It had come, and the sampler drew the indices of the next task before it was yielded.
    Sampling,
    /// It had come, and the main thread had not yielded it yet.
    Trainer,
    /// Nothing was to come any more: the end of an epoch, or what was asked for failed.
    End,
    /// The source does not tell.
    NotMeasured,
    /// It was in a worker that was started before the recording, so its work is not recorded.
    InWorker,
}

impl Cause {
    /// All of them, in the order of a batch's life.
    pub const ALL: [Self; 14] = [
        Self::NotDispatched,
        Self::Starting,
        Self::Queued,
        Self::IndexQueue,
        Self::Fetching,
        Self::Collating,
        Self::Returning,
        Self::Pinning,
        Self::Held,
        Self::Sampling,
        Self::Trainer,
        Self::End,
        Self::NotMeasured,
        Self::InWorker,
    ];

    /// Its name in JSON.
    pub fn id(self) -> &'static str {
        match self {
            Self::NotDispatched => "not_dispatched",
            Self::Starting => "starting",
            Self::Queued => "queued",
            Self::IndexQueue => "index_queue",
            Self::Fetching => "fetching",
            Self::Collating => "collating",
            Self::Returning => "returning",
            Self::Pinning => "pinning",
            Self::Held => "held",
            Self::Sampling => "sampling",
            Self::Trainer => "trainer",
            Self::End => "end",
            Self::NotMeasured => "not_measured",
            Self::InWorker => "in_worker",
        }
    }

    /// In a few words.
    pub fn label(self) -> &'static str {
        match self {
            Self::NotDispatched => say!("Not yet dispatched"),
            Self::Starting => say!("Worker starting"),
            Self::Queued => say!("Worker busy"),
            Self::IndexQueue => say!("Index queue"),
            Self::Fetching => say!("Fetching"),
            Self::Collating => say!("Collating"),
            Self::Returning => say!("Returning"),
            Self::Pinning => say!("Pinning"),
            Self::Held => say!("Held"),
            Self::Sampling => say!("Drawing indices"),
            Self::Trainer => say!("Main process"),
            Self::End => say!("End of epoch"),
            Self::NotMeasured => say!("Not measured"),
            Self::InWorker => say!("In a worker, not measured"),
        }
    }

    /// What the awaited batch was doing, in one sentence.
    pub fn explanation(self) -> &'static str {
        match self {
            Self::NotDispatched => {
                say!("The sampler had not drawn the indices of the batch, so no worker had it")
            }
            Self::Starting => {
                say!("The worker of the batch was starting and had not begun its first batch")
            }
            Self::Queued => say!("The worker of the batch was busy with an earlier one"),
            Self::IndexQueue => {
                say!("The worker of the batch was idle but had not taken it from its index queue")
            }
            Self::Fetching => say!("The samples of the batch were read from the dataset"),
            Self::Collating => say!("The samples of the batch were collated"),
            Self::Returning => {
                say!("The batch was in the result queue, on its way to the main process")
            }
            Self::Pinning => say!("The batch was copied to page-locked memory"),
            Self::Held => say!("The batch was finished and held in the reorder buffer"),
            Self::Sampling => {
                say!("The batch had arrived, but the sampler drew the next indices first")
            }
            Self::Trainer => {
                say!("The batch had arrived, but the main process had not yielded it yet")
            }
            Self::End => say!("No batches were left: the workers were shutting down"),
            Self::NotMeasured => say!("The source did not record the stage of the batch"),
            Self::InWorker => {
                say!("In a worker, not measured (it was started before the recording)")
            }
        }
    }

    /// The activity whose colour it has; `None` for what is no stage of a batch.
    pub fn activity(self) -> Option<Activity> {
        Some(match self {
            Self::Queued | Self::IndexQueue | Self::Starting => Activity::Queued,
            Self::Fetching => Activity::Fetching,
            Self::Collating => Activity::Collating,
            Self::Returning => Activity::Returning,
            Self::Pinning => Activity::Pinning,
            Self::Held => Activity::Held,
            Self::Trainer | Self::Sampling => Activity::Ready,
            Self::NotDispatched | Self::End | Self::NotMeasured | Self::InWorker => return None,
        })
    }

    /// The stage that has to be measured for it to be known.
    pub(super) fn stage(self) -> Option<Stage> {
        Some(match self {
            Self::Queued | Self::IndexQueue => Stage::Queued,
            Self::Fetching => Stage::Fetching,
            Self::Collating => Stage::Collating,
            Self::Returning => Stage::Returning,
            Self::Pinning => Stage::Pinning,
            Self::Held => Stage::Held,
            Self::Sampling | Self::Trainer => Stage::Ready,
            Self::NotDispatched
            | Self::Starting
            | Self::End
            | Self::NotMeasured
            | Self::InWorker => return None,
        })
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}
