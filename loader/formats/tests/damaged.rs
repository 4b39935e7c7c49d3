//! Damaged files end in a sentence: no panic, no waiting without end, no memory without bound.
#![cfg(unix)]
#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]
#![allow(clippy::print_stderr, reason = "a test says what it compared")]

mod common;

use common::damage::{Damaged, endure, usual};
use common::{Options, open};

/// What the tests of this file may take together, MB.
const MOST_MB: u64 = 500;

/// The most memory that this process ever had in use, where the system says so.
fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    number.unwrap_or(0) / 1024
}

/// Reads all variants; at least `least` of them must be refused.
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

#[path = "damaged/arrays.rs"]
mod arrays;
#[path = "damaged/columns.rs"]
mod columns;
#[cfg(all(feature = "sql", feature = "tar"))]
#[path = "damaged/every.rs"]
mod every;
#[path = "damaged/sounds.rs"]
mod sounds;
#[path = "damaged/tables.rs"]
mod tables;
