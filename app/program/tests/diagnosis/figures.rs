//! Each value is equal in `report`, `info`, `compare`, the headline of the window and Diagnose.

use loadscope_insight::Datasets;
use loadscope_insight::background::Progress;
use loadscope_insight::diagnose::run_analysis::RunAnalysis;
use loadscope_insight::headline::Headline;
use loadscope_session::read_run;

use super::{Folder, json, seconds};

/// Returns recordings of several kinds, and traces of other tools.
fn files(folder: &Folder) -> Vec<String> {
    let mut all = vec![
        folder.proof(),
        folder.record(
            "epochs.jsonl.zst",
            "--dataset synthetic:len=40,cost_ms=4 --batch-size 4 --num-workers 2 --step-ms 6 --epochs 3 --seed 0",
        ),
        folder.record(
            "none.jsonl.zst",
            "--dataset synthetic:len=40,cost_ms=2 --batch-size 4 --step-ms 3 --seed 0",
        ),
        folder.record(
            "stream.jsonl.zst",
            "--dataset stream:len=40,cost_ms=3 --batch-size 4 --num-workers 2 --step-ms 3 --seed 0",
        ),
    ];
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/profiler/");
    for name in ["single", "workers", "persistent", "stopped_early"] {
        all.push(format!("{data}{name}.json.gz"));
    }
    all
}

/// Asserts that two values are equal except for rounding.
fn same(a: f64, b: f64, what: &str) {
    assert!(
        (a - b).abs() <= 2e-9 + 1e-9 * a.abs(),
        "{what}: {a} and {b}"
    );
}

#[test]
fn all_commands_report_the_same_figures() {
    let folder = Folder::new();
    for file in files(&folder) {
        let report = json(&["report", &file, "--json"]);
        let info = json(&["info", &file, "--json"]);
        let compare = json(&["compare", &file, &file, "--json"]);
        let (run, _) = read_run(file.as_ref(), |_| true).expect("it opens");
        let (total, waited) = (
            seconds(&report["run_seconds"]),
            seconds(&report["waited_seconds"]),
        );
        let about = &info["loaders"][0];
        for (place, total_there, waited_there) in [
            (
                "summary",
                &report["summary"]["seconds"],
                &report["summary"]["waited_seconds"],
            ),
            (
                "loader",
                &report["loader"]["seconds"],
                &report["loader"]["waited_seconds"],
            ),
            ("info", &info["seconds"], &info["waited_seconds"]),
            (
                "info of the loader",
                &about["seconds"],
                &about["waited_seconds"],
            ),
            (
                "compare",
                &compare["run_seconds"][0],
                &compare["waited_seconds"][0],
            ),
        ] {
            same(
                total,
                seconds(total_there),
                &format!("{file}: seconds, {place}"),
            );
            same(
                waited,
                seconds(waited_there),
                &format!("{file}: waited, {place}"),
            );
        }
        let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
        let verdict = text(&report["verdict"]["text"]);
        // A comparison has no forecasts, so its verdict is shorter.
        let short = text(&compare["verdicts"][0]);
        assert!(verdict.starts_with(&short), "{file}: {verdict} and {short}");
        let headline = Headline::of(&run).expect("it has an epoch");
        same(
            headline.share,
            waited / total,
            &format!("{file}: share, headline"),
        );
        let look =
            RunAnalysis::of(&run, Datasets::default(), &Progress::default()).expect("it is wanted");
        same(
            look.total.as_secs_f64(),
            total,
            &format!("{file}: seconds, Diagnose"),
        );
        same(
            look.blame.waited.as_secs_f64(),
            waited,
            &format!("{file}: waited, Diagnose"),
        );
        assert!(
            verdict.starts_with(&headline.verdict.replace('\u{2009}', " "))
                || look.diagnosis.verdict.headline != headline.verdict,
            "{file}: {verdict} and {}",
            headline.verdict
        );
        measures_are_the_same(&file, &info, &compare, waited / total);
    }
}

/// Checks the measures of a comparison against the values of `info`.
fn measures_are_the_same(
    file: &str,
    info: &serde_json::Value,
    compare: &serde_json::Value,
    share: f64,
) {
    for (id, whole) in [
        ("wait_share", Some(share)),
        ("samples_per_second", info["samples_per_second"].as_f64()),
    ] {
        // A trace does not contain the number of samples per batch.
        let Some(whole) = whole else { continue };
        let measures = compare["measures"].as_array().expect("a list");
        let measure = measures.iter().find(|m| m["id"] == id);
        let Some(measure) = measure.filter(|m| seconds(&m["a"]) > 0.0) else {
            continue;
        };
        let there = seconds(&measure["a"]);
        assert!(
            (there - whole).abs() <= 0.02 * whole,
            "{file}: {id} is {there} in compare and {whole} elsewhere"
        );
    }
}
