//! Damaged files: variants of a file that is right, each read to its end in a thread of its own.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use loadscope_formats::{FormatError, Rows};

use super::{row, write};

/// So long reading a damaged file of a few kilobytes may take, on a host that does other things as well.
const DEADLINE: Duration = Duration::from_secs(60);

/// A damaged file and whether it must be refused: a flipped bit in a number is another number.
pub struct Damaged {
    pub name: String,
    pub bytes: Vec<u8>,
    pub refused: bool,
}

impl Damaged {
    /// A file that must be refused.
    pub fn refused(name: impl Into<String>, bytes: Vec<u8>) -> Self {
        Self {
            name: name.into(),
            bytes,
            refused: true,
        }
    }

    /// A file that may be read as something else, but must not end the program.
    pub fn survived(name: impl Into<String>, bytes: Vec<u8>) -> Self {
        Self {
            refused: false,
            ..Self::refused(name, bytes)
        }
    }
}

/// What is damaged in the same ways whatever the format: cut off, with flipped bytes, filled with zeros, doubled, something else.
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
    // A generator of its own, so that the same bytes are flipped each time.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    for round in 0..60 {
        let mut bytes = right.to_vec();
        // Headers are at the begin and at the end: they are hit as often as all the rest.
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

/// Opens and reads each; `open` gets the path of a file with the damaged bytes. Returns how many were refused.
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
                // Of what says that it has a billion rows the first and the last are looked at.
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

/// An error is a sentence with the file, and says what to do.
fn check(name: &str, error: &FormatError) {
    let text = error.to_string();
    let good = !error.place.source.is_empty()
        && !error.reason.is_empty()
        && error.remedy.starts_with(|c: char| c.is_uppercase())
        && !text.contains('\n')
        && text.len() < 1000;
    assert!(good, "{name}: {text:?}");
}
