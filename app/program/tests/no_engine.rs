//! The program without the embedded loader. It shows recordings, and refuses commands that need the loader.

#![cfg(not(feature = "engine"))]

use std::path::Path;

use loadscope_plan::dataset::SyntheticCatalog;
use loadscope_plan::simulate::simulate;
use loadscope_trace::{LogWriter, RunOptions};
use tempfile::TempDir;

use crate::support::{command_error, json, loadscope, stdout_of};

/// Writes a recording of a simulated run with too few workers.
fn recording() -> (TempDir, String) {
    let options = RunOptions {
        dataset: "synthetic:len=160,cost_ms=20".to_owned(),
        batch_size: Some(8),
        num_workers: 1,
        step_ms: 30.0,
        ..RunOptions::default()
    };
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("run.jsonl.zst");
    let mut log = LogWriter::create(&path).expect("the folder is writable");
    for event in simulate(&options, &SyntheticCatalog).expect("sound options") {
        log.write(&event).expect("there is room");
    }
    log.finish().expect("there is room");
    let path = path.to_string_lossy().into_owned();
    (dir, path)
}

#[test]
fn commands_that_need_the_loader_are_refused() {
    let text = command_error(&["run", "--dataset", "digits"]);
    assert!(
        text.contains("This build has no embedded loader")
            || text.contains("this build has no embedded loader"),
        "{text}"
    );
    assert!(text.contains("docs/BUILDING.md"), "{text}");
    let pictures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets/pictures");
    let folder = format!("folder:{}", pictures.display());
    let text = command_error(&["order", "--dataset", &folder]);
    assert!(text.contains("no embedded loader"), "{text}");
}

#[test]
fn commands_of_the_loader_are_not_in_the_help() {
    let help = stdout_of(&["--help"]);
    let lines = help.lines().filter_map(|l| l.strip_prefix("  "));
    let mut names = lines.map(|l| l.split(' ').next().unwrap_or_default());
    assert!(names.clone().any(|name| name == "record"), "{help}");
    assert!(!names.any(|name| name == "run" || name == "demo"), "{help}");
}

#[test]
fn recordings_are_reported_compared_forecast_and_exported() {
    let (dir, path) = recording();
    let report = stdout_of(&["report", &path]);
    assert!(report.contains("num_workers"), "{report}");
    assert!(json(&loadscope(&["info", &path, "--json"])).is_object());
    assert!(json(&loadscope(&["what-if", &path, "--json"])).is_object());
    assert!(!stdout_of(&["compare", &path, &path]).is_empty());
    let out = dir.path().join("run.json");
    stdout_of(&[
        "export",
        &path,
        "--to",
        "chrome",
        "-o",
        out.to_str().expect("UTF-8"),
    ]);
    assert!(out.metadata().expect("it was written").len() > 1_000);
}

#[test]
fn orders_of_datasets_without_files_are_printed() {
    let text = stdout_of(&[
        "order",
        "--dataset",
        "digits",
        "--shuffle",
        "--seed",
        "0",
        "--batch-size",
        "64",
    ]);
    assert!(text.contains("29 batches"), "{text}");
}
