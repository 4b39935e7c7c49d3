//! Causes of waits.

use std::fmt;

use loadscope_words::say;
use serde::{Deserialize, Serialize};

use loadscope_trace::{Activity, Stage};

/// Cause of a part of a wait, in the order of the stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Cause {
    /// The awaited batch was not dispatched yet: the sampler had not drawn its indices.
    NotDispatched,
    /// The worker of the batch had not started, or was not ready for tasks yet.
    Starting,
    /// The worker of the batch was busy with an earlier batch.
    Queued,
    /// The batch was in the index queue of an idle worker.
    IndexQueue,
    /// The samples of the batch were read from the dataset.
    Fetching,
    /// The samples of the batch were collated (`collate_fn`).
    Collating,
    /// The batch was in the result queue, on its way to the main process.
    Returning,
    /// The batch was copied to page-locked memory.
    Pinning,
    /// The batch was finished and held in the reorder buffer.
    Held,
    /// The batch had arrived, but the sampler drew the indices of the next task first.
    Sampling,
    /// The batch had arrived, but the main process had not yielded it yet.
    Trainer,
    /// No batch was left in the epoch, or the batch failed or was discarded.
    End,
    /// The source did not record the stage of the batch.
    NotMeasured,
    /// The batch was in a worker that started before the recording, so its work is not recorded.
    InWorker,
}

impl Cause {
    /// All causes, in the order of the stages.
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

    /// Returns the name of the cause in JSON.
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

    /// Returns a short label, such as `Worker busy`.
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

    /// Returns one sentence about the state of the awaited batch.
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

    /// Returns the activity with the color of the cause. Returns `None` if the cause is not a stage of a batch.
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

    /// Returns the stage that a source must measure for this cause. Returns `None` if the cause needs no stage.
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

#[cfg(test)]
mod tests {
    use loadscope_trace::AwaitedStage;

    use super::*;

    /// Sums of older data and causes of waits have the same labels.
    #[test]
    fn sums_and_causes_have_the_same_labels() {
        let pairs = [
            (AwaitedStage::NotDispatched, Cause::NotDispatched),
            (AwaitedStage::Fetching, Cause::Fetching),
            (AwaitedStage::Collating, Cause::Collating),
            (AwaitedStage::Returning, Cause::Returning),
            (AwaitedStage::Pinning, Cause::Pinning),
            (AwaitedStage::Held, Cause::Held),
            (AwaitedStage::Ready, Cause::Trainer),
            (AwaitedStage::End, Cause::End),
        ];
        for (awaited, cause) in pairs {
            assert_eq!(awaited.label(), cause.label());
        }
    }
}
