//! Small damaged files that decompress to a large size: the memory of repair stays bounded. There is only one test, so that the program's
//! peak memory belongs to it.

#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]

use std::io::Cursor;
use std::time::{Duration, Instant};

use loadscope_trace::{Damage, repair};

/// Returns the peak memory of the program in MiB, or 0 if unknown.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    let kib = line.and_then(|l| l.trim().trim_end_matches(" kB").parse().ok());
    kib.unwrap_or(0u64) >> 10
}

/// Returns a frame with a window of 128 MiB and RLE blocks, each with one byte and its number of repetitions.
fn repeated(byte: u8, megabytes: usize) -> Vec<u8> {
    const BLOCK: u32 = 1 << 17;
    let count = (megabytes << 20) / BLOCK as usize;
    let mut bytes = vec![0x28, 0xB5, 0x2F, 0xFD, 0, 17 << 3];
    for k in 0..count {
        let is_last = u32::from(k + 1 == count);
        bytes.extend(&(BLOCK << 3 | 1 << 1 | is_last).to_le_bytes()[..3]);
        bytes.push(byte);
    }
    bytes
}

fn repaired(bytes: Vec<u8>) -> Damage {
    let longest = bytes.len();
    let mut last = String::new();
    let damage = repair(Cursor::new(bytes), |line| {
        assert!(
            line.text.len() < longest.max(1_000),
            "what was not there is kept"
        );
        last = String::from_utf8_lossy(line.text).into_owned();
        Ok(())
    });
    let damage = damage.expect("there is a header");
    assert!(last.contains("run_ended"), "{last}");
    damage
}

#[test]
fn repair_of_decompression_bombs_uses_bounded_memory() {
    let (start, before) = (Instant::now(), peak_mib());
    let header = zstd::bulk::compress(b"{\"loadscope\":1}\n", 1).expect("a vector");
    let end = zstd::bulk::compress(b"\n{\"t\":7,\"e\":\"run_ended\"}\n", 1).expect("a vector");
    for byte in [b' ', b'x', b'{', b'\n', 0] {
        let bomb = repeated(byte, 400);
        assert!(bomb.len() < 20_000);
        let damage = repaired([&header[..], &bomb, &end].concat());
        assert_eq!(
            (damage.kept, damage.is_none()),
            (1, byte == b'\n'),
            "{byte}"
        );
        // The same frame is damaged in the middle.
        let half = &bomb[..bomb.len() / 2];
        let damage = repaired([&header[..], half, &[0xFF; 40], &end].concat());
        assert!(!damage.is_none() && damage.kept == 1, "{damage:?}");
    }
    // The lines of this plain recording exceed the limit.
    let long = |byte: u8| {
        let line = vec![byte; 70 << 20];
        [
            b"{\"loadscope\":1}\n",
            &line[..],
            b"\n{\"t\":7,\"e\":\"run_ended\"}\n",
        ]
        .concat()
    };
    for byte in *b" x" {
        let damage = repaired(long(byte));
        assert_eq!((damage.lost, damage.gaps[0].lines), (1, Some((2, 2))));
    }
    let grown = peak_mib() - before;
    println!("{grown} MiB, {:?}", start.elapsed());
    assert!(grown < 500, "{grown} MiB");
    assert!(
        start.elapsed() < Duration::from_secs(120),
        "{:?}",
        start.elapsed()
    );
}
