//! Tests of table rows and JSON keys.

use loadscope_plan::dataset::SyntheticCatalog;
use loadscope_plan::simulate::simulate;
use loadscope_trace::{BatchId, SampleTiming, StageTiming};

use super::*;

#[test]
fn the_json_names_its_version_and_the_recording() {
    let json = |cores| {
        let mut run = simulated(&proof());
        run.info.cores = cores;
        run.info.dataset = "D".to_owned();
        run.info.dataset_len = Some(24);
        let mut report = Report::of(&run, false, Datasets::default());
        report.file = Some("run.jsonl".to_owned());
        report.json()
    };
    let known = json(8);
    assert_eq!(known["format_version"], 1);
    let writer = known["writer"].as_str().unwrap_or_default();
    assert!(writer.starts_with("loadscope "), "{writer}");
    assert_eq!(known["file"], "run.jsonl");
    assert_eq!(known["dataset"], "D");
    assert_eq!(known["dataset_len"], 24);
    assert_eq!(known["cores"], 8);
    assert!(json(0)["cores"].is_null());
}

/// Regression test: only the text report had steps, and no format had the time without a named stage.
#[test]
fn fetching_steps_and_the_rest_are_in_all_formats() {
    let mut events = simulate(&proof(), &SyntheticCatalog).expect("sound options");
    let mut run = Run::default();
    for event in &mut events {
        if let EventKind::Fetched(fetched) = &mut event.kind {
            let quarter = |sample: &SampleTiming| Nanos(sample.wall.0 / 4);
            let walls = fetched.samples.iter().map(quarter).collect();
            let name = "ToTensor".to_owned();
            fetched.stages = vec![StageTiming { name, walls }];
        }
        run.apply(event);
    }
    let report = Report::of(&run, false, Datasets::default());
    for form in forms(&report) {
        for part in ["ToTensor", "the rest of dataset"] {
            assert!(form.contains(part), "{part}: {form}");
        }
    }
}

/// The cause of a hang is recorded during the wait. A warning at its start or at the end of the program is not about it.
#[test]
fn a_warning_during_a_long_wait_is_in_all_formats() {
    let mut run = Run::default();
    let warning = |text: &str| Event::warning(RunId(0), Nanos::ZERO, text.to_owned()).kind;
    for (ms, kind) in [
        (0, EventKind::EpochStarted { epoch: 0 }),
        (0, EventKind::dispatched(BatchId::default(), Some(0), [7])),
        (0, EventKind::Consumer { waiting: true }),
        (500, warning("A slow start.")),
        (3000, warning("Worker 0 is stopped by a signal.")),
        (9000, warning("The program was killed.")),
        (9000, EventKind::RunEnded),
    ] {
        let (at, run_id) = (Nanos::from_millis(ms), RunId(0));
        run.apply(&Event {
            at,
            run: run_id,
            kind,
        });
    }
    let report = Report::of(&run, false, Datasets::default());
    for form in forms(&report) {
        let is_other = form.contains("slow start") || form.contains("killed");
        assert!(
            form.contains("Worker 0 is stopped by a signal.") && !is_other,
            "{form}"
        );
    }
    let warnings = &report.json()["warnings"];
    let expected =
        serde_json::json!([{"seconds": 3.0, "text": "Worker 0 is stopped by a signal."}]);
    assert_eq!(*warnings, expected);
}
