//! What findings and verdicts are called.

use serde::{Serialize, Serializer};

/// What was found. Its name for scripts is that of the variant in small letters: `slow_collate`.
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
    /// Other programs use the cores.
    BusyHost,
    /// Batches do not hold the classes in the shares that were asked for.
    ClassBalance,
    /// Workers, streams or ranks that draw the same random numbers.
    CollidingSeeds,
    /// Pages that workers share with the main process are copied when they are touched.
    CopyOnWrite,
    /// A worker process has ended.
    DeadWorker,
    /// File descriptors run out.
    Descriptors,
    /// Samples that come more than once in an epoch.
    Duplicates,
    /// A sample raised `StopIteration`.
    EndedEarly,
    /// A gap at the beginning of each epoch.
    EpochRefill,
    /// An error ended the run.
    Failed,
    /// Finished batches that wait behind a slow one.
    HeadOfLine,
    /// A few samples that take very long.
    HeavyTail,
    /// Workers whose part of a stream is empty, or ends early.
    IdleWorkers,
    /// Indices that the dataset does not have.
    IndicesOutside,
    /// A new iterator for each batch.
    IteratorPerBatch,
    /// Events that there was no room for.
    LostEvents,
    /// Memory runs out.
    Memory,
    /// Memory that grows.
    MemoryGrowth,
    /// Samples that never come.
    MissingIndices,
    /// The trainer makes all batches itself, and waits for that.
    NoWorkers,
    /// More workers that compute than cores.
    Oversubscribed,
    /// Samples that are repeated so that all ranks have as many.
    Padding,
    /// The pin thread is what the trainer waits for.
    Pinning,
    /// Neighbours in the dataset come near each other.
    PoorShuffle,
    /// Every worker yields the whole stream.
    RepeatedStream,
    /// Two epochs with the same order.
    SamePermutation,
    /// The main thread draws indices while the trainer waits.
    Sampler,
    /// Workers in lockstep.
    Sawtooth,
    /// Shared memory runs out.
    SharedMemory,
    /// Most of the waiting is for the first of few batches.
    ShortRun,
    /// A worker that tells nothing for long.
    SilentWorker,
    /// Putting batches together takes long.
    SlowCollate,
    /// A few samples that cost most of the waiting.
    SlowSample,
    /// Batches that take longer on their way than their samples.
    SlowTransfer,
    /// A worker that is slow in every batch.
    SlowWorker,
    /// The first batch comes late.
    SlowFirstBatch,
    /// Handing batches over takes longer than making them.
    SlowerThanNone,
    /// Classes come one after the other.
    SortedClasses,
    /// Persistent workers whose dataset the main process changes.
    StaleDataset,
    /// Workers that make batches more slowly than the trainer takes them.
    StarvedWorkers,
    /// An error ended the run in a training step.
    StepFailed,
    /// The trainer hardly waits.
    TrainingBound,
    /// Ranks with different numbers of batches.
    UnevenRanks,
    /// Workers that were started before the recording.
    UnrecordedWorkers,
    /// More batches in flight than it takes.
    WindowTooLarge,
    /// Too few batches in flight.
    WindowTooSmall,
}

impl FindingId {
    /// Its name for scripts.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// What a verdict is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VerdictId {
    /// The first finding, which is a warning or worse.
    Finding(FindingId),
    /// The trainer hardly waits, and nothing is wrong.
    Fine,
    /// The trainer waits, and no finding says why.
    Waiting,
    /// No batch was yielded.
    Empty,
    /// The source tells too little.
    NotMeasured,
}

impl VerdictId {
    /// Its name for scripts.
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
    fn a_name_is_the_same_for_scripts_and_in_json() {
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
