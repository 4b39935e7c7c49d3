use loadscope_trace::{Event, EventKind, Gauge, GaugeKind, Nanos, Origin, Run, RunId, RunOptions};

use super::rules::Rule;
use super::{Report, text};
use crate::Datasets;
use crate::simulated;

mod contents;

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
fn json_figures_of_a_blocked_run_are_exact() {
    let run = simulated(&proof());
    let json = Report::of(&run, false, Datasets::default()).json();
    assert_eq!(json["verdict"]["id"], "head_of_line");
    assert_eq!(json["verdict"]["severity"], "critical");
    assert_eq!(json["run_seconds"], 1.59);
    assert_eq!(json["waited_seconds"], 1.11);
    let blame = json["blame"].as_object().expect("an object");
    let sum: f64 = blame.values().filter_map(|v| v.as_f64()).sum();
    assert!((sum - 1.11).abs() < 1e-12, "{sum}");
    // The loader does not pin memory, so the time is 0, not null.
    assert_eq!(json["blame"]["pinning"], 0.0);
    assert_eq!(json["findings"][0]["evidence"]["sample"], 4);
    assert_eq!(json["fetching"]["samples"][0]["sample"], 4);
    assert!(json["ready_batch_seconds"].as_f64() > Some(1.8));
}

#[test]
fn the_text_begins_with_the_verdict_and_ends_with_the_facts() {
    let run = simulated(&proof());
    let text = text(&Report::of(&run, true, Datasets::default())).replace('\u{2009}', " ");
    let mut lines = text.lines();
    assert_eq!(
        lines.next(),
        Some(
            "Warning: the recording is truncated. The report covers the 24 batches before the cut. `loadscope repair` writes an intact copy."
        )
    );
    let first = lines.next().unwrap_or_default();
    assert!(
        first.starts_with("Waited  1.11 s of 1.59 s (70 %), 0.96 s of it for batch 4"),
        "{text}"
    );
    assert!(text.contains("→ Use in_order=False"), "{text}");
    assert!(text.contains("num_workers=2"), "{text}");
    assert_eq!(text.matches("truncated").count(), 1, "{text}");
    assert!(text.ends_with(" samples/s"), "{text}");
}

/// `loadscope repair` rejects files of other tools, so the warning must not mention it.
#[test]
fn a_truncated_file_of_another_tool_has_no_repair_advice() {
    let mut run = simulated(&proof());
    run.info.origin = Origin::Import("torch.profiler".to_owned());
    let text = text(&Report::of(&run, true, Datasets::default()));
    let first = text.lines().next().unwrap_or_default();
    assert!(
        first.ends_with("Copy it again, or record again.") && !text.contains("loadscope repair"),
        "{text}"
    );
}

#[test]
fn rules_are_checked_and_malformed_ones_are_refused() {
    let run = simulated(&proof());
    let report = Report::of(&run, false, Datasets::default());
    let broken = |text: &str| {
        let rule: Rule = text.parse().expect(text);
        rule.violation(&report).map(|t| t.replace('\u{2009}', " "))
    };
    assert_eq!(
        broken("wait>10%").as_deref(),
        Some("failed: wait>10% (measured: 70 %)")
    );
    assert_eq!(broken("wait > 1.11s"), None);
    assert_eq!(
        broken("wait >= 1110 ms").as_deref(),
        Some("failed: wait >= 1110 ms (measured: 1.11 s)")
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
        (
            "colating>3%",
            "Did you mean collating? Valid: collating, dropped, end, errors, ",
        ),
        ("dropped>3%", "without a unit"),
        ("wait>NaN%", "'NaN' is not a number"),
        ("wait>1e999s", "'1e999' is not a number"),
        ("memory>8", "needs a unit: kB, MB"),
        ("memory>8s", "needs a unit: kB, MB"),
        ("wait>8GB", "needs a unit: %"),
        ("dropped>8MiB", "without a unit"),
    ] {
        let error = wrong.parse::<Rule>().expect_err(wrong).to_string();
        assert!(error.contains(says), "{error}");
        assert!(error.contains("'wait>10%'"), "{error}");
    }
}

#[test]
fn memory_rules_need_recorded_memory() {
    let mut run = simulated(&proof());
    let of = |run: &Run, text: &str| {
        let rule: Rule = text.parse().expect(text);
        let report = Report::of(run, false, Datasets::default());
        rule.violation(&report).map(|t| t.replace('\u{2009}', " "))
    };
    assert_eq!(
        of(&run, "memory>8GB").as_deref(),
        Some("cannot check memory>8GB: the recording does not measure it")
    );
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
        Some("failed: memory>8GB (measured: 9.00 GB)")
    );
    assert_eq!(of(&run, "memory > 9 GiB"), None);
    assert_eq!(of(&run, "shm>62MiB"), None);
    assert!(of(&run, "shm>61MiB").is_some());
}

#[test]
fn a_repeated_permutation_is_a_finding() {
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

fn plain(text: &str) -> String {
    text.replace(['\u{2009}', '\u{202f}'], " ")
        .replace('\\', "")
}

/// Returns the report as text, Markdown and HTML.
fn forms(report: &Report) -> [String; 3] {
    let html = super::html(report).replace("&gt;", ">");
    [
        plain(&text(report)),
        plain(&super::markdown(report)),
        plain(&html),
    ]
}

/// Simulates a run with three slow samples far apart.
fn blocked() -> Run {
    simulated(&RunOptions {
        dataset: "synthetic:len=240,cost_ms=20,slow=9:900;99:900;180:900".to_owned(),
        batch_size: Some(2),
        num_workers: 4,
        step_ms: 6.0,
        ..RunOptions::default()
    })
}

/// Regression test: verdict and first finding repeated the cause and the time in the reorder buffer.
#[test]
fn each_sentence_is_printed_once() {
    let run = blocked();
    let report = Report::with_prospects(&run, false, Datasets::default());
    let findings = &report.diagnosis.findings;
    let cause = report.diagnosis.verdict.cause.clone().expect("it waits");
    let cause = plain(&cause);
    assert_eq!(plain(&findings[0].text), cause, "a finding is the cause");
    for form in forms(&report) {
        assert_eq!(form.matches(cause.as_str()).count(), 1, "{form}");
        assert!(form.contains("(see Cause above)"), "{form}");
        assert_eq!(form.matches("reorder buffer").count(), 1, "{form}");
        assert!(
            form.contains("Costs of findings overlap and do not add up."),
            "{form}"
        );
    }
}

/// Regression test: the finding was head-of-line blocking by one batch, because finished batches wait after each slow batch.
#[test]
fn a_sample_that_is_slow_in_every_epoch_is_the_cause() {
    let run = simulated(&RunOptions {
        dataset: "synthetic:len=400,cost_ms=1,slow=137:600".to_owned(),
        batch_size: Some(8),
        num_workers: 2,
        epochs: 3,
        step_ms: 3.0,
        ..RunOptions::default()
    });
    let report = Report::with_prospects(&run, false, Datasets::default());
    let first = &report.diagnosis.findings[0];
    assert_eq!(first.id, loadscope_diagnose::FindingId::SlowSample);
    let text = plain(&first.text);
    assert!(
        text.starts_with("Sample 137 takes 0.60 s in every epoch"),
        "{text}"
    );
}

/// Regression test: the base of the percentages was the smaller of recorded and forecast time.
#[test]
fn forecast_percentages_have_one_base() {
    let run = blocked();
    let mut report = Report::with_prospects(&run, false, Datasets::default());
    if let Some(Ok(prospects)) = &mut report.prospects {
        prospects.recorded = Nanos(prospects.refit.0 / 1089 * 1000);
        for f in &mut prospects.changes {
            if matches!(f.change, loadscope_diagnose::Change::PrefetchFactor(_)) {
                f.took = prospects.refit;
            }
        }
    }
    let rough =
        "The model is 8.9 % off for the recorded settings: treat the forecasts as estimates.";
    for form in forms(&report) {
        assert_eq!(form.matches(rough).count(), 1, "{form}");
        assert!(form.contains("Forecasts for other settings"), "{form}");
    }
    let rows = super::outlook::rows(&report);
    assert!(rows[..2].iter().all(|row| row.change.is_none()), "{rows:?}");
    let same = rows
        .iter()
        .find(|row| row.name.starts_with("prefetch_factor="));
    assert_eq!(same.and_then(|row| row.change), Some(0.0));
    let verdict = plain(&super::verdict::best_change(&report)[0].text);
    let now = match &report.prospects {
        Some(Ok(prospects)) => plain(&report.survey.format_time(prospects.refit)),
        _ => String::new(),
    };
    assert!(
        verdict.contains(&format!(" instead of {now} (both forecast, −")),
        "{verdict}"
    );
}

#[test]
fn an_unreliable_forecast_suggests_a_setting_to_try() {
    let mut run = simulated(&RunOptions {
        dataset: "synthetic:len=400,cost_ms=10".to_owned(),
        batch_size: Some(2),
        num_workers: 1,
        step_ms: 8.0,
        ..RunOptions::default()
    });
    run.info.origin = Origin::Pytorch("2.13.0".to_owned());
    let mut report = Report::with_prospects(&run, false, Datasets::default());
    let Some(Ok(mut prospects)) = report.prospects.take() else {
        panic!("it can be forecast");
    };
    prospects.refit = Nanos(prospects.recorded.0 / 100 * 79);
    let report = Report::with(&run, false, Datasets::default(), Some(Ok(prospects)));
    for form in forms(&report) {
        let best = "not known: the model misses the recorded time by 21 % (";
        assert!(form.contains(best), "{form}");
        assert!(
            form.contains("). Try num_workers=3 with `loadscope tune`."),
            "{form}"
        );
        assert!(
            form.contains("→ Try num_workers=3, and measure it with `loadscope tune`"),
            "{form}"
        );
        assert!(!form.contains("Forecasts for other settings"), "{form}");
    }
}

#[test]
fn a_few_batches_have_no_forecasts() {
    let said = |len| {
        let run = simulated(&RunOptions {
            dataset: format!("synthetic:len={len},cost_ms=50"),
            batch_size: Some(1),
            num_workers: 2,
            ..RunOptions::default()
        });
        plain(&text(&Report::with_prospects(
            &run,
            true,
            Datasets::default(),
        )))
    };
    let one = said(1);
    assert!(
        one.starts_with(
            "Warning: the recording is truncated. The report covers the 1 batch before the cut."
        ),
        "{one}"
    );
    assert!(one.contains("No forecasts: 1 batch is too few"), "{one}");
    assert!(said(9).contains("No forecasts: 9 batches are too few"));
    assert!(!said(10).contains("No forecasts"), "{}", said(10));
}

/// Regression test: "Waited 2.52 s of 2.52 s" with a best change "instead of 3.77 s". Forecasts include the time between epochs.
#[test]
fn forecasts_name_the_time_outside_the_loop_that_they_include() {
    let options = RunOptions {
        dataset: "synthetic:len=200,cost_ms=10".to_owned(),
        batch_size: Some(4),
        num_workers: 1,
        epochs: 2,
        step_ms: 8.0,
        ..RunOptions::default()
    };
    let events =
        loadscope_plan::simulate::simulate(&options, &loadscope_plan::dataset::SyntheticCatalog);
    let report = |pause: i64| {
        let mut run = Run::default();
        let mut later = Nanos::ZERO;
        for event in events.as_ref().expect("sound options") {
            run.apply(&Event {
                at: event.at + later,
                ..event.clone()
            });
            if matches!(event.kind, EventKind::EpochEnded { epoch: 0, .. }) {
                later = Nanos::from_millis(pause);
            }
        }
        plain(&text(&Report::with_prospects(
            &run,
            false,
            Datasets::default(),
        )))
    };
    assert!(!report(0).contains("outside the loop"));
    let said = report(2_000);
    assert!(
        said.contains("), both with 2.00 s outside the loop"),
        "{said}"
    );
    assert!(
        said.contains("as recorded, with 2.00 s outside the loop"),
        "{said}"
    );
}
