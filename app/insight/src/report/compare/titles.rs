//! What findings are called where there is no room for their sentence.

/// The title of the finding called `id`.
pub fn title(id: &str) -> String {
    let known = match id {
        "class_balance" => "Classes are unbalanced",
        "colliding_seeds" => "Workers with the same seeds",
        "copy_on_write" => "Workers copy memory",
        "dead_worker" => "A worker died",
        "descriptors" => "File descriptors run out",
        "duplicates" => "Samples come more than once",
        "epoch_refill" => "A gap at the beginning of each epoch",
        "failed" => "An error ended the run",
        "head_of_line" => "Finished batches behind a slow one",
        "heavy_tail" => "A few very slow samples",
        "indices_outside" => "Indices outside of the dataset",
        "lost_events" => "Events were lost",
        "memory" => "Memory runs out",
        "memory_growth" => "Memory that grows",
        "missing_indices" => "Samples never come",
        "no_workers" => "The trainer reads by itself",
        "oversubscribed" => "More workers than cores",
        "padding" => "Samples repeated to fill up ranks",
        "pinning" => "Slow pinning",
        "poor_shuffle" => "Badly shuffled",
        "same_permutation" => "The same order in every epoch",
        "sampler" => "A slow sampler",
        "sawtooth" => "Workers that finish all at once",
        "shared_memory" => "Shared memory runs out",
        "short_run" => "A short run",
        "silent_worker" => "A worker gives no sign",
        "slow_collate" => "A slow collate_fn",
        "slow_first_batch" => "A late first batch",
        "slower_than_none" => "Workers cost more than they bring",
        "sorted_classes" => "Classes come one after the other",
        "starved_workers" => "Too few workers",
        "training_bound" => "The trainer is the bottleneck",
        "window_too_large" => "A larger window than needed",
        "window_too_small" => "Too small a window",
        other => return crate::format::capital(&other.replace('_', " ")),
    };
    known.to_owned()
}
