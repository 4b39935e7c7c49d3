//! `record --stacks` with a program whose lines have known shares.
#![cfg(target_os = "linux")]

use std::path::Path;

use serde_json::Value;

use crate::support::{json, loadscope, needed_pytorch, stdout_of, text, words};

const TRAIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/stacks/train.py");

/// Returns the number of the line with this mark.
fn line(mark: &str) -> u64 {
    let source = std::fs::read_to_string(TRAIN).expect("the program exists");
    let mark = format!("# line: {mark}");
    let at = source.lines().position(|line| line.ends_with(&mark));
    at.expect("the line exists") as u64 + 1
}

/// Records the program and returns the report. Returns `None` without PyTorch.
fn report(log: &Path, workers: &str, more: &[&str]) -> Option<Value> {
    let python = needed_pytorch()?;
    let mut arguments = vec!["record"];
    arguments.extend(more);
    arguments.extend(["-o", text(log), "--"]);
    let python = python.to_str()?.to_owned();
    arguments.extend([python.as_str(), TRAIN, workers]);
    let output = loadscope(&arguments);
    assert!(output.status.success(), "{:?}", words(&output));
    Some(json(&loadscope(&["report", text(log), "--json"])))
}

/// Returns the share of a line in the samples of an activity, 0 without the line.
fn share(report: &Value, activity: &str, line: u64) -> f64 {
    let sections = report["code"].as_array().expect("a list");
    let section = sections.iter().find(|one| one["activity"] == activity);
    let lines = section.and_then(|one| one["lines"].as_array());
    let mut lines = lines.into_iter().flatten();
    let found = lines.find(|one| one["line"] == line);
    found.and_then(|one| one["share"].as_f64()).unwrap_or(0.0)
}

#[test]
fn the_hottest_line_and_the_line_of_a_slow_sample_are_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for workers in ["2", "0"] {
        let log = folder.path().join(format!("{workers}.jsonl"));
        let Some(report) = report(&log, workers, &[]) else {
            return;
        };
        // 120 samples of 45 ms, two of them with 700 ms more.
        let whole = 120.0 * 0.045 + 2.0 * 0.7;
        let cases = [
            ("sleep", 120.0 * 0.030 / whole),
            ("spin", 120.0 * 0.015 / whole),
            ("outlier", 2.0 * 0.7 / whole),
        ];
        for (mark, wanted) in cases {
            let got = share(&report, "fetching", line(mark));
            assert!(
                (got - wanted).abs() < 0.08,
                "{workers} workers, {mark}: {got} {wanted}\n{}",
                report["code"]
            );
        }
        // The workers of both epochs are sampled until their end.
        let count = report["code"][0]["samples"].as_f64().unwrap_or(0.0);
        assert!(
            count > 0.75 * whole * 100.0,
            "{count} samples\n{}",
            report["code"]
        );
        assert!(
            share(&report, "training", line("step")) > 0.9,
            "{}",
            report["code"]
        );
        let said = stdout_of(&["report", text(&log)]);
        let outlier = format!("train.py:{}", line("outlier"));
        assert!(said.contains(&outlier), "{said}");
        assert!(
            said.contains(&format!(
                "train.py:{} in Samples.__getitem__",
                line("sleep")
            )) || said.contains(&format!("train.py:{} in __getitem__", line("sleep"))),
            "{said}"
        );
        let recorded = std::fs::read_to_string(&log).expect("a recording");
        assert!(
            recorded.contains("# line: outlier"),
            "it contains the source code"
        );
        assert!(
            !recorded.contains("<loadscope"),
            "the probe is no code of the program"
        );
    }
}

#[test]
fn stacks_and_source_code_can_be_left_out() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let cases: [(&[&str], bool); 2] = [(&["--no-source"], true), (&["--stacks", "off"], false)];
    for (number, (arguments, has_stacks)) in cases.into_iter().enumerate() {
        let log = folder.path().join(format!("{number}.jsonl"));
        let Some(report) = report(&log, "2", arguments) else {
            return;
        };
        let has_code = report["code"].as_array().is_some_and(|all| !all.is_empty());
        assert_eq!(has_code, has_stacks, "{arguments:?}");
        let recorded = std::fs::read_to_string(&log).expect("a recording");
        assert!(!recorded.contains("# line: outlier"), "{arguments:?}");
    }
}

/// Four workers use functions for the first time at nearly the same time.
#[test]
fn each_stack_is_recorded_before_its_use() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let log = folder.path().join("run.jsonl");
    if report(&log, "4", &[]).is_none() {
        return;
    }
    let text = std::fs::read_to_string(&log).expect("a recording");
    let events = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("an event"));
    let events: Vec<Value> = events.collect();
    let (mut known, mut used) = (0, 0);
    for event in events.iter().filter(|event| event["e"] == "stacks") {
        let len = |key: &str| event[key].as_array().map_or(0, Vec::len) as u64;
        if let Some(first) = event["first_stack"].as_u64() {
            assert_eq!(first, known, "{event}");
            known += len("stacks");
        }
        for stack in event["samples"].as_array().into_iter().flatten() {
            let is_known = stack.as_i64().is_none_or(|stack| stack < known as i64);
            assert!(is_known, "{stack} of {known} in {event}");
            used += 1;
        }
    }
    assert!(known > 10 && used > 100, "{known} {used}");
}
