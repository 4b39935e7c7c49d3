//! A folder of LotusTrace logs. A line that starts with `=` starts another file.

use std::fs;

use super::import;
use crate::scratch;

/// File names. The first process is the main one, and one file belongs to another run.
const NAMES: [&str; 5] = [
    "run_main_pid_1",
    "run_worker_pid_2",
    "run_worker_pid_3",
    "other_main_pid_4",
    "run_worker_pid_18446744073709551615",
];

pub fn run(bytes: &[u8], thoroughly: bool) {
    let files = split(bytes, NAMES.len());
    scratch::with(|folder| {
        let folder = folder.join("lotus");
        let _ = fs::create_dir(&folder);
        for (k, name) in NAMES.iter().enumerate() {
            let path = folder.join(name);
            match files.get(k) {
                Some(text) => fs::write(&path, text).expect("there is room"),
                None => _ = fs::remove_file(&path),
            }
        }
        // The input is the folder, or one of its logs.
        match bytes.last() {
            Some(b';') => import::open(&folder.join(NAMES[0]), thoroughly),
            _ => import::open(&folder, thoroughly),
        }
    });
}

/// Splits `bytes` at lines that start with `=`. The last of `most` parts contains the rest.
pub fn split(bytes: &[u8], most: usize) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let mut rest = bytes;
    while parts.len() + 1 < most
        && let Some(at) = rest.windows(2).position(|w| w == b"\n=")
    {
        parts.push(&rest[..=at]);
        let after = &rest[at + 2..];
        let line = after.iter().position(|b| *b == b'\n');
        rest = &after[line.map_or(after.len(), |end| end + 1)..];
    }
    parts.push(rest);
    parts
}
