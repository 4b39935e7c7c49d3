use std::path::PathBuf;
use std::process::Command;

use loadscope_trace::{Collate, PinMemory};

use super::*;

fn given() -> RunOptions {
    RunOptions {
        batch_size: Some(4),
        seed: Some(3),
        ..RunOptions::default()
    }
}

fn all() -> Vec<RunOptions> {
    let sampler = |text: &str, replacement| RunOptions {
        sampler: text.to_owned(),
        replacement,
        ..given()
    };
    let of = |dataset: &str, collate| RunOptions {
        dataset: dataset.to_owned(),
        collate,
        ..given()
    };
    let workers = RunOptions {
        shuffle: true,
        num_workers: 2,
        prefetch_factor: Some(3),
        pin_memory: PinMemory::On,
        drop_last: true,
        timeout: 20.0,
        persistent_workers: true,
        in_order: false,
        global_seed: Some(1),
        ..given()
    };
    let mut ranks = sampler("weighted:balanced", true);
    ranks.world_size = 2;
    let mut distributed = sampler("distributed", false);
    (distributed.world_size, distributed.rank) = (2, 1);
    vec![
        RunOptions::default(),
        workers,
        ranks,
        distributed,
        sampler("sequential", false),
        sampler("random", true),
        sampler("subset:/data/my indices.txt", false),
        sampler("weighted:w.txt", true),
        sampler("equi:labels", false),
        sampler("bucket:len", false),
        of("folder:/data/flowers", Collate::Fitting),
        of("voc:/data", Collate::Fitting),
        of("digits", Collate::Pad(-1.0)),
        of("digits", Collate::Concat),
        of("synthetic:len=1000000,shape=3x8x8", Collate::Fitting),
        of("stream:len=24,shard=true", Collate::Fitting),
        of("stream:shards=3/8", Collate::Fitting),
        of("stream:len=24", Collate::Fitting),
    ]
}

#[test]
fn the_call_has_one_argument_per_line_and_no_defaults() {
    let text = program(&RunOptions {
        shuffle: true,
        num_workers: 4,
        seed: Some(0),
        ..RunOptions::default()
    });
    let call = text.split_once("loader = ").map(|(_, call)| call);
    let expected = "DataLoader(\n    dataset,\n    batch_size=32,\n    shuffle=True,\n    num_workers=4,\n    generator=generator,\n)";
    assert_eq!(call, Some(expected));
}

/// Regression test: the plain sampler over all samples replaced the weighted sampler of several ranks.
#[test]
fn samplers_unknown_to_pytorch_have_a_comment() {
    for options in all()
        .iter()
        .filter(|o| o.world_size > 1 || o.sampler.contains("equi"))
    {
        let has_equal = options.sampler == "distributed";
        let text = program(options);
        assert_eq!(text.contains("# PyTorch has no"), !has_equal, "{text}");
    }
}

/// Returns a Python with PyTorch, if installed: `LOADSCOPE_PEERS_PYTHON`, or the one of `cargo xtask setup --pytorch`.
fn python() -> Option<PathBuf> {
    let given = std::env::var_os("LOADSCOPE_PEERS_PYTHON").map(PathBuf::from);
    let home = std::env::home_dir()?;
    let usual = home.join(".cache/loadscope/peers/venv/bin/python");
    given.or(Some(usual)).filter(|path| path.exists())
}

#[test]
fn generated_programs_yield_a_batch() {
    let Some(python) = python() else {
        return;
    };
    let mut script = String::from("import signal\nsignal.alarm(300)\n");
    for options in all() {
        script += &program(&options);
        // Each program yields a batch, also with workers.
        script += "\nfor batch in loader:\n    break\nelse:\n    raise SystemExit('no batch')\ndel loader\n\n";
    }
    let done = Command::new(python)
        .args(["-W", "ignore", "-c", &script])
        .output()
        .expect("it can be started");
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{errors}\n{script}");
}
