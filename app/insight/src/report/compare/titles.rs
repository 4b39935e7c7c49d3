//! What findings are called where there is no room for their sentence.

use loadscope_trace::FindingId;
use loadscope_words::say;

/// The title of the finding called so.
pub fn title(id: FindingId) -> &'static str {
    match id {
        FindingId::ClassBalance => say!("Classes are unbalanced"),
        FindingId::CollidingSeeds => say!("Workers with the same seeds"),
        FindingId::CopyOnWrite => say!("Workers copy memory"),
        FindingId::DeadWorker => say!("A worker died"),
        FindingId::Descriptors => say!("File descriptors run out"),
        FindingId::Duplicates => say!("Samples come more than once"),
        FindingId::EpochRefill => say!("A gap at the beginning of each epoch"),
        FindingId::Failed => say!("An error ended the run"),
        FindingId::HeadOfLine => say!("Finished batches behind a slow one"),
        FindingId::HeavyTail => say!("A few very slow samples"),
        FindingId::IndicesOutside => say!("Indices outside of the dataset"),
        FindingId::LostEvents => say!("Events were lost"),
        FindingId::Memory => say!("Memory runs out"),
        FindingId::MemoryGrowth => say!("Memory that grows"),
        FindingId::MissingIndices => say!("Samples never come"),
        FindingId::NoWorkers => say!("The trainer reads by itself"),
        FindingId::Oversubscribed => say!("More workers than cores"),
        FindingId::Padding => say!("Samples repeated to fill up ranks"),
        FindingId::Pinning => say!("Slow pinning"),
        FindingId::PoorShuffle => say!("Badly shuffled"),
        FindingId::SamePermutation => say!("The same order in every epoch"),
        FindingId::Sampler => say!("A slow sampler"),
        FindingId::Sawtooth => say!("Workers in lockstep"),
        FindingId::SharedMemory => say!("Shared memory runs out"),
        FindingId::ShortRun => say!("A short run"),
        FindingId::SilentWorker => say!("A worker that appears stuck"),
        FindingId::SlowCollate => say!("A slow collate_fn"),
        FindingId::SlowFirstBatch => say!("A late first batch"),
        FindingId::SlowerThanNone => say!("Workers cost more than they bring"),
        FindingId::SortedClasses => say!("Classes come one after the other"),
        FindingId::StarvedWorkers => say!("Too few workers"),
        FindingId::TrainingBound => say!("The trainer is the bottleneck"),
        FindingId::WindowTooLarge => say!("A larger window than needed"),
        FindingId::WindowTooSmall => say!("Too small a window"),
    }
}
