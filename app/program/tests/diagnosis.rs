//! `report`, `what-if` and `compare` on the command line.
#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]

use crate::support::loadscope;
mod figures;
mod what_if;

use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", complaint(output));
    String::from_utf8_lossy(&output.stdout).replace('\u{2009}', " ")
}

fn complaint(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).replace('\u{2009}', " ")
}

fn json(args: &[&str]) -> Value {
    let output = loadscope(args);
    assert!(output.status.success(), "{args:?}: {}", complaint(&output));
    serde_json::from_slice(&output.stdout).expect("one JSON object and nothing else")
}

/// Runs a command that must fail with exit code 2 and one error message.
fn command_error(args: &[&str]) -> String {
    let output = loadscope(args);
    let said = complaint(&output);
    assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
    assert!(!said.contains("panicked"), "{said}");
    said
}

/// Folder with recordings.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn name(&self, name: &str) -> String {
        self.path(name).to_str().expect("plain letters").to_owned()
    }

    fn write(&self, name: &str, bytes: &[u8]) -> String {
        std::fs::write(self.path(name), bytes).expect("there is room");
        self.name(name)
    }

    /// Records a run of the embedded loader.
    fn record(&self, name: &str, args: &str) -> String {
        let file = self.name(name);
        let mut all: Vec<&str> = std::iter::once("run")
            .chain(args.split_whitespace())
            .collect();
        all.extend(["--record", &file]);
        let output = loadscope(&all);
        assert!(output.status.success(), "{}", complaint(&output));
        file
    }

    fn proof(&self) -> String {
        self.record("proof.jsonl.zst", PROOF)
    }
}

const PROOF: &str = "--dataset synthetic:len=24,cost_ms=50,slow=4:1000 --batch-size 1 --num-workers 2 --step-ms 20 --seed 0";

fn keys(value: &Value) -> Vec<&str> {
    let object = value.as_object().expect("an object");
    object.keys().map(String::as_str).collect()
}

fn seconds(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

#[test]
fn report_json_has_every_documented_field() {
    let folder = Folder::new();
    let file = folder.proof();
    let report = json(&["report", &file, "--json"]);
    assert_eq!(report["verdict"]["id"], "head_of_line");
    assert_eq!(report["verdict"]["severity"], "critical");
    let verdict = report["verdict"]["text"].as_str().expect("a sentence");
    let verdict = verdict.replace('\u{2009}', " ");
    for part in [
        "The trainer waited ",
        " of it for batch 4: sample 4 took 1.0",
        " s in worker 0 while batches 5 and 7 were already finished. in_order=False would take ",
        ", and num_workers=3 would take ",
    ] {
        assert!(verdict.contains(part), "{part}: {verdict}");
    }
    let (run, waited) = (
        seconds(&report["run_seconds"]),
        seconds(&report["waited_seconds"]),
    );
    assert!(
        run > 1.5 && waited > 1.0 && waited < run,
        "{waited} of {run}"
    );
    let blame = report["blame"].as_object().expect("an object");
    let sum: f64 = blame.values().filter_map(Value::as_f64).sum();
    assert!((sum - waited).abs() < 1e-9, "{sum} {waited}");
    assert!(seconds(&blame["fetching"]) > 0.8 * waited);
    assert_eq!(report["not_measured"], Value::Array(Vec::new()));
    assert!(seconds(&report["ready_batch_seconds"]) > 1.0);
    for finding in report["findings"].as_array().expect("a list") {
        for key in ["id", "text", "severity", "evidence", "remedy"] {
            assert!(!finding[key].is_null(), "{key}: {finding}");
        }
        let severity = finding["severity"].as_str();
        assert!(
            ["note", "warning", "critical"]
                .map(Some)
                .contains(&severity),
            "{finding}"
        );
    }
    assert_eq!(report["findings"][0]["evidence"]["sample"], 4);
    let forecasts = &report["forecasts"];
    assert_eq!(forecasts["fits"], true, "{forecasts}");
    let changes = forecasts["changes"].as_array().expect("a list");
    let took = |change: &str| {
        let found = changes.iter().find(|f| f["change"] == change);
        seconds(&found.unwrap_or_else(|| panic!("{change}: {forecasts}"))["seconds"])
    };
    assert!(took("in_order=False") < took("num_workers=3") && took("num_workers=3") < run);
    assert!(took("num_workers=1") > run);
    assert!(seconds(&forecasts["headroom_seconds"]) < took("in_order=False"));
    assert!(!forecasts["best"].is_null() && !forecasts["cheapest"].is_null());
}

#[test]
fn a_report_is_printed_and_written_as_html() {
    let folder = Folder::new();
    let file = folder.proof();
    let page = folder.name("report.html");
    let said = text(&loadscope(&["report", &file, "--html", &page]));
    for part in [
        "Waits by cause",
        "Findings",
        "→ Use in_order=False",
        "Forecasts for other settings",
        "an ideal loader",
        "24 batches, 24 samples",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let info = text(&loadscope(&["info", &file]));
    for label in [
        "dataset",
        "source",
        "call",
        "waited",
        "events dropped",
        "longest wait",
    ] {
        let of = |line: &str| line.starts_with(&format!("{label:<16}"));
        assert_eq!(
            info.lines().filter(|line| of(line)).count(),
            1,
            "{label}: {info}"
        );
    }
    let page = std::fs::read_to_string(page).expect("it was written");
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    assert!(page.contains("in_order=False: 1."));
    assert!(!page.contains("<script") && !page.contains("http:") && !page.contains("https:"));
    let nowhere = command_error(&["report", &file, "--html", "/no/such/folder/report.html"]);
    assert!(nowhere.contains("/no/such/folder/report.html"), "{nowhere}");
}

/// Regression test: a search for "8.56 s" in a log found nothing.
#[test]
fn output_into_a_pipe_has_plain_spaces() {
    let folder = Folder::new();
    let file = folder.proof();
    let file = file.as_str();
    for args in [
        &["report", file][..],
        &["report", file, "--markdown"],
        &["compare", file, file],
        &["what-if", file],
    ] {
        let output = loadscope(args);
        assert!(output.status.success(), "{}", complaint(&output));
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains(" s"), "{args:?}: {said}");
        for space in ['\u{2009}', '\u{202f}', '\u{a0}'] {
            assert!(!said.contains(space), "{args:?}: {said}");
        }
    }
}

#[test]
fn a_broken_rule_ends_with_exit_code_1() {
    let folder = Folder::new();
    let file = folder.proof();
    let report = |rules: &[&str]| {
        let mut args = vec!["report", &file];
        rules
            .iter()
            .for_each(|rule| args.extend(["--fail-on", rule]));
        let output = loadscope(&args);
        (output.status.code(), complaint(&output))
    };
    assert_eq!(
        report(&["wait>99%", "dropped>0", "errors>0", "run>1h"]).0,
        Some(2),
        "no hours"
    );
    assert_eq!(
        report(&["wait>99%", "dropped>0", "errors>0", "run>60s"]).0,
        Some(0)
    );
    let (code, said) = report(&["wait>10%", "throughput<1000", "run>60s"]);
    assert_eq!(code, Some(1));
    assert!(
        said.contains("failed: wait>10% (measured: 6")
            || said.contains("failed: wait>10% (measured: 7"),
        "{said}"
    );
    assert!(
        said.contains("throughput<1000") && !said.contains("run>60s"),
        "{said}"
    );
    for wrong in ["patience>3%", "wait", "wait>10", "dropped>3%", "wait>lots%"] {
        let (code, said) = report(&[wrong]);
        assert_eq!(code, Some(2), "{wrong}: {said}");
        assert!(
            said.contains("invalid value") && said.contains("'wait>10%'"),
            "{said}"
        );
    }
}

#[test]
fn two_recordings_are_compared_in_both_directions() {
    let folder = Folder::new();
    let run = |name: &str, workers: usize| {
        let args = format!(
            "--dataset synthetic:len=120,cost_ms=8 --batch-size 2 --num-workers {workers} --step-ms 4 --epochs 2"
        );
        folder.record(name, &args)
    };
    // Four workers would just suffice. Twelve also suffice on a busy host.
    let (slow, fast) = (run("slow.jsonl", 1), run("fast.jsonl", 12));
    let better = json(&["compare", &slow, &fast, "--json"]);
    assert_eq!(better["outcome"], "improved", "{better}");
    assert_eq!(
        json(&["compare", &fast, &slow, "--json"])["outcome"],
        "worse"
    );
    for key in [
        "measures",
        "distributions",
        "run_seconds",
        "waited_seconds",
        "blame",
        "findings_gone",
        "findings_new",
        "verdicts",
        "epochs",
        "confidence",
    ] {
        assert!(!better[key].is_null(), "{key}");
    }
    let measures = better["measures"].as_array().expect("a list");
    let ids: Vec<&str> = measures.iter().filter_map(|m| m["id"].as_str()).collect();
    assert!(
        ids.contains(&"samples_per_second") && ids.contains(&"wait_share"),
        "{ids:?}"
    );
    for m in measures {
        let (low, high) = (seconds(&m["low"]), seconds(&m["high"]));
        assert!(low <= high, "{m}");
    }
    let said = text(&loadscope(&["compare", &slow, &fast]));
    assert!(said.starts_with("B is faster: samples/s +"), "{said}");
    assert!(
        said.contains("Resolved findings: Too few workers"),
        "{said}"
    );
    // A comparison of a recording with itself is unclear.
    let same = json(&["compare", &slow, &slow, "--json"]);
    assert_eq!(same["outcome"], "unclear");
}

#[test]
fn tiny_truncated_and_empty_recordings_are_reported() {
    let folder = Folder::new();
    let one = folder.record(
        "one.jsonl",
        "--dataset synthetic:len=1,cost_ms=2 --batch-size 1 --num-workers 1",
    );
    let said = text(&loadscope(&["report", &one]));
    assert!(said.contains("1 batch, 1 sample,"), "{said}");
    assert!(command_error(&["what-if", &one]).contains("1 batch is too few"));
    let whole = std::fs::read(Path::new(&folder.record(
        "whole.jsonl",
        "--dataset synthetic:len=64,cost_ms=2 --batch-size 2 --num-workers 2",
    )));
    let whole = whole.expect("just written");
    let lines: Vec<usize> = (0..whole.len())
        .filter(|k| whole[*k] == b'\n')
        .map(|k| k + 1)
        .collect();
    for end in [
        lines[1],
        lines[2],
        lines[4],
        lines[9],
        whole.len() / 2,
        whole.len() - 3,
    ] {
        let cut = folder.write("cut.jsonl", &whole[..end]);
        let report = json(&["report", &cut, "--json"]);
        assert!(
            !report["verdict"]["text"]
                .as_str()
                .unwrap_or_default()
                .is_empty()
        );
        let output = loadscope(&["what-if", &cut, "--json"]);
        assert!(
            [Some(0), Some(2)].contains(&output.status.code()),
            "{}",
            complaint(&output)
        );
        assert!(!complaint(&output).contains("panicked"));
        json(&["compare", &cut, &one, "--json"]);
    }
    let header = folder.write("header.jsonl", &whole[..lines[0]]);
    let report = json(&["report", &header, "--json"]);
    assert_eq!(report["verdict"]["id"], "empty");
    assert!(!report["forecasts"]["refused"].is_null(), "{report}");
    assert!(command_error(&["what-if", &header]).contains("nothing can be forecast"));
    let nothing = folder.write("nothing.jsonl", b"");
    for command in ["report", "what-if"] {
        command_error(&[command, &nothing]);
        command_error(&[command, "/no/such.jsonl"]);
    }
    command_error(&["compare", &one, "/no/such.jsonl"]);
}

/// Failed runs and iterable-style datasets leave recordings that can be opened.
#[test]
fn recordings_of_failures_and_streams_are_reported() {
    let folder = Folder::new();
    let fails = folder.record(
        "fails.jsonl",
        "--dataset synthetic:len=64,cost_ms=2,fail=20 --batch-size 4 --num-workers 2 --step-ms 2 --on-error continue",
    );
    assert_eq!(json(&["report", &fails, "--json"])["summary"]["failed"], 1);
    let stream = folder.record(
        "stream.jsonl",
        "--dataset stream:len=63,cost_ms=2,shard=true --batch-size 4 --num-workers 3 --step-ms 2",
    );
    assert_eq!(
        json(&["report", &stream, "--json"])["summary"]["samples"],
        63
    );
    json(&["what-if", &stream, "--workers", "3", "--json"]);
    let said = command_error(&["what-if", &stream, "--workers", "5"]);
    assert!(said.contains("iterable-style"), "{said}");
}
