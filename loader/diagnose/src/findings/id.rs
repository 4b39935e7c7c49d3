//! Identifiers of findings and verdicts.

use loadscope_words::say;
use serde::{Serialize, Serializer};

/// Kind of a finding. Scripts use the variant name in snake case, such as `slow_collate`.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    strum::EnumIter,
    strum::EnumString,
    strum::IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum FindingId {
    /// Other programs that use CPU cores of the host.
    BusyHost,
    /// Class shares in the batches that differ from the expected ones.
    ClassBalance,
    /// Workers, streams or ranks that draw the same random numbers.
    CollidingSeeds,
    /// Copy-on-write: workers copy memory pages that they share with the main process.
    CopyOnWrite,
    /// A worker process that died.
    DeadWorker,
    /// File descriptors that run out.
    Descriptors,
    /// Samples that occur more than once in an epoch.
    Duplicates,
    /// A `StopIteration` in `__getitem__`, which ends the epoch early.
    EndedEarly,
    /// A wait at the start of each epoch, while workers restart and prefetching refills.
    EpochRefill,
    /// An error that ended the run.
    Failed,
    /// Head-of-line blocking: finished batches that wait for a slow one.
    HeadOfLine,
    /// A heavy tail: many samples that take much longer than the median.
    HeavyTail,
    /// Workers whose part of a stream is empty or ends early.
    IdleWorkers,
    /// Sampler indices outside the dataset.
    IndicesOutside,
    /// A new iterator for each batch: `next(iter(loader))`.
    IteratorPerBatch,
    /// Much pickled data for each worker that starts by `spawn` or `forkserver`.
    LargePickle,
    /// Events that the recorder dropped.
    LostEvents,
    /// Memory of the host or its container that runs out.
    Memory,
    /// Memory of a process that keeps growing.
    MemoryGrowth,
    /// Samples that an epoch does not contain.
    MissingIndices,
    /// Workers whose libraries run more threads than there are cores.
    NativeThreads,
    /// Waits for the main process, which loads each batch (`num_workers=0`).
    NoWorkers,
    /// More CPU-bound workers than cores.
    Oversubscribed,
    /// Samples that are repeated so that all ranks have the same number.
    Padding,
    /// Waits for the pin thread.
    Pinning,
    /// Weak shuffling: neighbors in the dataset stay close together.
    PoorShuffle,
    /// Workers that each yield the whole stream.
    RepeatedStream,
    /// Epochs with the same sample order.
    SamePermutation,
    /// A slow sampler: training waits while the main process draws indices.
    Sampler,
    /// Workers in lockstep: one long wait per `num_workers` batches.
    Sawtooth,
    /// Workers that share the position of an open file.
    SharedFile,
    /// Shared memory (`/dev/shm`) that runs out.
    SharedMemory,
    /// A short run, in which the first batch is most of the wait.
    ShortRun,
    /// A worker that is stuck on a batch.
    SilentWorker,
    /// A slow `collate_fn`.
    SlowCollate,
    /// A line of code that takes much of the time of the workers.
    SlowLine,
    /// A few samples that cost most of the waiting.
    SlowSample,
    /// Loading that is blocked on reads from storage.
    SlowStorage,
    /// Batches whose transfer to the main process takes longer than loading.
    SlowTransfer,
    /// A worker that is slow in every batch.
    SlowWorker,
    /// A first batch that takes much longer than later ones.
    SlowFirstBatch,
    /// Workers that cost more than they save.
    SlowerThanNone,
    /// Samples sorted by class.
    SortedClasses,
    /// Dataset changes in the main process that persistent workers do not receive.
    StaleDataset,
    /// Too few workers: they load batches more slowly than training uses them.
    StarvedWorkers,
    /// An error in a training step that ended the run.
    StepFailed,
    /// Training that hardly waits for data, or whose steps take most of the time.
    TrainingBound,
    /// Ranks with different numbers of batches.
    UnevenRanks,
    /// Workers that were started before the recording.
    UnrecordedWorkers,
    /// A prefetch window that is larger than needed.
    WindowTooLarge,
    /// A prefetch window that is too small to hide slow batches.
    WindowTooSmall,
}

impl FindingId {
    /// Returns the name for scripts and JSON.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Returns the translated title, for lists without room for sentences.
    pub fn title(self) -> &'static str {
        match self {
            Self::BusyHost => say!("Other programs use the cores"),
            Self::ClassBalance => say!("Unbalanced classes"),
            Self::CollidingSeeds => say!("Workers with equal seeds"),
            Self::CopyOnWrite => say!("Copy-on-write in workers"),
            Self::DeadWorker => say!("Worker died"),
            Self::Descriptors => say!("File descriptors run out"),
            Self::Duplicates => say!("Repeated samples"),
            Self::EndedEarly => say!("StopIteration ended an epoch"),
            Self::EpochRefill => say!("Gap at the start of each epoch"),
            Self::Failed => say!("An error ended the run"),
            Self::HeadOfLine => say!("Head-of-line blocking"),
            Self::HeavyTail => say!("A few very slow samples"),
            Self::IdleWorkers => say!("Workers without samples"),
            Self::IndicesOutside => say!("Indices outside the dataset"),
            Self::IteratorPerBatch => say!("A new iterator for each batch"),
            Self::LargePickle => say!("Large data sent to workers"),
            Self::LostEvents => say!("Dropped events"),
            Self::Memory => say!("Memory runs out"),
            Self::MemoryGrowth => say!("Growing memory"),
            Self::MissingIndices => say!("Missing samples"),
            Self::NativeThreads => say!("More threads than cores"),
            Self::NoWorkers => say!("No workers"),
            Self::Oversubscribed => say!("More workers than cores"),
            Self::Padding => say!("Samples repeated to pad ranks"),
            Self::Pinning => say!("Slow pinning"),
            Self::PoorShuffle => say!("Poor shuffling"),
            Self::RepeatedStream => say!("Every worker yields the whole stream"),
            Self::SamePermutation => say!("Same order in every epoch"),
            Self::Sampler => say!("Slow sampler"),
            Self::Sawtooth => say!("Workers in lockstep"),
            Self::SharedFile => say!("Workers share an open file"),
            Self::SharedMemory => say!("Shared memory runs out"),
            Self::ShortRun => say!("Short run"),
            Self::SilentWorker => say!("Worker appears stuck"),
            Self::SlowCollate => say!("Slow collate_fn"),
            Self::SlowLine => say!("Slow line of code"),
            Self::SlowSample => say!("Single slow samples"),
            Self::SlowStorage => say!("Loading waits for storage"),
            Self::SlowTransfer => say!("Slow transfer of batches"),
            Self::SlowWorker => say!("One slow worker"),
            Self::SlowFirstBatch => say!("Slow first batch"),
            Self::SlowerThanNone => say!("Workers cost more than they save"),
            Self::SortedClasses => say!("Samples sorted by class"),
            Self::StaleDataset => say!("Dataset changes that workers miss"),
            Self::StarvedWorkers => say!("Too few workers"),
            Self::StepFailed => say!("An error in a training step"),
            Self::TrainingBound => say!("Training is the bottleneck"),
            Self::UnevenRanks => say!("Ranks with different numbers of batches"),
            Self::UnrecordedWorkers => say!("Workers started before the recording"),
            Self::WindowTooLarge => say!("Prefetch window larger than needed"),
            Self::WindowTooSmall => say!("Prefetch window too small"),
        }
    }
}

/// Subject of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VerdictId {
    /// A finding: the first one if it is a warning or worse, or a short run.
    Finding(FindingId),
    /// Training that hardly waits, in a run without a warning or worse.
    Fine,
    /// Waits that no finding explains.
    Waiting,
    /// A run without a yielded batch.
    Empty,
    /// A recording of a pipeline that is not a `DataLoader`, without batches.
    NotMeasured,
}

impl VerdictId {
    /// Returns the name for scripts and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Finding(id) => id.as_str(),
            Self::Fine => "fine",
            Self::Waiting => "waiting",
            Self::Empty => "empty",
            Self::NotMeasured => "not_measured",
        }
    }
}

impl Serialize for VerdictId {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn script_names_match_json_names() {
        use strum::IntoEnumIterator as _;
        for id in FindingId::iter() {
            let json = serde_json::to_value(id).expect("a name");
            assert_eq!(json, id.as_str());
            assert_eq!(id.as_str().parse(), Ok(id));
        }
        assert_eq!(FindingId::SlowFirstBatch.as_str(), "slow_first_batch");
        let verdict = VerdictId::Finding(FindingId::NoWorkers);
        assert_eq!(serde_json::to_value(verdict).expect("a name"), "no_workers");
    }
}
