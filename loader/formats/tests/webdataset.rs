//! Comparison of shards with the `webdataset` package: content, order, shuffles, workers and ranks.
#![allow(
    clippy::expect_used,
    clippy::too_many_lines,
    reason = "a test ends with what went wrong; a list of cases"
)]

use std::path::PathBuf;

use loadscope_formats::webdataset::{Decoding, Options, Shuffling, WebDataset, expand};
use loadscope_formats::{Share, StreamSource, Untimed};
use serde_json::{Value, json};
use tempfile::TempDir;

mod peers;

/// Lists cases, one per line: the options here and in Python, the worker and rank with their numbers, and the epochs.
macro_rules! cases {
    ($($options:expr, $theirs:expr, $place:expr, $epochs:expr;)+) => { [$(($options, $theirs, $place, $epochs)),+] };
}

/// Creates shards of every kind. Returns the Python that made them.
fn made() -> Option<(PathBuf, TempDir, String)> {
    let python = peers::python(&["webdataset"])?;
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().to_str().expect("a name in UTF-8").to_owned();
    peers::run(&python, "webdataset_samples.py", &["make", &folder]);
    let urls = format!(
        "{folder}/shard-{{000,001,002}}.tar::{folder}/{{shard-003.tar.gz,shard-00{{4..6}}.tar,shard-007.tar.gz}}"
    );
    Some((python, dir, urls))
}

/// Returns the samples of `epochs` epochs.
fn ours(options: &Options, share: Share, epochs: usize) -> Vec<Value> {
    let dataset = WebDataset::open(options.clone()).expect("sound shards");
    let mut samples = Vec::new();
    for _ in 0..epochs {
        let mut part = dataset.open(&share).expect("sound shards");
        while let Some(sample) = part.next(&mut Untimed) {
            samples.push(peers::shown(&sample.expect("a sound sample")));
        }
    }
    samples
}

#[test]
fn samples_and_order_equal_those_of_webdataset() {
    let Some((python, dir, urls)) = made() else {
        return;
    };
    let of = Shuffling::of;
    let plain = Options::new(urls.as_str());
    let seeded = Options {
        seed: Some(7),
        ..plain.clone()
    };
    let det = Options {
        detshuffle: true,
        ..seeded.clone()
    };
    let shard = Some(of(100));
    let names = ["json", "cls", "__key__", "cls"];
    let tuple = Options {
        fields: names.map(str::to_owned).to_vec(),
        urls: format!("{}/shard-001.tar", dir.path().display()),
        ..plain.clone()
    };
    let cases = cases! {
        plain.clone(), json!({}), (0, 1, 0, 1), 1;
        tuple, json!({"fields": names}), (0, 1, 0, 1), 1;
        Options { decoding: Decoding::Bytes, ..plain.clone() }, json!({"decode": false}), (0, 1, 0, 1), 1;
        plain.clone(), json!({}), (1, 3, 0, 1), 1;
        plain.clone(), json!({}), (1, 2, 1, 3), 2;
        Options { shardshuffle: shard, ..seeded.clone() }, json!({"shardshuffle": 100}), (0, 1, 0, 1), 2;
        Options { shardshuffle: shard, ..seeded.clone() }, json!({"shardshuffle": 100}), (1, 2, 0, 2), 1;
        Options { shuffle: Some(of(30)), ..seeded.clone() }, json!({"shuffle": 30}), (0, 1, 0, 1), 2;
        Options { shuffle: Some(of(1000)), ..seeded.clone() }, json!({"shuffle": 1000}), (0, 1, 0, 1), 1;
        Options { shuffle: Some(of(1)), ..seeded.clone() }, json!({"shuffle": 1}), (0, 1, 0, 1), 1;
        Options { shardshuffle: Some(of(3)), shuffle: Some(of(50)), ..det },
            json!({"shardshuffle": 3, "shuffle": 50, "detshuffle": true}), (0, 2, 0, 1), 3;
        Options { shardshuffle: shard, shuffle: Some(of(500)), seed: Some(1 << 40), ..plain },
            json!({"shardshuffle": 100, "shuffle": 500, "seed": 1u64 << 40}), (0, 1, 0, 1), 1;
    };
    let theirs = cases.iter().map(|(options, theirs, place, epochs)| {
        let (worker, workers, rank, world_size) = place;
        let mut theirs = theirs.clone();
        theirs["urls"] = json!(options.urls);
        theirs["epochs"] = json!(epochs);
        theirs["seed"] = json!(options.seed);
        theirs["environment"] = json!({
            "WORKER": worker.to_string(), "NUM_WORKERS": workers.to_string(),
            "RANK": rank.to_string(), "WORLD_SIZE": world_size.to_string(),
        });
        theirs
    });
    let theirs = theirs.collect::<Value>().to_string();
    let printed = peers::run(&python, "webdataset_samples.py", &["samples", &theirs]);
    let expected: Vec<&[Value]> = printed.split(Value::is_null).collect();
    for ((options, _, place, epochs), expected) in cases.iter().zip(&expected) {
        let (worker, workers, rank, world_size) = *place;
        let share = Share {
            worker,
            workers,
            rank,
            world_size,
            seed: 99,
        };
        let got = ours(options, share, *epochs);
        assert!(!expected.is_empty());
        assert_eq!(got.len(), expected.len(), "{options:?} {share:?}");
        for (at, (got, expected)) in got.iter().zip(*expected).enumerate() {
            assert_eq!(got, expected, "sample {at} of {options:?} {share:?}");
        }
    }
    assert_eq!(expected.len(), cases.len() + 1);
}

#[test]
fn brace_patterns_expand_like_braceexpand() {
    let Some(python) = peers::python(&["webdataset", "braceexpand"]) else {
        return;
    };
    let patterns = r"
        item{1..3} {a..c} index.html{,.backup} python{2.{5..7},3.{2,3}} {07..10} {a..g..2} {4..1} {2..-1} {1{2,3}
        {1\\{2,3} \{1,2\} {} {a} {a,b}{1..2} {Z..b} {b..Z} a}b a{b {1..3..0} {1..10..3} {10..1..-3} {001..3} {-01..1}
        {0..-0} {-5..05} {1..2..x} {,} {a,{b,c}d}e {{a,b}} {{1..2},x} plain back\slash end\ {a..} {..b} {1...3} {é,ß}x
        {A..a..30} {1..1} {a..a} {a\,b,c} {1..3}..{2} {C..A} {A..C} {-3..-1} {00..00} {1..02..1} {a,b a,b} {{} {}}
        {1..3..-0} {x{1..2}y}
    ";
    let patterns: Vec<&str> = patterns.split_whitespace().chain([""]).collect();
    let arguments: Vec<&str> = ["braces"]
        .into_iter()
        .chain(patterns.iter().copied())
        .collect();
    let expected = peers::run(&python, "webdataset_samples.py", &arguments);
    for (pattern, expected) in patterns.iter().zip(expected) {
        let names = expand(pattern, 10_000).ok();
        assert_eq!(json!(names), expected, "{pattern}");
    }
}

#[test]
fn huge_brace_patterns_are_refused() {
    for pattern in [
        "{1..99999999999}",
        "{1..1000000}{1..1000000}",
        "{1..99999999999999999999999999}",
        &"{1..10}".repeat(40),
        &"{a,b}".repeat(64),
        &format!("{}{}", "{".repeat(100_000), "}".repeat(100_000)),
        &format!("{}1..2{}", "{".repeat(5000), "}".repeat(5000)),
        &format!("{{{}1..2}}", "0".repeat(100_000)),
    ] {
        let begin: String = pattern.chars().take(40).collect();
        assert!(expand(pattern, 1 << 20).is_err(), "{begin}");
    }
    assert_eq!(expand("{000..127}", 1000).map(|names| names.len()), Ok(128));
}
