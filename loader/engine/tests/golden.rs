//! Compares the engine with what the real PyTorch 2.13 did. The cases lie in `tests/reference/golden`.

#[path = "golden/collate.rs"]
mod collate;
#[path = "golden/random.rs"]
mod random;
#[path = "golden/samplers.rs"]
mod samplers;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value as Json;
use sha2::{Digest, Sha256};

/// What a check says about a case.
enum Verdict {
    Pass,
    /// The engine has no counterpart (yet), and why.
    Skip(&'static str),
    Fail {
        expected: String,
        actual: String,
    },
}

impl Verdict {
    fn equal<T: PartialEq + std::fmt::Debug>(expected: &T, actual: &T) -> Self {
        if expected == actual {
            Self::Pass
        } else {
            Self::Fail {
                expected: format!("{expected:?}"),
                actual: format!("{actual:?}"),
            }
        }
    }
}

/// Runs `check` on every case of a file, prints how many passed and why others were left out, and fails with all
/// mismatches.
fn run(area: &str, least: usize, check: impl Fn(&str, &Json, &Json) -> Verdict) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/reference/golden")
        .join(format!("{area}.json"));
    let file: Json = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let cases = file["cases"].as_array().unwrap();
    let (mut passed, mut skipped, mut failures) = (0, BTreeMap::new(), Vec::new());
    for case in cases {
        let op = case["op"].as_str().unwrap();
        match check(op, &case["in"], case) {
            Verdict::Pass => passed += 1,
            Verdict::Skip(why) => *skipped.entry(why).or_insert(0) += 1,
            Verdict::Fail { expected, actual } => failures.push(format!(
                "{} {op} {}\n  expected {expected}\n  actual   {actual}",
                case["id"], case["in"]
            )),
        }
    }
    println!("{area}: {passed} of {} cases agree", cases.len());
    for (why, count) in &skipped {
        println!("  {count} left out: {why}");
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(
        passed >= least,
        "only {passed} cases of {area} were checked"
    );
}

/// Whether a list is what the case says, in full or as length, ends and hash.
fn same_list(expected: &Json, actual: &[i64]) -> bool {
    match expected {
        Json::Array(items) => items
            .iter()
            .map(Json::as_i64)
            .eq(actual.iter().map(|&v| Some(v))),
        _ => {
            let text: Vec<String> = actual.iter().map(i64::to_string).collect();
            let hash = Sha256::digest(text.join(","));
            let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
            let ends = actual.len() >= 16
                && same_list(&expected["head"], &actual[..16])
                && same_list(&expected["tail"], &actual[actual.len() - 16..]);
            ends && expected["len"] == actual.len() && expected["sha256"] == hex
        }
    }
}

/// A verdict on a list, which prints only its beginning.
fn list_verdict(expected: &Json, actual: &[i64]) -> Verdict {
    if same_list(expected, actual) {
        return Verdict::Pass;
    }
    let mut shown = expected.to_string();
    shown.truncate(200);
    Verdict::Fail {
        expected: shown,
        actual: format!(
            "{} items: {:?}",
            actual.len(),
            &actual[..actual.len().min(40)]
        ),
    }
}
