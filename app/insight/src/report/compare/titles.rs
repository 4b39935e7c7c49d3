//! What findings are called where there is no room for their sentence.

use loadscope_trace::FindingId;

/// The title of the finding called so.
pub fn title(id: FindingId) -> &'static str {
    match id {
        FindingId::ClassBalance => "Classes are unbalanced",
        FindingId::CollidingSeeds => "Workers with the same seeds",
        FindingId::CopyOnWrite => "Workers copy memory",
        FindingId::DeadWorker => "A worker died",
        FindingId::Descriptors => "File descriptors run out",
        FindingId::Duplicates => "Samples come more than once",
        FindingId::EpochRefill => "A gap at the beginning of each epoch",
        FindingId::Failed => "An error ended the run",
        FindingId::HeadOfLine => "Finished batches behind a slow one",
        FindingId::HeavyTail => "A few very slow samples",
        FindingId::IndicesOutside => "Indices outside of the dataset",
        FindingId::LostEvents => "Events were lost",
        FindingId::Memory => "Memory runs out",
        FindingId::MemoryGrowth => "Memory that grows",
        FindingId::MissingIndices => "Samples never come",
        FindingId::NoWorkers => "The trainer reads by itself",
        FindingId::Oversubscribed => "More workers than cores",
        FindingId::Padding => "Samples repeated to fill up ranks",
        FindingId::Pinning => "Slow pinning",
        FindingId::PoorShuffle => "Badly shuffled",
        FindingId::SamePermutation => "The same order in every epoch",
        FindingId::Sampler => "A slow sampler",
        FindingId::Sawtooth => "Workers in lockstep",
        FindingId::SharedMemory => "Shared memory runs out",
        FindingId::ShortRun => "A short run",
        FindingId::SilentWorker => "A worker that appears stuck",
        FindingId::SlowCollate => "A slow collate_fn",
        FindingId::SlowFirstBatch => "A late first batch",
        FindingId::SlowerThanNone => "Workers cost more than they bring",
        FindingId::SortedClasses => "Classes come one after the other",
        FindingId::StarvedWorkers => "Too few workers",
        FindingId::TrainingBound => "The trainer is the bottleneck",
        FindingId::WindowTooLarge => "A larger window than needed",
        FindingId::WindowTooSmall => "Too small a window",
    }
}
