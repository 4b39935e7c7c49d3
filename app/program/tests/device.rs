//! `record` of a program with a simulated device, which knows when it had no work.
#![cfg(target_os = "linux")]

use serde_json::{Value, json};

use crate::support::{loadscope, needed_pytorch, stdout_of, text, words};

/// Training steps that add 30 ms of work for the device and return at once.
const TRAIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/device/train.py");

#[test]
fn the_device_is_idle_while_its_queue_is_empty() {
    let Some(python) = needed_pytorch() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [answer, log] = ["answer.json", "run.jsonl"].map(|name| folder.path().join(name));
    let simulation = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/pytorch");
    // Batches arrive every 20 ms and every 60 ms. The device needs 30 ms for each.
    for (sample, is_idle) in [("0.01", false), ("0.03", true)] {
        let python = text(&python);
        let arguments = [python, TRAIN, simulation, text(&answer), sample];
        let record = ["record", "--force", "-o", text(&log), "--"];
        let output = loadscope(&[&record[..], &arguments[..]].concat());
        assert!(output.status.success(), "{:?}", words(&output));
        let known = std::fs::read_to_string(&answer).expect("an answer");
        let [idle, waited, waits_of_probe]: [f64; 3] =
            serde_json::from_str(&known).expect("three numbers");
        assert!(waits_of_probe < 0.5, "the probe waited for the device");
        let report = crate::support::json(&loadscope(&["report", text(&log), "--json"]));
        let got = |key: &str| report["device"][key].as_f64().unwrap_or(f64::NAN);
        let errors = [got("idle_seconds") - idle, got("waited_seconds") - waited];
        assert!(
            errors.iter().all(|error| error.abs() < 0.05 * waited),
            "{sample}: {known} {}",
            report["device"]
        );
        let hidden = got("waited_seconds") - got("idle_seconds");
        assert!((got("hidden_seconds") - hidden).abs() < 1e-6);
        assert_eq!(is_idle, idle > 0.3 * waited, "{known}");
        let said = stdout_of(&["report", text(&log)]);
        assert!(said.starts_with("Device idle  "), "{said}");
        let findings = report["findings"].as_array().expect("a list");
        let ids: Vec<&Value> = findings.iter().map(|one| &one["id"]).collect();
        // Waits during the work of the device cost nothing.
        assert_eq!(ids.contains(&&json!("slow_line")), is_idle, "{said}");
    }
}

#[test]
fn a_device_with_an_error_is_asked_once_more_at_most() {
    let Some(python) = needed_pytorch() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let log = folder.path().join("run.jsonl");
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/device/fails.py");
    let simulation = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/pytorch");
    let record = ["record", "-o", text(&log), "--", text(&python)];
    let output = loadscope(&[&record[..], &[program, simulation]].concat());
    assert!(output.status.success(), "{:?}", words(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "events 11\n");
    let report = crate::support::json(&loadscope(&["report", text(&log), "--json"]));
    assert_eq!(report["summary"]["batches"], 40);
}
