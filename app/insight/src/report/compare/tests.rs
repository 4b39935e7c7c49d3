use loadscope_trace::{FindingId, RunOptions};

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
    assert!(text.contains("Gone: Too few workers"), "{text}");
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
fn runs_without_batches_are_not_compared() {
    let (a, b) = (Run::default(), run(2, 1));
    let comparison = Comparison::of((&a, false), (&b, false), Datasets::default());
    assert!(comparison.measures.is_empty());
    assert!(comparison.text().starts_with("Too few batches"));
}

#[test]
fn findings_are_called_by_their_titles() {
    let (a, b) = (run(1, 1), run(8, 1));
    let comparison = Comparison::of((&a, false), (&b, false), Datasets::default());
    let text = comparison.text();
    let (gone, new) = comparison.findings();
    assert!(gone.contains(&FindingId::StarvedWorkers), "{text}");
    assert!(
        text.contains("Gone: ") && text.contains("Too few workers"),
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
