//! Small files that decompress to a large size: memory and time stay bounded. There is only one test, so that the program's peak memory
//! belongs to it.
#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]
#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]

use std::io::{Cursor, Read, Write};
use std::time::{Duration, Instant};

use loadscope_trace::{LogReader, Run, read_log};

const HEADER: &str = "{\"loadscope\":1}\n";

/// Returns the peak memory of the program in MiB, or 0 if unknown.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    let kib = line.and_then(|l| l.trim().trim_end_matches(" kB").parse().ok());
    kib.unwrap_or(0u64) >> 10
}

fn compressed(pieces: impl IntoIterator<Item = String>) -> Vec<u8> {
    let mut zstd = zstd::Encoder::new(Vec::new(), 1).expect("an encoder");
    for piece in pieces {
        zstd.write_all(piece.as_bytes()).expect("a vector");
    }
    zstd.finish().expect("a vector")
}

/// Folds `bytes` as a file. Returns the run or the error.
fn opened(bytes: &[u8]) -> Result<Run, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bomb.jsonl.zst");
    std::fs::write(&path, bytes).expect("a small file");
    let mut run = Run::default();
    let outcome = read_log(&path, |event, _| {
        run.apply(&event);
        true
    });
    outcome.map(|_| run).map_err(|e| e.to_string())
}

/// Folds a file with many copies of `line`.
fn repeated(line: &str, times: usize) -> Result<Run, String> {
    let many = format!("{line}\n").repeat(1000);
    let pieces = std::iter::repeat_n(many, times / 1000);
    let bytes = compressed(std::iter::once(HEADER.to_owned()).chain(pieces));
    assert!(bytes.len() < 100_000, "{} bytes", bytes.len());
    opened(&bytes)
}

/// Folds a file with `count` lines after the header.
fn numbered(count: usize, line: impl Fn(usize) -> String) -> Run {
    let lines = (0..count).map(|k| line(k) + "\n");
    opened(&compressed(std::iter::once(HEADER.to_owned()).chain(lines))).expect("sound lines")
}

#[test]
fn decompression_bombs_use_bounded_memory_and_time() {
    let start = Instant::now();
    let before = peak_mib();
    no_time_passes();
    one_line_without_end();
    forty_gigabytes_of_zeros();
    a_window_that_is_too_large();
    everything_in_flight();
    epochs_and_workers();
    gaps();
    let grown = peak_mib() - before;
    println!("{grown} MiB, {:?}", start.elapsed());
    assert!(grown < 700, "{grown} MiB");
    assert!(start.elapsed() < Duration::from_secs(60));
}

/// Events are held for sorting because times do not advance. They leave nothing in the run.
fn no_time_passes() {
    let run = repeated(r#"{"t":0,"e":"epoch_ended","epoch":0}"#, 2_000_000).expect("sound");
    assert_eq!(run.events(), 2_000_000);
    // Large events: 60 MiB of indices for batches of an epoch that never began.
    let zeros = "0,".repeat(500_000);
    let line = format!(r#"{{"t":0,"e":"dispatched","epoch":0,"batch":0,"indices":[{zeros}0]}}"#);
    let lines = std::iter::repeat_n(line + "\n", 60);
    let bytes = compressed(std::iter::once(HEADER.to_owned()).chain(lines));
    assert_eq!(opened(&bytes).expect("sound").batches().len(), 0);
    assert!(peak_mib() < 500, "{} MiB", peak_mib());
}

/// The header or a line has 200 MiB.
fn one_line_without_end() {
    let blank = || std::iter::repeat_n(" ".repeat(1 << 20), 200);
    let error = opened(&compressed(blank())).expect_err("no header");
    assert!(error.contains("first line"), "{error}");
    let rest = compressed(std::iter::once(HEADER.to_owned()).chain(blank()));
    let error = opened(&rest).expect_err("no line");
    assert!(error.contains("longer than 64 MiB"), "{error}");
    // A header is parsed as a whole, so its length is limited.
    let zeros = format!("{{\"loadscope\":1,\"x\":[{}0]}}\n", "0,".repeat(1 << 20));
    assert!(LogReader::new(Cursor::new(zeros.into_bytes())).is_err());
}

/// A file of less than 2 MiB decompresses to 40 GiB, as zeros or as empty lines, with or without a header.
fn forty_gigabytes_of_zeros() {
    const BLOCK: u32 = 1 << 17;
    // The closure returns a frame of RLE blocks, each with one byte and its number of repetitions.
    let repeated = |byte: u8, count: usize| {
        let mut bytes = vec![0x28, 0xB5, 0x2F, 0xFD, 0, 7 << 3];
        for k in 0..count {
            let is_last = u32::from(k + 1 == count);
            bytes.extend(&(BLOCK << 3 | 1 << 1 | is_last).to_le_bytes()[..3]);
            bytes.push(byte);
        }
        bytes
    };
    let count = (40 << 30) / BLOCK as usize;
    let zeros = repeated(0, count);
    assert!(zeros.len() < 2 << 20);
    let error = opened(&zeros).expect_err("no header");
    assert!(error.contains("first line"), "{error}");
    let header = compressed([HEADER.to_owned()]);
    let error = opened(&[&header[..], &zeros].concat()).expect_err("no line");
    assert!(error.contains("longer than 64 MiB"), "{error}");
    let lines = [&header[..], &repeated(b'\n', 1 << 6), &zeros].concat();
    assert!(opened(&lines).is_err());
}

/// Returns a frame with a window of `1 << log` bytes and one raw block.
fn frame(log: u8, text: &str) -> Vec<u8> {
    let mut frame = vec![0x28, 0xB5, 0x2F, 0xFD, 0, (log - 10) << 3];
    let block = 1 | (text.len() as u32) << 3;
    frame.extend(&block.to_le_bytes()[..3]);
    frame.extend(text.as_bytes());
    frame
}

fn a_window_that_is_too_large() {
    assert!(LogReader::new(Cursor::new(frame(27, HEADER))).is_ok());
    for log in [28, 31, 41] {
        assert!(LogReader::new(Cursor::new(frame(log, HEADER))).is_err());
    }
    // Several frames form one file. Here, a later frame has a window that is too large.
    let two = Cursor::new(frame(20, HEADER)).chain(Cursor::new(frame(31, "{}\n")));
    let mut reader = LogReader::new(two).expect("a sound first frame");
    assert!(reader.next().is_some_and(|e| e.is_err()));
    // This file has only empty frames.
    let empty = frame(10, "").repeat(10_000);
    assert!(LogReader::new(Cursor::new(empty)).is_err());
}

/// A maximum of batches is in flight in one lane.
fn everything_in_flight() {
    let count = 100_000;
    let run = numbered(3 * count, |k| match (k, k % count) {
        (0, _) => r#"{"t":0,"e":"epoch_started","epoch":0}"#.to_owned(),
        (k, idx) if k < count => {
            let idx = idx - 1;
            format!(r#"{{"t":{k},"e":"dispatched","epoch":0,"batch":{idx},"indices":[]}}"#)
        }
        (k, idx) if k < 2 * count => {
            format!(r#"{{"t":{k},"e":"entered","epoch":0,"batch":{idx},"stage":"held"}}"#)
        }
        (k, _) => format!(r#"{{"t":{k},"e":"consumer","waiting":{}}}"#, k % 2 == 0),
    });
    assert_eq!(run.batches().len(), count - 1);
    let mut pipeline = run.pipeline_after(count);
    assert_eq!(pipeline.batches().count(), count - 1);
    pipeline = run.pipeline_after(usize::MAX);
    assert_eq!(pipeline.batches().count(), count - 1);
    let rows = run.lanes().map(|(_, rows)| rows).max();
    assert_eq!(rows, Some(usize::from(u16::MAX)));
}

/// Many epochs and workers are looked up by number, the oldest first.
fn epochs_and_workers() {
    let count = 200_000;
    let run = numbered(4 * count, |k| {
        let number = k % count;
        match k / count {
            0 => format!(r#"{{"t":0,"e":"epoch_started","epoch":{number}}}"#),
            1 => r#"{"t":0,"e":"worker_started","worker":1,"seed":1}"#.to_owned(),
            2 => format!(r#"{{"t":0,"e":"epoch_ended","epoch":{number}}}"#),
            _ => r#"{"t":0,"e":"worker_ended","worker":0,"reason":"died"}"#.to_owned(),
        }
    });
    assert_eq!(
        (run.epochs().len(), run.anomalies().1),
        (count, count as u64)
    );
}

/// Each epoch has a batch with the largest accepted number.
fn gaps() {
    let run = numbered(2000, |k| match k % 2 {
        0 => format!(r#"{{"t":0,"e":"epoch_started","epoch":{k}}}"#),
        _ => {
            let epoch = k - 1;
            format!(r#"{{"t":0,"e":"dispatched","epoch":{epoch},"batch":1048576,"indices":[]}}"#)
        }
    });
    assert_eq!(run.batches().len(), 1);
}
