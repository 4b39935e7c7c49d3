//! Facts about a loader that are learned after its start.

use serde::{Deserialize, Serialize};

use crate::{BatchId, Nanos, StartMethod, WorkerId};

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
    /// Data that the main process pickled and sent to new workers.
    Sent(Sent),
    /// The attribute with most of the Python objects of a dataset in forked workers. Attributes with few objects are not reported.
    Objects {
        /// Path of the attribute, such as `samples` or `dataset.samples`.
        attribute: String,
        /// Estimated number of objects.
        objects: u64,
    },
    /// An open file whose position workers share, because they inherited it from the main process over a fork.
    SharedFile {
        /// Path of the file.
        file: String,
        /// File descriptor in all these processes.
        descriptor: u32,
        /// Workers that share the position.
        workers: Vec<WorkerId>,
    },
    /// A sample that could not be collated with the others of its batch.
    Misfit(Misfit),
    /// Libraries with a thread pool in a worker that runs several threads.
    ThreadPools {
        /// These libraries, without repetition.
        libraries: Vec<ThreadPool>,
    },
    /// A folder from which a process reads samples.
    Storage {
        /// Type of its file system, such as `ext4` or `nfs4`.
        file_system: String,
        /// Path of the folder.
        folder: String,
    },
}

/// Library with a thread pool of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThreadPool {
    /// OpenMP, which PyTorch also uses.
    OpenMp,
    /// Intel MKL.
    Mkl,
    /// OpenBLAS, which NumPy and SciPy use.
    OpenBlas,
    /// OpenCV.
    OpenCv,
    /// Tokenizers of Hugging Face.
    Tokenizers,
}

/// Data that the main process pickled and sent to the workers of an iterator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sent {
    /// Number of workers.
    pub workers: u32,
    /// Start method of the workers. Forked workers receive nothing.
    pub method: StartMethod,
    /// Bytes for one worker.
    pub bytes: u64,
    /// Time from the start of the first worker until the last one was running, which is the time of the event when it was learned.
    pub took: Nanos,
    /// Time that the main process needed for pickling and for creating the processes, all workers together.
    pub pickling: Nanos,
    /// The attribute of the dataset with most of the bytes, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribute: Option<SentAttribute>,
}

/// Attribute of a dataset, as a part of the data sent to a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SentAttribute {
    /// Path of the attribute, such as `images` or `dataset.images`.
    pub name: String,
    /// Estimated number of bytes.
    pub bytes: u64,
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
            | Self::Source { .. }
            | Self::Sent(_)
            | Self::Objects { .. }
            | Self::ThreadPools { .. }
            | Self::Storage { .. }
            | Self::SharedFile { .. } => None,
        }
    }
}
