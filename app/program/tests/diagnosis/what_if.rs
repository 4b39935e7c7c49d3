//! Tests of `loadscope what-if`.

use serde_json::Value;

use super::{Folder, command_error, json, keys, loadscope, seconds, text};

const PINNED: &str = "--dataset synthetic:len=48,cost_ms=4 --batch-size 2 --num-workers 2 --step-ms 5 --pin-memory=mlock --epochs 2";

#[test]
fn the_json_of_what_if_has_every_documented_field() {
    let folder = Folder::new();
    let file = folder.record("pinned.jsonl", PINNED);
    let all = json(&["what-if", &file, "--json"]);
    let configurations = all["configurations"].as_array().expect("a list");
    // 0 workers once, 1 to 8 with four prefetch factors each.
    assert_eq!(configurations.len(), 33);
    for c in configurations
        .iter()
        .chain([&all["recorded"], &all["best"], &all["cheapest"]])
    {
        for key in [
            "num_workers",
            "prefetch_factor",
            "batch_size",
            "in_order",
            "persistent_workers",
            "pin_memory",
            "seconds",
            "waited_seconds",
            "low",
            "high",
        ] {
            assert!(keys(c).contains(&key), "{key}: {c}");
        }
        assert!(
            seconds(&c["waited_seconds"]) <= seconds(&c["seconds"]),
            "{c}"
        );
    }
    let least = configurations
        .iter()
        .map(|c| seconds(&c["seconds"]))
        .fold(f64::MAX, f64::min);
    assert_eq!(seconds(&all["best"]["seconds"]), least);
    assert!(seconds(&all["cheapest"]["seconds"]) <= 1.02 * least);
    assert!(seconds(&all["headroom"]["seconds"]) <= least);
    assert!(!all["assumptions"].is_null() && !all["outlook"].is_null());
    let refit =
        seconds(&all["recorded"]["forecast_seconds"]) / seconds(&all["recorded"]["seconds"]);
    assert!((refit - 1.0).abs() < 0.25, "{refit}");
}

/// Returns the JSON of `what-if --set SET`. Defaults: one worker, prefetch factor 2.
fn with(file: &str, set: &str) -> Value {
    let fixed = ["--workers", "1", "--prefetch", "2", "--json"];
    json(&[&["what-if", file, "--set", set][..], &fixed].concat())
}

#[test]
fn every_key_can_be_set() {
    let folder = Folder::new();
    let file = folder.record("pinned.jsonl", PINNED);
    for (set, key, value) in [
        ("num_workers=3", "num_workers", Value::from(3)),
        ("prefetch_factor=3", "prefetch_factor", 3.into()),
        ("batch_size=4", "batch_size", 4.into()),
        ("batch_size=none", "batch_size", Value::Null),
        ("in_order=false", "in_order", false.into()),
        ("persistent_workers=true", "persistent_workers", true.into()),
        ("pin_memory=false", "pin_memory", false.into()),
        ("step_ms=9.5", "step_ms", 9.5.into()),
        ("cores=3", "cores", 3.into()),
        ("cache=80%", "cache", 0.8.into()),
        ("faster=sleep:2", "num_workers", 1.into()),
        ("trainer_cpu=0.5", "num_workers", 1.into()),
    ] {
        let one = with(&file, set);
        let configurations = one["configurations"].as_array().expect("a list");
        assert_eq!(configurations.len(), 1, "{set}");
        assert_eq!(configurations[0][key], value, "{set}");
    }
    let took = |set: &str| {
        let one = with(&file, set);
        seconds(&one["configurations"][0]["seconds"])
    };
    assert!(took("faster=sleep:4") < took("faster=sleep:1"));
    assert!(took("cache=1") < took("cache=0"));
    assert!(took("step_ms=50") > took("step_ms=1"));
    let said = text(&loadscope(&["what-if", &file, "--set", "trainer_cpu=0.5"]));
    let says = "All forecasts use 50 % of a step on a CPU core";
    assert!(said.contains(says), "{said}");
}

#[test]
fn ranges_make_a_table_and_invalid_values_are_refused() {
    let folder = Folder::new();
    let file = folder.record("pinned.jsonl", PINNED);
    let said = text(&loadscope(&[
        "what-if",
        &file,
        "--workers",
        "0..2",
        "--prefetch",
        "1,2",
    ]));
    let mut lines = said.lines();
    for label in ["Recorded: ", "Forecast for the recorded settings: "] {
        assert!(lines.next().is_some_and(|l| l.starts_with(label)), "{said}");
    }
    assert_eq!(
        said.lines()
            .filter(|l| l.contains(" to ") && l.starts_with("  "))
            .count(),
        // Two of them keep the workers between epochs.
        7,
        "{said}"
    );
    for (set, says) in [
        (
            "num_worker=3",
            "unknown key 'num_worker'. Did you mean num_workers? Valid: ",
        ),
        ("num_workers", "not of the form"),
        ("cache=2", "from 0 to 1"),
        ("faster=decoding:2", "no stage decoding"),
        ("prefetch_factor=0", "greater than 0"),
        ("batch_size=0", "positive"),
        ("in_order=perhaps", "neither true nor false"),
    ] {
        let said = command_error(&["what-if", &file, "--set", set]);
        assert!(said.contains(says), "{set}: {said}");
    }
    let twice = ["what-if", &file, "--set", "cores=1", "--set", "cores=2"];
    assert!(command_error(&twice).contains("cores is given twice"));
    assert!(command_error(&["what-if", &file, "--workers", "0..99999"]).contains("at most 1,024"));
}

/// Regression test: the verdict named 4 workers, and the next line a faster `in_order=False`.
#[test]
fn the_best_change_is_the_fastest_single_change() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../assets/lessons/cases/slow_samples_0.jsonl.zst"
    );
    let said = text(&loadscope(&["what-if", file, "--workers", "2..4"]));
    assert!(said.contains("Best change: in_order=False: "), "{said}");
    assert!(!said.contains("Best single change"), "{said}");
    assert!(!said.contains("  fastest"), "{said}");
}
