//! Conversion of a PyTorch loader's properties into run information.

use loadscope_trace::{
    Origin, PinMemory, RunInfo, RunOptions, SourceLine, Stage, StartMethod, UNNAMED_DATASET, count,
};

use crate::wire::{About, Introduction};

pub(super) fn info(about: &About, who: &Introduction) -> RunInfo {
    let mut measured = Stage::ALL.to_vec();
    measured.retain(|stage| *stage != Stage::Pinning || about.pins);
    // Ranks of one model-parallel group get the same samples, so the sampler has fewer replicas than there are ranks.
    let (rank, world_size) = match (about.rank, about.world_size) {
        (Some(rank), Some(world_size)) => (Some(rank), Some(world_size)),
        _ => (
            about.replica.or(who.rank),
            about.replicas.or(who.world_size),
        ),
    };
    RunInfo {
        options: options(about, who),
        origin: Origin::Pytorch(who.torch.clone()),
        class: match about.class.as_str() {
            "DataLoader" => String::new(),
            class => class.to_owned(),
        },
        batch_sampler: about.batch_sampler.clone().unwrap_or_default(),
        arguments: about.arguments.clone(),
        made_at: (!about.place.is_empty()).then(|| SourceLine {
            file: about.file.clone(),
            line: about.line,
            name: about.place.clone(),
        }),
        role: about.role.clone(),
        dataset: describe(about, who),
        dataset_len: about.dataset_len,
        batches_per_epoch: about.batches,
        classes: about.classes.clone(),
        rank: rank.unwrap_or(0),
        world_size: world_size.unwrap_or(1),
        cores: who.cores.unwrap_or(0),
        json_ns: who.json_ns.unwrap_or(0),
        start_method: about.start_method.as_deref().and_then(StartMethod::named),
        import_ns: about.import_ns.unwrap_or(0),
        measured,
        pinning: about.pins.then(|| "PyTorch's pin thread".to_owned()),
        started_unix_ns: 0,
        host: who.host.clone(),
        ..RunInfo::default()
    }
}

fn options(about: &About, who: &Introduction) -> RunOptions {
    // PyTorch's own batch sampler only groups the indices of its sampler. With the name of an unknown sampler, no order is predicted.
    let batch_sampler = about.batch_sampler.as_deref();
    let own = batch_sampler.filter(|name| *name != "BatchSampler");
    let sampler = match (own, about.sampler.as_str()) {
        (Some(name), _) => name,
        (None, "DistributedSampler") if about.shuffle => "distributed",
        (None, "" | "SequentialSampler" | "RandomSampler" | "_InfiniteConstantSampler") => "",
        (None, name) => name,
    };
    RunOptions {
        // Substitute for the user's dataset in the prediction of the order: it has the same number of samples.
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
        world_size: about
            .replicas
            .or(about.world_size)
            .or(who.world_size)
            .unwrap_or(1),
        rank: about.replica.or(about.rank).or(who.rank).unwrap_or(0),
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

/// Returns the dataset as text: `ImageFolder (1,281,167 samples) from train.py`.
fn describe(about: &About, who: &Introduction) -> String {
    let name = match about.dataset.as_str() {
        "" => UNNAMED_DATASET,
        name => name,
    };
    let len = about
        .dataset_len
        .map(|len| format!(" ({} samples)", count(len)));
    let program = Some(who.program.as_str()).filter(|p| !p.is_empty());
    let program = program.map(|p| format!(" from {p}"));
    format!(
        "{name}{}{}",
        len.unwrap_or_default(),
        program.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(json: &str) -> RunInfo {
        let about: About = serde_json::from_str(json).expect("sound");
        info(&about, &Introduction::default())
    }

    #[test]
    fn an_unknown_start_method_is_left_out() {
        let of = |method: &str| {
            let info = made(&format!(
                r#"{{"start_method":"{method}","import_ns":1300000000}}"#
            ));
            (info.start_method, info.import_ns)
        };
        assert_eq!(of("spawn"), (Some(StartMethod::Spawn), 1_300_000_000));
        assert_eq!(of("threads"), (None, 1_300_000_000));
        assert_eq!((made("{}").start_method, made("{}").import_ns), (None, 0));
    }

    #[test]
    fn a_pytorch_loader_becomes_run_information() {
        let info = made(
            r#"{"dataset":"ImageFolder","dataset_len":1281167,"batch_size":256,"num_workers":8,"prefetch_factor":2,"in_order":true,
               "sampler":"RandomSampler","shuffle":true,"pin_memory":true,"pins":true,"batches":5005,"seed":7,"role":"train","future":[1]}"#,
        );
        assert_eq!(
            info.options.python_line(),
            "DataLoader(dataset, batch_size=256, shuffle=True, num_workers=8, pin_memory=True, \
             generator=torch.Generator().manual_seed(7))"
        );
        assert_eq!(info.dataset, "ImageFolder (1,281,167 samples)");
        assert_eq!(info.role, "train");
        assert_eq!(info.dataset_class(), Some("ImageFolder"));
        assert_eq!(made("{}").dataset_class(), None);
        let stream = made(r#"{"dataset":"Shards","iterable":true}"#);
        assert_eq!(stream.dataset_class(), Some("Shards"));
        assert!(info.measured.contains(&Stage::Pinning));
    }

    #[test]
    fn an_unknown_sampler_keeps_its_class_name() {
        let sampler = |json: &str| made(json).options.sampler;
        assert_eq!(sampler(r#"{"sampler":"SequentialSampler"}"#), "");
        assert_eq!(sampler(r#"{"sampler":"BucketSampler"}"#), "BucketSampler");
        assert_eq!(
            sampler(r#"{"sampler":"RandomSampler","batch_sampler":"Shards"}"#),
            "Shards"
        );
        assert_eq!(
            made(r#"{"iterable":true,"sampler":"_InfiniteConstantSampler"}"#)
                .options
                .dataset,
            "stream"
        );
    }

    #[test]
    fn sampler_ranks_take_precedence_over_program_ranks() {
        let line =
            r#"{"loadscope_stream":1,"pid":1,"monotonic":0,"realtime":0,"rank":1,"world_size":2}"#;
        let who = Introduction::parse(line.as_bytes()).expect("sound");
        let of = |json: &str| {
            let about: About = serde_json::from_str(json).expect("sound");
            let info = info(&about, &who);
            (info.rank, info.world_size, info.options.rank)
        };
        assert_eq!(of("{}"), (1, 2, 1));
        assert_eq!(
            of(r#"{"sampler":"DistributedSampler","replica":3,"replicas":4}"#),
            (3, 4, 3)
        );
        let sharing =
            r#"{"sampler":"DistributedSampler","replica":3,"replicas":4,"rank":6,"world_size":8}"#;
        assert_eq!(of(sharing), (6, 8, 3));
        // A launcher that sets the number of ranks but not the rank.
        assert_eq!(of(r#"{"rank":0,"world_size":2}"#), (0, 2, 0));
    }
}
