use loadscope_trace::{FindingId, Origin, RunOptions};

use super::*;
use crate::Datasets;
use crate::simulated::simulated;

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
fn more_workers_are_an_improvement_beyond_chance() {
    let (a, b) = (run(1, 1), run(4, 2));
    let better = Comparison::of((&a, false), (&b, false), Datasets::default());
    assert_eq!(better.outcome(), Outcome::Improved);
    let text = better.text().replace('\u{2009}', " ");
    assert!(text.starts_with("B is faster: samples/s +1"), "{text}");
    assert!(text.contains("Resolved: Too few workers"), "{text}");
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
fn chance_is_no_improvement() {
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
fn other_datasets_and_batch_sizes_come_first() {
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
    // One class of datasets, another length.
    let mut longer = of(200, 4);
    longer.info.dataset.clone_from(&a.info.dataset);
    let sizes = lines(&a, &longer);
    assert!(
        sizes[0].starts_with("The recordings differ in dataset size (400 and 200 samples)"),
        "{sizes:?}"
    );
    // Other tools do not record the arguments.
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
fn findings_are_called_by_their_titles() {
    let (a, b) = (run(1, 1), run(8, 1));
    let comparison = Comparison::of((&a, false), (&b, false), Datasets::default());
    let text = comparison.text();
    let (gone, new) = comparison.findings();
    assert!(gone.contains(&FindingId::StarvedWorkers), "{text}");
    assert!(
        text.contains("Resolved: ") && text.contains("Too few workers"),
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

/// A few slow samples make the times of batches vary widely. Where both runs yield the same batches, the same ones are slow in both,
/// and what is left is the change.
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
    // With another order of the samples they cannot be told from chance so well.
    let (_, _, apart) = compare(&of(4, 1), &of(6, 2));
    let width = |m: &Measure| m.high.expect("enough") - m.low.expect("enough");
    assert!(width(&paired) < width(&apart), "{paired:?} {apart:?}");
}

/// From 56 % to 36 % was shown as −35 %, which few read as that.
#[test]
fn shares_change_in_points() {
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
