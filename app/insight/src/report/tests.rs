use loadscope_trace::{Event, EventKind, Gauge, GaugeKind, Nanos, Run, RunId, RunOptions};

use super::rules::Rule;
use super::{Report, text};
use crate::Datasets;
use crate::simulated::simulated;

fn proof() -> RunOptions {
    RunOptions {
        dataset: "synthetic:len=24,cost_ms=50,slow=4:1000".to_owned(),
        batch_size: Some(1),
        num_workers: 2,
        step_ms: 20.0,
        ..RunOptions::default()
    }
}

#[test]
fn the_json_is_as_promised() {
    let run = simulated(&proof());
    let json = Report::of(&run, false, Datasets::default()).json();
    assert_eq!(json["verdict"]["id"], "head_of_line");
    assert_eq!(json["verdict"]["severity"], "critical");
    assert_eq!(json["run_seconds"], 1.59);
    assert_eq!(json["waited_seconds"], 1.11);
    let blame = json["blame"].as_object().expect("an object");
    let sum: f64 = blame.values().filter_map(|v| v.as_f64()).sum();
    assert!((sum - 1.11).abs() < 1e-12, "{sum}");
    // Nothing is pinned, so there is nothing to be measured.
    assert_eq!(json["blame"]["pinning"], 0.0);
    assert_eq!(json["findings"][0]["evidence"]["sample"], 4);
    assert_eq!(json["fetching"]["samples"][0]["sample"], 4);
    assert!(json["ready_batch_seconds"].as_f64() > Some(1.8));
}

#[test]
fn the_text_begins_with_the_verdict_and_ends_with_the_facts() {
    let run = simulated(&proof());
    let text = text(&Report::of(&run, true, Datasets::default())).replace('\u{2009}', " ");
    let first = text.lines().next().unwrap_or_default();
    assert!(
        first.starts_with("Waited  1.11 s of 1.59 s (70 %), 0.96 s of it for batch 4"),
        "{text}"
    );
    assert!(text.contains("→ in_order=False"), "{text}");
    assert!(text.contains("num_workers=2"), "{text}");
    assert!(
        text.ends_with("Everything before the cut was read."),
        "{text}"
    );
}

#[test]
fn rules_are_broken_or_not() {
    let run = simulated(&proof());
    let report = Report::of(&run, false, Datasets::default());
    let broken = |text: &str| {
        let rule: Rule = text.parse().expect(text);
        rule.broken_by(&report).map(|t| t.replace('\u{2009}', " "))
    };
    assert_eq!(broken("wait>10%").as_deref(), Some("wait>10%: it is 70 %"));
    assert_eq!(broken("wait > 1.11s"), None);
    assert_eq!(
        broken("wait >= 1110 ms").as_deref(),
        Some("wait >= 1110 ms: it is 1.11 s")
    );
    assert_eq!(broken("pinning>0%"), None);
    assert_eq!(broken("dropped>0"), None);
    assert!(broken("throughput<100").is_some());
    assert!(broken("findings>0").is_some());
    assert!(broken("fetching>50%").is_some());
    for (wrong, says) in [
        ("wait", "no < or >"),
        ("wait>", "'' is not a number"),
        ("wait>10", "needs a unit"),
        ("patience>3%", "unknown key 'patience'"),
        ("colating>3%", "Valid: collating, "),
        ("dropped>3%", "without a unit"),
        ("wait>NaN%", "'NaN' is not a number"),
        ("wait>1e999s", "'1e999' is not a number"),
        ("memory>8", "needs a unit: kB, MB"),
        ("memory>8s", "needs a unit: kB, MB"),
        ("wait>8GB", "needs a unit: %"),
        ("dropped>8MiB", "without a unit"),
    ] {
        let error = wrong.parse::<Rule>().expect_err(wrong).to_string();
        let begins = format!("invalid rule '{wrong}': ");
        assert!(
            error.starts_with(&begins) && error.contains(says),
            "{error}"
        );
        assert!(error.contains("wait>10%"), "{error}");
    }
}

#[test]
fn rules_know_memory() {
    let mut run = simulated(&proof());
    let of = |run: &Run, text: &str| {
        let rule: Rule = text.parse().expect(text);
        let report = Report::of(run, false, Datasets::default());
        rule.broken_by(&report).map(|t| t.replace('\u{2009}', " "))
    };
    assert!(of(&run, "memory>8GB").is_some_and(|why| why.contains("does not measure it")));
    for (what, value) in [
        (GaugeKind::Pss, 9e9),
        (GaugeKind::Pss, 1e9),
        (GaugeKind::Shm, 65e6),
    ] {
        let gauge = Gauge {
            lane: None,
            part: None,
            what,
            value,
        };
        run.apply(&Event {
            at: run.end(),
            run: RunId(0),
            kind: EventKind::Gauge(Box::new(gauge)),
        });
    }
    assert_eq!(
        of(&run, "memory>8GB").as_deref(),
        Some("memory>8GB: it is 9.00 GB")
    );
    assert_eq!(of(&run, "memory > 9 GiB"), None);
    assert_eq!(of(&run, "shm>62MiB"), None);
    assert!(of(&run, "shm>61MiB").is_some());
}

#[test]
fn the_same_permutation_twice_is_among_the_findings() {
    let run = simulated(&RunOptions {
        dataset: "synthetic:len=64,cost_ms=1".to_owned(),
        batch_size: Some(4),
        sampler: "distributed".to_owned(),
        world_size: 2,
        set_epoch: false,
        epochs: 2,
        num_workers: 2,
        step_ms: 5.0,
        ..RunOptions::default()
    });
    let report = Report::of(&run, false, Datasets::default());
    let ids: Vec<&str> = report
        .diagnosis
        .findings
        .iter()
        .map(|f| f.id.as_str())
        .collect();
    assert!(ids.contains(&"same_permutation"), "{ids:?}");
    assert_eq!(report.diagnosis.verdict.id.as_str(), "same_permutation");
    assert!(report.survey.total() > Nanos::ZERO);
}
