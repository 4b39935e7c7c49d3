//! Facts about a loader that are learned after its start.

use serde::{Deserialize, Serialize};

use crate::{BatchId, WorkerId};

/// Fact about a loader, learned after its start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Fact {
    /// The running workers were started before the recording, so their work is not recorded.
    EarlierWorkers {
        /// Number of these workers.
        workers: u32,
    },
    /// The program called `len(loader)`.
    Length {
        /// Result, batches.
        batches: u64,
    },
    /// The stream of the worker ended, and nothing in the worker had called `get_worker_info()`.
    UndividedStream {
        /// Worker whose stream ended.
        worker: WorkerId,
    },
    /// Attributes of the dataset that the main process changed between epochs, or `set_epoch()`.
    DatasetChanged {
        /// Names of the attributes, or `set_epoch()`.
        attributes: Vec<String>,
    },
    /// The file of a sample.
    File {
        /// Batch of the sample.
        of: BatchId,
        /// Position in the batch.
        position: u32,
        /// Path or name of the file.
        file: String,
    },
    /// Source code of a file with sampled functions.
    Source {
        /// Path of the file, as in [`crate::Function::file`].
        file: String,
        /// The lines of the file. A long file is cut.
        text: String,
    },
    /// A sample that could not be collated with the others of its batch.
    Misfit(Misfit),
}

/// Sample that differs from the others of its batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Misfit {
    /// Batch of the sample.
    pub of: BatchId,
    /// Position in the batch.
    pub position: u32,
    /// Field of the sample: `[0]`, `["image"]`. Empty for the sample itself.
    pub field: String,
    /// Property that differs.
    pub by: Difference,
    /// Value of the sample, such as `[1, 16, 16]`.
    pub got: String,
    /// Value of most samples. Empty if all samples are alike.
    pub usual: String,
    /// Number of samples with the usual value.
    pub alike: u32,
}

/// Property in which samples differ.
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
    /// Returns the size of a long text, bytes.
    pub(crate) fn text_bytes(&self) -> usize {
        match self {
            Self::Source { file, text } => file.len() + text.len(),
            _ => 0,
        }
    }

    /// Returns the batch, if the fact is about one.
    pub fn batch(&self) -> Option<BatchId> {
        match self {
            Self::File { of, .. } | Self::Misfit(Misfit { of, .. }) => Some(*of),
            Self::EarlierWorkers { .. }
            | Self::Length { .. }
            | Self::UndividedStream { .. }
            | Self::DatasetChanged { .. }
            | Self::Source { .. } => None,
        }
    }
}
