//! Damaged variants of a valid file. A separate thread reads each variant.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use loadscope_formats::{FormatError, Rows};

use super::{row, write};

/// Time limit for a damaged file of a few kilobytes on a busy host.
const DEADLINE: Duration = Duration::from_secs(60);

/// A damaged file. `refused` is false if the damage may only change a value, such as a flipped bit in a number.
pub struct Damaged {
    pub name: String,
    pub bytes: Vec<u8>,
    pub refused: bool,
}

impl Damaged {
    /// Creates a file that must be refused.
    pub fn refused(name: impl Into<String>, bytes: Vec<u8>) -> Self {
        Self {
            name: name.into(),
            bytes,
            refused: true,
        }
    }

    /// Creates a file that may have other values, but must not end the process.
    pub fn survived(name: impl Into<String>, bytes: Vec<u8>) -> Self {
        Self {
            refused: false,
            ..Self::refused(name, bytes)
        }
    }
}

/// Returns the usual corruption of any format: truncation, flipped bytes, zeroed bytes, duplication, other content.
pub fn usual(right: &[u8]) -> Vec<Damaged> {
    let mut all = Vec::new();
    for share in [0, 1, 2, 5, 10, 25, 50, 75, 90, 99] {
        let cut = right.len() * share / 100;
        all.push(Damaged::survived(
            format!("cut off at {share} %"),
            right[..cut].to_vec(),
        ));
    }
    all.push(Damaged::survived(
        "without its last byte",
        right[..right.len() - 1].to_vec(),
    ));
    // A fixed random generator flips the same bytes in each run.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    for round in 0..60 {
        let mut bytes = right.to_vec();
        // Two thirds of the rounds hit the headers at the start and the end.
        let zone = match round % 3 {
            0 => 0..bytes.len().min(160),
            1 => bytes.len().saturating_sub(160)..bytes.len(),
            _ => 0..bytes.len(),
        };
        for _ in 0..=round % 4 {
            let at = zone.start + next(zone.len());
            bytes[at] = match next(3) {
                0 => 0xff,
                1 => bytes[at] ^ (1 << next(8)),
                _ => next(256) as u8,
            };
        }
        all.push(Damaged::survived(format!("flipped bytes, {round}"), bytes));
    }
    let mut zeros = right.to_vec();
    let half = zeros.len() / 2;
    zeros[half..].fill(0);
    all.push(Damaged::survived("second half zeros", zeros));
    let mut zeros = right.to_vec();
    zeros[..half].fill(0);
    all.push(Damaged::survived("first half zeros", zeros));
    all.push(Damaged::survived("twice", right.repeat(2)));
    all.push(Damaged::survived(
        "backwards",
        right.iter().rev().copied().collect(),
    ));
    all.push(Damaged::survived("0xff", vec![0xff; 4096]));
    all
}

/// Reads each damaged file with `open`. Returns the number of refused files.
pub fn endure(
    name: &str,
    all: Vec<Damaged>,
    open: impl Fn(&Path) -> Result<Box<dyn Rows>, FormatError> + Send + Sync + 'static,
) -> usize {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let open = std::sync::Arc::new(open);
    let mut refused = 0;
    for (at, damaged) in all.into_iter().enumerate() {
        let path: PathBuf = dir.path().join(format!("{at}")).join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        write(&path, &damaged.bytes);
        let (send, receive) = mpsc::channel();
        let open = std::sync::Arc::clone(&open);
        let reader = std::thread::Builder::new().name("reader".to_owned());
        let thread = reader.spawn(move || {
            let read = open(&path).and_then(|data| {
                let rows = data.len();
                // Only the first and last rows are read, because a damaged file may declare a billion.
                let few = (0..rows.min(200)).chain(rows.saturating_sub(200)..rows);
                few.map(|index| row(&*data, index).map(|_| ()))
                    .collect::<Result<Vec<_>, _>>()
                    .map(|_| ())
            });
            let _ = send.send(read);
        });
        let thread = thread.expect("a thread");
        let read = match receive.recv_timeout(DEADLINE) {
            Ok(read) => read,
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("{}: no end", damaged.name),
            Err(mpsc::RecvTimeoutError::Disconnected) => panic!("{}: a panic", damaged.name),
        };
        thread.join().expect("it ended");
        match read {
            Ok(()) => assert!(!damaged.refused, "{}: it was read", damaged.name),
            Err(error) => {
                refused += 1;
                check(&damaged.name, &error);
            }
        }
    }
    refused
}

/// Checks that an error is one line with the file and a remedy.
fn check(name: &str, error: &FormatError) {
    let text = error.to_string();
    let good = !error.place.source.is_empty()
        && !error.reason.is_empty()
        && error.remedy.starts_with(|c: char| c.is_uppercase())
        && !text.contains('\n')
        && text.len() < 1000;
    assert!(good, "{name}: {text:?}");
}
