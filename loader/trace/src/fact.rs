//! Facts that become known after a loader has introduced itself.

use serde::{Deserialize, Serialize};

use crate::{BatchId, WorkerId};

/// A fact about a loader that is learned while it runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Fact {
    /// The workers that run were started before the recording, so their work is not recorded.
    EarlierWorkers {
        /// Number of them.
        workers: u32,
    },
    /// Result of `len(loader)` in the program, batches.
    Length {
        /// Batches.
        batches: u64,
    },
    /// The stream of a worker ended, and nothing in the worker had called `get_worker_info()`.
    UndividedStream {
        /// The worker.
        worker: WorkerId,
    },
    /// Attributes of the dataset that the main process changed between epochs, or `set_epoch()`.
    DatasetChanged {
        /// Their names.
        attributes: Vec<String>,
    },
    /// The file of a sample.
    File {
        /// Batch of the sample.
        of: BatchId,
        /// Position in the batch.
        position: u32,
        /// Path of the file, or its name.
        file: String,
    },
    /// A sample that could not be collated with the others of its batch.
    Misfit(Misfit),
}

/// A sample that differs from the others of its batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Misfit {
    /// Its batch.
    pub of: BatchId,
    /// Its position in the batch.
    pub position: u32,
    /// The field of the sample: `[0]`, `["image"]`. Empty: the sample itself.
    pub field: String,
    /// The difference.
    pub by: Difference,
    /// Its own value: `[1, 16, 16]`.
    pub got: String,
    /// The value that most samples have. Empty: all samples are alike.
    pub usual: String,
    /// Number of samples with that value.
    pub alike: u32,
}

/// The property in which samples differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Difference {
    /// Shape of a tensor or array.
    Shape,
    /// Length of a list or tuple.
    Length,
    /// Keys of a dict.
    Keys,
    /// Type, such as `None` among tensors.
    Type,
}

impl Fact {
    /// The batch that it is about.
    pub fn batch(&self) -> Option<BatchId> {
        match self {
            Self::File { of, .. } | Self::Misfit(Misfit { of, .. }) => Some(*of),
            Self::EarlierWorkers { .. }
            | Self::Length { .. }
            | Self::UndividedStream { .. }
            | Self::DatasetChanged { .. } => None,
        }
    }
}
