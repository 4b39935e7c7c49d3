//! Decompression bombs: memory stays bounded. The file has only one test, so that the peak memory of the process belongs to it.

#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]

mod support;

use std::io::{Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use support::try_bytes;

/// Returns the peak memory of the process, MiB. Returns 0 on systems that do not report it.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    let kib = line.and_then(|l| l.trim().trim_end_matches(" kB").parse().ok());
    kib.unwrap_or(0u64) >> 10
}

/// Compresses `start`, then `piece` repeated to this number of bytes, then `end`.
fn packed(start: &str, piece: &str, bytes: u64, end: &str) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    out.write_all(start.as_bytes()).expect("a vector");
    let block = piece.repeat((1 << 16) / piece.len());
    let mut all = std::io::repeat(0).take(bytes / block.len() as u64);
    let mut count = 0;
    while all.read(&mut [0]).expect("endless") > 0 {
        out.write_all(block.as_bytes()).expect("a vector");
        count += 1;
    }
    assert!(count > 0);
    out.write_all(end.as_bytes()).expect("a vector");
    out.finish().expect("a vector")
}

#[test]
fn decompression_bombs_use_bounded_memory() {
    const CALL: &str =
        r#"{"ph":"X","name":"enumerate(DataLoader)#X.__next__","pid":1,"tid":1,"ts":1,"dur":1}"#;
    let begin = r#"{"traceEvents":["#;
    let before = peak_mib();
    let size = 256 << 20;
    // The inputs are huge texts, nested objects, whitespace, numbers and name lists.
    for (start, piece, end) in [
        (
            r#"{"traceEvents":[{"name":""#,
            "aaaaaaaaaaaaaaaa",
            r#""}]}"#,
        ),
        (r#"{"traceEvents":[],"x":"#, "[[[[{\"a\":[", ""),
        (begin, "                ", "]}"),
        (r#"{"traceEvents":[{"ts":"#, "9999999999999999", "}]}"),
        (r#"{"traceEvents":[],"#, r#""name":"value","#, r#""z":1}"#),
    ] {
        let result = try_bytes("bomb.json.gz", &packed(start, piece, size, end));
        assert!(result.is_err(), "there is no call in it");
    }
    // All calls have the same time, so they are nested. Only one is kept.
    let calls = packed(&format!("{begin}{CALL}"), &format!(",{CALL}"), size, "]}");
    let (run, _) = try_bytes("calls.json.gz", &calls).expect("sound");
    assert_eq!(run.batches().len(), 0);
    // Each call is in a thread of its own.
    let mut many = String::from(begin);
    for k in 0..20_000 {
        many += &CALL.replace("\"tid\":1", &format!("\"tid\":{k}"));
        many.push(',');
    }
    let (run, _) = try_bytes("threads.json", many.as_bytes()).expect("cut, but sound");
    assert_eq!(run.dropped(), 20_000 - 1024);
    let grown = peak_mib() - before;
    println!("{grown} MiB");
    assert!(grown < 200, "{grown} MiB");
}
