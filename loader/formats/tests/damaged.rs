//! Damaged files cause an error: no panic, no endless wait, no unbounded memory.
#![cfg(unix)]
#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]
#![allow(clippy::print_stderr, reason = "a test says what it compared")]

mod common;

use common::damage::{Damaged, endure, usual};
use common::{Options, open};

/// Memory limit of all tests in this file, MB.
const MOST_MB: u64 = 500;

/// Returns the peak memory of this process, MB, or 0 if the system does not report it.
fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    number.unwrap_or(0) / 1024
}

/// Reads all variants and checks that at least `least` are refused.
fn all(format: &'static str, file: &str, mut all: Vec<Damaged>, right: &[u8], least: usize) {
    all.extend(usual(right));
    let count = all.len();
    let refused = endure(file, all, move |path| {
        open(format, &[path.to_owned()], &Options::default())
    });
    let memory = peak_mb();
    eprintln!("{format}: {count} damaged files, {refused} refused, at most {memory} MB in use");
    assert!(memory < MOST_MB, "{memory} MB");
    assert!(refused >= least, "{refused} of {count}");
}

/// Lists damaged files, one per line: the name and the bytes.
macro_rules! damaged {
    ($($name:literal, $bytes:expr;)+) => { vec![$(($name, $bytes)),+] };
}

#[path = "damaged/arrays.rs"]
mod arrays;
#[path = "damaged/columns.rs"]
mod columns;
#[path = "damaged/every.rs"]
mod every;
#[path = "damaged/sounds.rs"]
mod sounds;
#[path = "damaged/tables.rs"]
mod tables;
