//! Malformed files are refused with an error message, in bounded memory, without a panic. Accepted files result in consistent runs.
//!
//! The test `fuzz_damaged_files_are_refused_or_read` tries more damaged files than the property tests. `LOADSCOPE_FUZZ=1000000` sets their
//! number. The original files are in `tests/data`.
#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]

use crate::support;

use std::io::Write as _;
use std::path::PathBuf;
use std::time::Instant;

use flate2::Compression;
use flate2::write::GzEncoder;
use loadscope_diagnose::Blame;
use loadscope_exchange::{ExportError, Format, export};
use loadscope_files::Existing;
use loadscope_trace::{Nanos, Run, RunId};
use proptest::prelude::*;
use support::{data, try_bytes, try_open};

/// Checks a run, and exports it in every format. Nothing may panic.
fn examine(run: &Run) {
    assert!(run.waited() >= Nanos::ZERO);
    let blame = Blame::whole(run);
    let sum = blame.iter().fold(Nanos::ZERO, |sum, (_, t)| sum + t);
    assert_eq!(sum, blame.waited);
    let folder = tempfile::tempdir().expect("a folder");
    for format in Format::ALL {
        let out = folder.path().join(format!("{format:?}"));
        match export(&[(RunId(0), run)], format, &out, Existing::Keep, |_| true) {
            Ok(_) => {}
            Err(ExportError::NoStacks) => assert!(run.stacks().is_empty()),
            Err(e) => panic!("{e}"),
        }
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    out.write_all(bytes).expect("a vector");
    out.finish().expect("a vector")
}

fn gunzip(path: &str) -> Vec<u8> {
    let file = std::fs::File::open(data(path)).expect("there");
    let mut out = Vec::new();
    std::io::copy(&mut flate2::read::GzDecoder::new(file), &mut out).expect("sound");
    out
}

/// Returns a short trace, so that many damaged copies can be tried.
fn short_trace() -> Vec<u8> {
    let next = |start: u32, name: &str| {
        format!(
            r#"{{"ph":"X","cat":"user_annotation","name":"enumerate(DataLoader)#{name}.__next__","pid":1,"tid":1,"ts":{start}.5,"dur":40,"args":{{"a":[1,{{}}]}}}},"#
        )
    };
    let op = |start: u32| {
        format!(
            r#"{{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":{start},"dur":5,"x":N/A}},"#
        )
    };
    let mut text = String::from(
        r#"{"schemaVersion":1,"baseTimeNanoseconds":1790857026000000000,"distributedInfo":{"rank":1,"world_size":2},"traceEvents":["#,
    );
    for k in 0..6 {
        text += &next(100 * k, "_MultiProcessingDataLoaderIter");
        text += &op(100 * k + 50);
        text += &next(100 * k + 60, "_SingleProcessDataLoaderIter");
    }
    text +=
        r#"{"ph":"i","name":"Record Window End","ts":99999999999999999999}],"traceName":"\u0000"}"#;
    text.into_bytes()
}

fn lotus() -> (Vec<u8>, Vec<u8>) {
    let read = |kind: &str| {
        let folder = std::fs::read_dir(data("lotus/newer")).expect("there");
        let paths = folder.map(|e| e.expect("there").path());
        let mut paths: Vec<PathBuf> = paths
            .filter(|p| p.to_string_lossy().contains(kind))
            .collect();
        paths.sort();
        std::fs::read(&paths[0]).expect("there")
    };
    (read("_main_"), read("_worker_"))
}

/// Corruption of a file: position as a share of the length, kind, byte.
type Damage = (f64, u8, u8);

fn damages() -> impl Strategy<Value = Vec<Damage>> {
    prop::collection::vec((0.0..1.0, 0..6u8, any::<u8>()), 1..6)
}

fn damage(bytes: &mut Vec<u8>, damages: &[Damage]) {
    for (at, what, byte) in damages {
        let at = (bytes.len() as f64 * at) as usize;
        match what {
            0 => bytes.insert(at, *byte),
            1 if at < bytes.len() => bytes[at] ^= (*byte).max(1),
            2 if at < bytes.len() => _ = bytes.remove(at),
            // A piece is copied, with its structure, to another position.
            3 if at < bytes.len() => {
                let end = (at + 8 * usize::from(*byte)).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                let to = at / 2;
                bytes.splice(to..to, piece);
            }
            // A large number is inserted.
            4 => {
                let digits = b"-1e9223372036854775807.5";
                let from = usize::from(*byte) % digits.len();
                bytes.splice(at..at, digits[from..].iter().copied());
            }
            _ => bytes.truncate(bytes.len() - usize::from(*byte).min(bytes.len())),
        }
    }
}

fn try_lotus(main: &[u8], worker: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, bytes) in [("a_main_pid_1", main), ("a_worker_pid_2", worker)] {
        std::fs::write(folder.path().join(name), bytes).expect("there is room");
    }
    if let Ok((run, _)) = try_open(folder.path()) {
        examine(&run);
    }
}

fn try_any(bytes: &[u8]) {
    match try_bytes("any_pid_7", bytes) {
        Ok((run, _)) => examine(&run),
        Err(e) => assert!(e.to_string().len() < 2_000, "{e}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn random_bytes_are_refused_or_read(
        start in prop::sample::select(vec![&b""[..], b"{", b"[{\"ph\":", b"\x1F\x8B\x08\0", b"SQLite format 3\0", b"SA,1,"]),
        bytes in prop::collection::vec(any::<u8>(), 0..2_000),
    ) {
        try_any(&[start, &bytes].concat());
    }

    #[test]
    fn damaged_traces_are_refused_or_read(damages in damages(), packed in any::<bool>()) {
        let mut bytes = short_trace();
        if packed {
            bytes = gzip(&bytes);
        }
        damage(&mut bytes, &damages);
        try_any(&bytes);
    }

    #[test]
    fn damaged_lotus_logs_are_refused_or_read(
        first in damages(), second in damages(), which in 0..3u8,
    ) {
        let (mut main, mut worker) = lotus();
        if which != 1 {
            damage(&mut main, &first);
        }
        if which != 0 {
            damage(&mut worker, &second);
        }
        try_lotus(&main, &worker);
    }

    #[test]
    fn damaged_sqlite_files_are_refused_or_read(damages in damages()) {
        let mut bytes = std::fs::read(data("spdl/pipeline.sqlite")).expect("there");
        damage(&mut bytes, &damages);
        try_any(&bytes);
    }
}

/// Tries random corruption. Run the test longer with `LOADSCOPE_FUZZ=1000000 cargo test -p loadscope-exchange fuzz`.
#[test]
fn fuzz_damaged_files_are_refused_or_read() {
    let wanted = std::env::var("LOADSCOPE_FUZZ").ok();
    let executions: u64 = wanted.and_then(|n| n.parse().ok()).unwrap_or(500);
    let seed = std::env::var("LOADSCOPE_FUZZ_SEED").ok();
    let mut state: u64 = seed.and_then(|n| n.parse().ok()).unwrap_or(7);
    let mut next = move || {
        // The numbers are from SplitMix64. The same seed results in the same sequence.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    let trace = short_trace();
    let (main, worker) = lotus();
    let sqlite = std::fs::read(data("spdl/pipeline.sqlite")).expect("there");
    let started = Instant::now();
    let mut opened = 0u64;
    for k in 0..executions {
        let count = 1 + next() % 5;
        let damages: Vec<Damage> = (0..count)
            .map(|_| {
                let at = (next() >> 11) as f64 / (1u64 << 53) as f64;
                (at, (next() % 6) as u8, next() as u8)
            })
            .collect();
        // Loadscope parses traces and logs, SQLite parses SQLite files.
        let result = match k % 8 {
            0..4 => {
                let mut bytes = trace.clone();
                damage(&mut bytes, &damages);
                try_bytes("t", &bytes)
            }
            4 => {
                let mut bytes = gzip(&trace);
                damage(&mut bytes, &damages);
                try_bytes("t.gz", &bytes)
            }
            5 => {
                let mut bytes = sqlite.clone();
                damage(&mut bytes, &damages);
                try_bytes("s", &bytes)
            }
            _ => {
                let mut bytes = if k % 8 == 6 {
                    main.clone()
                } else {
                    worker.clone()
                };
                damage(&mut bytes, &damages);
                try_bytes("l_main_pid_1", &bytes)
            }
        };
        if let Ok((run, _)) = result {
            opened += 1;
            if k % 64 == 0 {
                examine(&run);
            }
        }
    }
    println!(
        "{executions} executions, {opened} opened, {:?}",
        started.elapsed()
    );
    assert!(
        opened > executions / 50,
        "the damages are too great to test anything"
    );
}

#[test]
fn halves_of_real_traces_open_up_to_the_cut() {
    let whole = gunzip("profiler/workers.json.gz");
    let (full, cut) = try_bytes("w.json", &whole).expect("sound");
    assert!(!cut);
    let (half, cut) = try_bytes("w.json", &whole[..whole.len() / 2]).expect("the first half");
    assert!(cut);
    let (full, half) = (full.batches().len(), half.batches().len());
    assert!(half > 2 && half < full, "{half} {full}");
    let packed = std::fs::read(data("profiler/workers.json.gz")).expect("there");
    let (run, cut) = try_bytes("w", &packed[..packed.len() * 2 / 3]).expect("the first half");
    assert!(cut && run.batches().len() > 2);
    let (main, _) = lotus();
    let (run, cut) = try_bytes("x_main_pid_1", &main[..main.len() - 5]).expect("but the last line");
    assert!(cut && !run.batches().is_empty());
}

#[test]
fn refusals_name_the_fault_and_the_valid_formats() {
    let said = |bytes: &[u8]| match try_bytes("f", bytes) {
        Ok(_) => panic!("it opens"),
        Err(e) => e.to_string(),
    };
    for (bytes, word) in [
        (&b"\x80\x04\x95"[..], "pickle"),
        (
            br#"{"traceEvents":[{"ph":"X","name":"aten::mm","ts":1,"dur":1}]}"#,
            "no DataLoader calls",
        ),
        (
            br#"{"traceEvents":[],"otherData":{"writer":"loadscope 1"}}"#,
            "open the recording itself",
        ),
        (br#"{"traceEvents":[}"#, "damaged at byte"),
        (b"SBatchPreprocessed_0,1,2\n", "only workers"),
        (b"SBatchWait_0,1,2\nSBatchWait_1,x,2\n", "in line 2 of f"),
        (&gzip(b"{\"loadscope\":1}\n"), "gzip"),
    ] {
        let text = said(bytes);
        assert!(text.contains(word), "{text}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let error = try_open(folder.path())
        .map(|_| ())
        .expect_err("nothing in it");
    assert!(
        error.to_string().contains("contains no LotusTrace logs"),
        "{error}"
    );
    let path = folder.path().join("other.sqlite");
    let file = rusqlite::Connection::open(&path).expect("a new file");
    file.execute_batch("CREATE TABLE t (x); CREATE VIEW task_stats AS SELECT 1 AS timestamp;")
        .expect("SQL");
    drop(file);
    let error = try_open(&path).map(|_| ()).expect_err("not SPDL's");
    assert!(
        error.to_string().contains("the tables task_stats"),
        "{error}"
    );
}
