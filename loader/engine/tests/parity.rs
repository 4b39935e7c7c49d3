//! Comparison of the engine with the real PyTorch, case by case.
//!
//! The cases are in `tests/reference/golden`. `LOADSCOPE_REFERENCE` names another folder of the same form, made by
//! `tests/reference/make_cases.py`. `LOADSCOPE_PARITY=weighted,datasets` selects files. `LOADSCOPE_DIFFERENCES` names
//! an output file with a line of JSON for each failed case.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test ends with what went wrong"
)]
#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]

#[path = "parity/collate.rs"]
mod collate;
#[path = "parity/datasets.rs"]
mod datasets;
#[path = "parity/distributed.rs"]
mod distributed;
#[path = "parity/errors.rs"]
mod errors;
#[path = "parity/iterable.rs"]
mod iterable;
#[path = "parity/loader.rs"]
mod loader;
#[path = "parity/program_loader.rs"]
mod program_loader;
#[path = "parity/program_parts.rs"]
mod program_parts;
#[path = "parity/programs.rs"]
mod programs;
#[path = "parity/random.rs"]
mod random;
#[path = "parity/rows.rs"]
mod rows;
#[path = "parity/sampler_ctor.rs"]
mod sampler_ctor;
#[path = "parity/samplers.rs"]
mod samplers;
#[path = "parity/samples.rs"]
mod samples;
#[path = "parity/stream_variables.rs"]
mod stream_variables;
#[path = "parity/traces.rs"]
mod traces;
#[path = "parity/verdict.rs"]
mod verdict;
#[path = "parity/weighted.rs"]
mod weighted;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use verdict::{Case, Verdict};

/// Maximum number of cases that may be skipped, each with its reason.
const MOST_LEFT_OUT: usize = 12;

fn check(area: &str, case: &Case<'_>) -> Verdict {
    match area {
        "collate" => collate::check(case),
        "datasets" => datasets::check(case),
        "distributed" => distributed::check(case),
        "errors" => errors::check(case),
        "iterable" => iterable::check(case),
        "loader_order" => loader::check(case),
        "mt19937" | "randperm" => random::check(case),
        "programs" => programs::check(case),
        "samplers" => samplers::check(case),
        "task_traces" => traces::check(case),
        "weighted" => weighted::check(case),
        _ => Verdict::fail("a file that is known", area),
    }
}

/// Returns the files with cases, in alphabetical order.
fn files() -> Vec<PathBuf> {
    let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference/golden");
    let folder = std::env::var_os("LOADSCOPE_REFERENCE").map_or(bundled, PathBuf::from);
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap_or_else(|e| panic!("cannot read the folder of cases {}: {e}", folder.display()))
        .map(|entry| entry.expect("an entry of the folder of cases").path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    files.sort();
    files
}

#[derive(Default)]
struct Score {
    cases: usize,
    passed: usize,
    failures: Vec<String>,
    /// Failures as JSON objects, one per line.
    lines: Vec<String>,
    left_out: BTreeMap<&'static str, Vec<String>>,
}

impl Score {
    fn add(&mut self, case: &Case<'_>, verdict: Verdict) {
        self.cases += 1;
        let input = shorten(&case.input.to_string());
        match verdict {
            Verdict::Pass => self.passed += 1,
            Verdict::NotApplicable(why) => {
                self.left_out
                    .entry(why)
                    .or_default()
                    .push(case.id.to_owned());
            }
            Verdict::Fail { expected, actual } => {
                self.failures.push(format!(
                    "{} {} {input}\n  expected {}\n  actual   {}",
                    case.id,
                    case.op,
                    shorten(&expected),
                    shorten(&actual),
                ));
                let line = serde_json::json!({"id": case.id, "actual": shorten(&actual)});
                self.lines.push(line.to_string());
            }
        }
    }
}

fn shorten(text: &str) -> String {
    const MOST: usize = 600;
    if text.chars().count() <= MOST {
        return text.to_owned();
    }
    let begin: String = text.chars().take(MOST).collect();
    format!("{begin} … ({} characters)", text.len())
}

fn score(path: &Path) -> Score {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let file: Json =
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let area = file["area"].as_str().expect("the file names its area");
    let mut score = Score::default();
    for json in file["cases"].as_array().expect("the file has cases") {
        let case = Case {
            id: json["id"].as_str().unwrap_or("?"),
            op: json["op"].as_str().unwrap_or("?"),
            input: &json["in"],
            json,
            file: &file,
        };
        let verdict = catch_unwind(AssertUnwindSafe(|| check(area, &case)));
        let verdict = verdict.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            Verdict::fail("no panic", text.as_deref().unwrap_or("a panic"))
        });
        score.add(&case, verdict);
    }
    score
}

#[test]
fn parity_with_pytorch() {
    let only = std::env::var("LOADSCOPE_PARITY").unwrap_or_default();
    let wanted = |path: &&PathBuf| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        only.is_empty() || only.split(',').any(|name| name == stem)
    };
    // The score goes straight to the terminal, so that it is also visible on success.
    let mut out = std::io::stdout().lock();
    let mut say = |line: &str| {
        let _ = writeln!(out, "{line}");
    };
    let (mut cases, mut passed, mut left_out) = (0, 0, 0);
    let (mut failures, mut lines) = (Vec::new(), Vec::new());
    for path in files().iter().filter(wanted) {
        let score = score(path);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        say(&format!(
            "parity: {} of {} cases in {name}",
            score.passed, score.cases
        ));
        for (why, ids) in &score.left_out {
            say(&format!("  left out: {} ({why})", ids.join(", ")));
            left_out += ids.len();
        }
        cases += score.cases;
        passed += score.passed;
        failures.extend(score.failures);
        lines.extend(score.lines);
    }
    if let Some(path) = std::env::var_os("LOADSCOPE_DIFFERENCES") {
        lines.push(String::new());
        fs::write(&path, lines.join("\n")).expect("the differences are written");
    }
    say(&format!(
        "parity: {passed} of {cases} cases in all, {left_out} left out"
    ));
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
    assert!(cases > 0, "there are no cases");
    assert!(left_out <= MOST_LEFT_OUT, "{left_out} cases are left out");
}
