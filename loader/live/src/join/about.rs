//! How a loader of PyTorch introduces itself, in our words.

use loadscope_trace::{Origin, PinMemory, RunInfo, RunOptions, Stage, count};

use crate::wire::{About, Introduction};

pub(super) fn info(about: &About, who: &Introduction) -> RunInfo {
    let mut measured = Stage::ALL.to_vec();
    measured.retain(|stage| *stage != Stage::Pinning || about.pins);
    RunInfo {
        options: options(about, who),
        origin: Origin::Pytorch(who.torch.clone()),
        dataset: describe(about, who),
        dataset_len: about.dataset_len,
        batches_per_epoch: about.batches,
        classes: about.classes.clone(),
        rank: about.replica.or(who.rank).unwrap_or(0),
        world_size: about.replicas.or(who.world_size).unwrap_or(1),
        cores: who.cores.unwrap_or(0),
        measured,
        pinning: about.pins.then(|| "PyTorch's pin thread".to_owned()),
        started_unix_ns: 0,
    }
}

fn options(about: &About, who: &Introduction) -> RunOptions {
    // Under a name that we do not know no order is foretold.
    let sampler = match (about.batch_sampler.as_deref(), about.sampler.as_str()) {
        (Some(name), _) => name,
        (None, "DistributedSampler") => "distributed",
        (None, "" | "SequentialSampler" | "RandomSampler" | "_InfiniteConstantSampler") => "",
        (None, name) => name,
    };
    RunOptions {
        // What stands in for the user's own data set where an order is worked out: it has as many samples.
        dataset: match (about.iterable, about.dataset_len) {
            (false, Some(len)) => format!("synthetic:len={len}"),
            (false, None) => String::new(),
            (true, _) => "stream".to_owned(),
        },
        batch_size: about.batch_size,
        shuffle: about.shuffle && sampler.is_empty(),
        sampler: sampler.to_owned(),
        replacement: about.replacement,
        num_samples: about.num_samples,
        world_size: about.replicas.or(who.world_size).unwrap_or(1),
        rank: about.replica.or(who.rank).unwrap_or(0),
        sampler_drop_last: about.sampler_drop_last,
        seed: about.seed,
        global_seed: about.global_seed,
        num_workers: about.num_workers,
        prefetch_factor: about.prefetch_factor.filter(|factor| *factor != 2),
        drop_last: about.drop_last,
        in_order: about.in_order,
        pin_memory: match about.pin_memory {
            true => PinMemory::On,
            false => PinMemory::Off,
        },
        persistent_workers: about.persistent_workers,
        timeout: about.timeout.max(0.0),
        multiprocessing_context: about.multiprocessing_context.clone().unwrap_or_default(),
        ..RunOptions::default()
    }
}

/// `ImageFolder of 1,281,167 samples in train.py`
fn describe(about: &About, who: &Introduction) -> String {
    let name = match about.dataset.as_str() {
        "" => "A dataset",
        name => name,
    };
    let len = about
        .dataset_len
        .map(|len| format!(" of {} samples", count(len)));
    let program = Some(who.program.as_str()).filter(|p| !p.is_empty());
    let program = program.map(|p| format!(" in {p}"));
    format!(
        "{name}{}{}",
        len.unwrap_or_default(),
        program.unwrap_or_default()
    )
}
