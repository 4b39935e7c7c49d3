use loadscope_diagnose::FindingId;
use loadscope_trace::{Origin, RunOptions};

use super::*;
use crate::Datasets;
use crate::simulated;

fn run(num_workers: usize, seed: u64) -> Run {
    simulated(&RunOptions {
        dataset: format!("synthetic:len=400,cost_ms=10,jitter=0.5,seed={seed}"),
        batch_size: Some(2),
        num_workers,
        step_ms: 8.0,
        epochs: 2,
        ..RunOptions::default()
    })
}

#[test]
fn more_workers_are_a_significant_improvement() {
    let (a, b) = (run(1, 1), run(4, 2));
    let better = Comparison::of((&a, false), (&b, false), Datasets::default());
    assert_eq!(better.outcome(), Outcome::Improved);
    let text = better.text().replace('\u{2009}', " ");
    assert!(text.starts_with("B is faster: samples/s +1"), "{text}");
    assert!(
        text.contains("Resolved findings: Too few workers"),
        "{text}"
    );
    let worse = Comparison::of((&b, false), (&a, false), Datasets::default());
    assert_eq!(worse.outcome(), Outcome::Worse);
    let json = worse.json();
    assert_eq!(json["outcome"], "worse");
    assert_eq!(json["findings_new"][0], "starved_workers");
    for m in &worse.measures {
        let (low, high) = (m.low.expect("enough"), m.high.expect("enough"));
        assert!(
            low <= m.change.expect("not zero") && m.change <= Some(high),
            "{m:?}"
        );
    }
    // The same recordings give the same intervals.
    let again = Comparison::of((&b, false), (&a, false), Datasets::default());
    assert_eq!(again.measures, worse.measures);
}

#[test]
fn equal_settings_have_no_significant_change() {
    let (a, b) = (run(2, 1), run(2, 2));
    let comparison = Comparison::of((&a, false), (&b, false), Datasets::default());
    assert_eq!(
        comparison.outcome(),
        Outcome::Unclear,
        "{}",
        comparison.text()
    );
    let text = comparison.text();
    let same = "No statistically significant change: samples/s ";
    assert!(text.starts_with(same), "{text}");
}

#[test]
fn different_datasets_and_batch_sizes_are_named_first() {
    let of = |len: u64, batch_size| {
        simulated(&RunOptions {
            dataset: format!("synthetic:len={len},cost_ms=10"),
            batch_size: Some(batch_size),
            num_workers: 2,
            step_ms: 8.0,
            ..RunOptions::default()
        })
    };
    let lines = |a: &Run, b: &Run| -> Vec<String> {
        let comparison = Comparison::of((a, false), (b, false), Datasets::default());
        assert!(comparison.json().get("warnings").is_none());
        let text = comparison.text();
        text.lines().map(str::to_owned).collect()
    };
    let (a, b) = (of(400, 4), of(400, 8));
    let both = lines(&a, &b);
    assert_eq!(
        both[0],
        "The recordings differ in batch_size (4 and 8): compare samples per second, not batches per second"
    );
    assert_eq!(both[1], "");
    let all = lines(&a, &of(200, 8));
    assert!(
        all[0].starts_with("The recordings differ in dataset ("),
        "{all:?}"
    );
    assert!(
        all[1].starts_with("The recordings differ in batch_size (4 and 8)"),
        "{all:?}"
    );
    let same = lines(&a, &a);
    assert!(!same[0].contains("differ in"), "{same:?}");
    // The datasets are from another script, with the same and with another class.
    let of_script = |dataset: &str| {
        let mut run = of(400, 4);
        run.info.dataset = dataset.to_owned();
        run.info.origin = Origin::Pytorch("2.13.0".to_owned());
        run
    };
    let train = of_script("Photos (400 samples) from train.py");
    for (other, differs) in [
        ("Photos (400 samples) from alone.py", false),
        ("Scans (400 samples) from train.py", true),
    ] {
        let first = &lines(&train, &of_script(other))[0];
        assert_eq!(first.contains("differ in dataset ("), differs, "{first}");
    }
    // This dataset has the same class and another length.
    let mut longer = of(200, 4);
    longer.info.dataset.clone_from(&a.info.dataset);
    let sizes = lines(&a, &longer);
    assert!(
        sizes[0].starts_with("The recordings differ in dataset size (400 and 200 samples)"),
        "{sizes:?}"
    );
    // Other tools do not record the loader's arguments.
    let mut other = b.clone();
    other.info.origin = Origin::Import("SPDL".to_owned());
    assert!(!lines(&a, &other)[0].contains("differ in"));
}

#[test]
fn runs_without_batches_are_not_compared() {
    let (a, b) = (Run::default(), run(2, 1));
    let comparison = Comparison::of((&a, false), (&b, false), Datasets::default());
    assert!(comparison.measures.is_empty());
    let text = comparison.text();
    assert!(text.contains("\n\nToo few batches"), "{text}");
}

#[test]
fn findings_are_named_by_their_titles() {
    let (a, b) = (run(1, 1), run(8, 1));
    let comparison = Comparison::of((&a, false), (&b, false), Datasets::default());
    let text = comparison.text();
    let (gone, new) = comparison.findings();
    assert!(gone.contains(&FindingId::StarvedWorkers), "{text}");
    assert!(
        text.contains("Resolved findings: ") && text.contains("Too few workers"),
        "{text}"
    );
    for id in gone.iter().chain(&new) {
        let name = id.as_str();
        assert!(
            !text.contains(name) || !name.contains('_'),
            "{name}: {text}"
        );
    }
}

/// A few slow samples make batch times vary widely. A paired comparison removes this spread, because both runs have the same slow batches.
#[test]
fn runs_of_the_same_batches_are_compared_batch_by_batch() {
    let of = |num_workers, seed| {
        simulated(&RunOptions {
            dataset: "synthetic:len=640,cost_ms=5,tail=0.01:40".to_owned(),
            batch_size: Some(8),
            shuffle: true,
            seed: Some(seed),
            num_workers,
            step_ms: 4.0,
            ..RunOptions::default()
        })
    };
    let compare = |a: &Run, b: &Run| {
        let comparison = Comparison::of((a, false), (b, false), Datasets::default());
        (
            comparison.outcome(),
            comparison.text(),
            comparison.measures[0].clone(),
        )
    };
    let (outcome, text, paired) = compare(&of(4, 1), &of(6, 1));
    assert_eq!(outcome, Outcome::Improved, "{text}");
    assert!(
        text.contains("Options that differ: num_workers 4 → 6"),
        "{text}"
    );
    // Another sample order prevents pairing, so the interval is wider.
    let (_, _, apart) = compare(&of(4, 1), &of(6, 2));
    let width = |m: &Measure| m.high.expect("enough") - m.low.expect("enough");
    assert!(width(&paired) < width(&apart), "{paired:?} {apart:?}");
}

/// Regression test: a change from 56 % to 36 % was shown as −35 %.
#[test]
fn share_changes_are_in_percentage_points() {
    let m = Measure {
        id: "wait_share",
        a: 0.56,
        b: 0.36,
        change: Some(0.36 / 0.56 - 1.0),
        low: Some(-0.5),
        high: Some(-0.25),
        outcome: Outcome::Improved,
    };
    assert_eq!(change(&m), "−20 points (−28 to −14)");
}

/// Regression test: an increase of the waits from 55 % to 89 % was reported as "no significant change".
#[test]
fn a_significant_change_of_the_waiting_is_in_the_first_sentence() {
    let (a, b) = (run(2, 1), run(2, 2));
    let mut comparison = Comparison::of((&a, false), (&b, false), Datasets::default());
    comparison.measures[0] = Measure {
        id: "samples_per_second",
        a: 105.3,
        b: 102.4,
        change: Some(-0.028),
        low: Some(-0.58),
        high: Some(0.84),
        outcome: Outcome::Unclear,
    };
    comparison.measures[1] = Measure {
        id: "wait_share",
        a: 0.55,
        b: 0.89,
        change: Some(0.34 / 0.55),
        low: Some(0.02 / 0.55),
        high: Some(0.71 / 0.55),
        outcome: Outcome::Worse,
    };
    let said = |comparison: &Comparison<'_>| comparison.sentence().replace('\u{2009}', " ");
    assert_eq!(
        said(&comparison),
        "B waits longer: 89 % instead of 55 % of the time, +34 points (+2 to +71). Throughput: no statistically significant change, −2.8 % (−58 % to +84 %)."
    );
    comparison.measures[1].outcome = Outcome::Improved;
    assert!(said(&comparison).starts_with("B waits less: "));
    comparison.measures[0].outcome = Outcome::Worse;
    let both = said(&comparison);
    assert!(
        both.starts_with("B is slower: samples/s −2.8 % ("),
        "{both}"
    );
    assert!(both.contains("). B waits less: "), "{both}");
    comparison.measures[1].outcome = Outcome::Unclear;
    assert!(!said(&comparison).contains("waits"));
}

#[test]
fn columns_are_aligned_and_percentiles_are_named() {
    let (a, b) = (run(1, 1), run(4, 2));
    let comparison = Comparison::of((&a, false), (&b, false), Datasets::default());
    let text = comparison.text();
    let of = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name));
        line.unwrap_or_else(|| panic!("{name}: {text}"))
    };
    for name in [
        "wait for a batch, median ",
        "wait for a batch, 90th percentile ",
        "work on a batch, 99th percentile ",
    ] {
        of(name);
    }
    // Numbers of both runs are right-aligned in the same columns.
    let wide = "wait for a batch, 90th percentile".len() + 24;
    for name in [
        "samples/s",
        "share waited",
        "wait for a batch, median",
        "Fetching",
    ] {
        let line: Vec<char> = of(name).chars().collect();
        assert!(line[wide - 1] != ' ', "{text}");
        assert!(line.get(wide).is_none_or(|c| *c == ' '), "{text}");
    }
}
