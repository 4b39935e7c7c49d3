//! Titles of findings, for places without room for their sentence.

use loadscope_trace::FindingId;
use loadscope_words::say;

/// The title of a finding.
pub fn title(id: FindingId) -> &'static str {
    match id {
        FindingId::ClassBalance => say!("Unbalanced classes"),
        FindingId::CollidingSeeds => say!("Workers with equal seeds"),
        FindingId::CopyOnWrite => say!("Copy-on-write in workers"),
        FindingId::DeadWorker => say!("Worker died"),
        FindingId::Descriptors => say!("File descriptors run out"),
        FindingId::Duplicates => say!("Repeated samples"),
        FindingId::EpochRefill => say!("Gap at the start of each epoch"),
        FindingId::Failed => say!("An error ended the run"),
        FindingId::HeadOfLine => say!("Head-of-line blocking"),
        FindingId::HeavyTail => say!("A few very slow samples"),
        FindingId::IndicesOutside => say!("Indices outside the dataset"),
        FindingId::LostEvents => say!("Dropped events"),
        FindingId::Memory => say!("Memory runs out"),
        FindingId::MemoryGrowth => say!("Growing memory"),
        FindingId::MissingIndices => say!("Missing samples"),
        FindingId::NoWorkers => say!("No workers"),
        FindingId::Oversubscribed => say!("More workers than cores"),
        FindingId::Padding => say!("Samples repeated to pad ranks"),
        FindingId::Pinning => say!("Slow pinning"),
        FindingId::PoorShuffle => say!("Poor shuffling"),
        FindingId::SamePermutation => say!("Same order in every epoch"),
        FindingId::Sampler => say!("Slow sampler"),
        FindingId::Sawtooth => say!("Workers in lockstep"),
        FindingId::SharedMemory => say!("Shared memory runs out"),
        FindingId::ShortRun => say!("Short run"),
        FindingId::SilentWorker => say!("Worker appears stuck"),
        FindingId::SlowCollate => say!("Slow collate_fn"),
        FindingId::SlowFirstBatch => say!("Slow first batch"),
        FindingId::SlowerThanNone => say!("Workers cost more than they save"),
        FindingId::SortedClasses => say!("Samples sorted by class"),
        FindingId::StarvedWorkers => say!("Too few workers"),
        FindingId::TrainingBound => say!("Training is the bottleneck"),
        FindingId::WindowTooLarge => say!("Prefetch window larger than needed"),
        FindingId::WindowTooSmall => say!("Prefetch window too small"),
    }
}
