//! Comparison with the samples of Python's packages, bit for bit.
//!
//! `python/make_data.py` makes the data, including public data inside packages, and records the Python values. Without a Python that has
//! the packages, these tests print what they skip.
#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]
#![allow(clippy::print_stderr, reason = "a test says what it compared")]

mod common;
mod interpreter;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use common::opened;
use common::plain::{differs, plain};

fn read(path: &Path) -> String {
    let said = format!("{}", path.display());
    std::fs::read_to_string(path).expect(&said)
}

/// Compares a case. Returns the number of rows or the first difference.
fn compare(folder: &Path, case: &Value) -> Result<usize, String> {
    let rows = read(&folder.join(case["rows"].as_str().ok_or("no rows")?));
    let expected: Vec<Value> = rows
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let data = opened(case).map_err(|e| e.to_string())?;
    // For large files, only some rows are recorded.
    let only = &case["options"]["only"];
    let indices: Vec<usize> = match only.as_array() {
        Some(only) => only
            .iter()
            .filter_map(|i| Some(i.as_u64()? as usize))
            .collect(),
        None => (0..expected.len()).collect(),
    };
    let count = case["options"]["count"]
        .as_u64()
        .map_or(expected.len(), |n| n as usize);
    if data.len() != count || indices.len() != expected.len() {
        return Err(format!("{} rows, not {count}", data.len()));
    }
    let close = case["close"].as_f64();
    let all: Vec<usize> = indices.iter().rev().copied().collect();
    let mut together = common::all(&*data, &all).map_err(|e| e.to_string())?;
    together.reverse();
    for ((&index, expected), together) in indices.iter().zip(&expected).zip(&together) {
        let row = common::row(&*data, index).map_err(|e| e.to_string())?;
        if let Some(what) = differs(&plain(&row), expected, close) {
            return Err(format!("row {index}: {what}"));
        }
        if plain(together) != plain(&row) {
            return Err(format!(
                "row {index} is another one when it is asked for with others"
            ));
        }
    }
    if !case["classes"].is_null() && serde_json::json!(data.classes()) != case["classes"] {
        return Err(format!(
            "classes {:?}, not {}",
            data.classes(),
            case["classes"]
        ));
    }
    if !case["labels"].is_null() && serde_json::json!(data.labels()) != case["labels"] {
        return Err(format!(
            "labels {:?}, not {}",
            data.labels(),
            case["labels"]
        ));
    }
    if common::row(&*data, data.len()).is_ok() {
        return Err("there is a row beyond the last".to_owned());
    }
    Ok(expected.len())
}

/// Results for one kind of file from another tool.
#[derive(Default)]
struct Kind {
    equal: usize,
    refused: usize,
    wrong: usize,
}

/// Internal words of Rust and of parsers, which an error must not contain.
const WORDS: [&str; 12] = [
    "expected ",
    "invalid type",
    "missing field",
    "trailing",
    "EOF",
    "no suitable",
    "unsupported feature",
    "decode error",
    "f64",
    "i64,",
    "UTF-8 sequence",
    "Os {",
];

/// Checks that the error for a file contains `says`, a place and a remedy.
fn refused(case: &Value, says: &str) -> Result<(), String> {
    let data = opened(case).and_then(|data| {
        for index in 0..data.len() {
            common::row(&*data, index)?;
        }
        Ok(())
    });
    let error = data.err().ok_or("it was read")?;
    let text = error.to_string();
    let word = WORDS.iter().find(|word| text.contains(**word));
    let remedy = error.remedy.starts_with(char::is_uppercase) && !error.place.source.is_empty();
    match word {
        None if text.contains(says) && remedy => Ok(()),
        _ => Err(format!(
            "{text:?} is not {says:?}, or has the word {word:?}"
        )),
    }
}

/// Makes the cases and their Python samples in `folder`.
fn made(python: &Path, folder: &Path) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/make_data.py");
    let made = Command::new(python)
        .arg(script)
        .arg(folder)
        .env_remove("LD_LIBRARY_PATH")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("HF_HUB_OFFLINE", "1")
        .output()
        .expect("Python starts");
    let said = String::from_utf8_lossy(&made.stderr);
    assert!(made.status.success(), "{said}");
    let summary: Value = serde_json::from_str(&read(&folder.join("cases.json"))).expect("JSON");
    for part in summary["left_out"].as_array().expect("a list") {
        interpreter::say(&format!(
            "{}: there is no {}",
            part["part"].as_str().unwrap_or_default(),
            part["package"].as_str().unwrap_or_default()
        ));
    }
    summary
}

#[test]
fn samples_equal_those_of_python() {
    // Prefers a Python with all packages to one with some.
    let all = [
        "numpy",
        "pandas",
        "pyarrow",
        "datasets",
        "torch",
        "safetensors",
        "soundfile",
        "pycocotools",
        "webdataset",
    ];
    let Some(python) = interpreter::python(&all).or_else(|| interpreter::python(&["numpy"])) else {
        return;
    };
    let dir = tempfile::tempdir().expect("a temporary folder");
    let summary = made(&python, dir.path());
    let mut same: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut kinds: BTreeMap<&str, Kind> = BTreeMap::new();
    for case in summary["cases"].as_array().expect("a list") {
        let format = case["format"].as_str().expect("a format");
        let kind = case["kind"]
            .as_str()
            .map(|kind| kinds.entry(kind).or_default());
        if let (Some(kind), Some(says)) = (kind, case["says"].as_str()) {
            match refused(case, says) {
                Ok(()) => kind.refused += 1,
                Err(what) => {
                    kind.wrong += 1;
                    wrong.push(format!("{format} {}: {what}", case["name"]));
                }
            }
            continue;
        }
        let compared = compare(dir.path(), case);
        if let Some(kind) = case["kind"].as_str().and_then(|kind| kinds.get_mut(kind)) {
            match compared {
                Ok(_) => kind.equal += 1,
                Err(_) => kind.wrong += 1,
            }
        }
        match compared {
            Ok(rows) => {
                let (cases, all) = same.entry(format.to_owned()).or_default();
                *cases += 1;
                *all += rows;
            }
            Err(what) => wrong.push(format!("{format} {}: {what}", case["name"])),
        }
    }
    for (format, (cases, rows)) in &same {
        eprintln!("{format}: {rows} samples of {cases} files are the same");
    }
    eprintln!("kind: equal, refused, wrong");
    for (
        kind,
        Kind {
            equal,
            refused,
            wrong,
        },
    ) in &kinds
    {
        eprintln!("{kind}: {equal}, {refused}, {wrong}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(same.len() >= 3, "{same:?}");
}
