//! Exports appear under their names only when they are complete.

use std::path::Path;

use loadscope_exchange::{Format, export};
use loadscope_files::Existing;
use loadscope_trace::{
    BatchId, Event, EventKind, Function, Nanos, Run, RunId, Stack, StackSamples, Stacks, Stage,
};

/// Creates a run with many batches, so that each format reports its progress.
fn run() -> Run {
    let mut run = Run::default();
    let mut apply = |at, kind| {
        let (at, id) = (Nanos(at), RunId(0));
        run.apply(&Event { at, run: id, kind });
    };
    apply(0, EventKind::EpochStarted { epoch: 0 });
    for idx in 0..10_000 {
        let (batch, at) = (BatchId { epoch: 0, idx }, i64::from(idx) * 10);
        let enter = |stage| EventKind::Entered { batch, stage };
        apply(at, EventKind::dispatched(batch, Some(0), vec![1, 2]));
        apply(at + 1, enter(Stage::Fetching));
        apply(at + 2, enter(Stage::Training));
        apply(at + 3, enter(Stage::Done));
    }
    let stacks = Stacks {
        period: Nanos(10),
        functions: vec![Function::from(("main".to_owned(), "train.py".to_owned()))],
        stacks: vec![Stack::from((None, 0, 1))],
        samples: vec![StackSamples {
            stack: Some(0),
            count: 9,
        }],
        ..Stacks::default()
    };
    apply(100_000, EventKind::Stacks(Box::new(stacks)));
    run
}

/// The process may be killed at any time, so no incomplete file may have the final name.
#[test]
fn an_incomplete_export_never_has_its_final_name() {
    let run = run();
    for name in [
        "run.json",
        "run.json.gz",
        "run.csv",
        "run.parquet",
        "run.speedscope.json",
        "run.pb.gz",
        "csv",
        "parquet",
        "new/csv",
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join(name);
        let format = match name {
            "csv" | "new/csv" => Format::Csv,
            "parquet" => Format::Parquet,
            _ => Format::for_path(Path::new(name)).expect("a known extension"),
        };
        let files = loadscope_exchange::files(format, &out);
        let mut calls = 0;
        let none_is_there = |_| {
            calls += 1;
            assert!(!out.exists(), "{name}");
            assert!(files.iter().all(|file| !file.exists()), "{name}");
            true
        };
        let made = export(
            &[(RunId(0), &run)],
            format,
            &out,
            Existing::Keep,
            none_is_there,
        );
        assert_eq!(made.unwrap_or_else(|e| panic!("{e}")), files);
        assert!(
            calls > 0 && files.iter().all(|file| file.exists()),
            "{name}"
        );
        let hidden = |path: &Path| {
            let entries = std::fs::read_dir(path).expect("a folder").flatten();
            let mut names = entries.map(|entry| entry.file_name());
            names.any(|name| name.as_encoded_bytes().starts_with(b"."))
        };
        assert!(
            !files
                .iter()
                .any(|file| hidden(file.parent().expect("a folder")))
        );
        assert!(!hidden(folder.path()));
    }
}
