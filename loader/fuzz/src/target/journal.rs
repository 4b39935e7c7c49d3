//! A recording whose program ends at any moment. It is written in steps, flushed sometimes, truncated anywhere, and may have other data
//! after that.
//! Everything that was flushed before the truncation must be readable.

use std::cell::RefCell;
use std::io::{self, Cursor, Write};
use std::rc::Rc;

use loadscope_trace::{Compression, Event, LogWriter, repair};

use super::events::{Bytes, histories};
use super::recording::{by_block, by_line, fold, same, sorted, written};

/// Maximum size of data after the truncation, bytes: a lost block of a disk.
const LONGEST_TAIL: usize = 4096;

pub fn run(bytes: &[u8], thoroughly: bool) {
    let mut from = Bytes(bytes);
    let [how, every, tail] = [from.byte(), from.byte(), from.byte()];
    let (frame, cut) = (u64::from(from.short()), usize::from(from.short()));
    let compression = match how & 1 {
        0 => Compression::Zstd,
        _ => Compression::None,
    };
    // These are the events as a file returns them.
    let events = by_line(&written(&histories(&mut from)))
        .expect("our own header")
        .0;
    let (file, flushed) = steps(&events, compression, frame, usize::from(every % 32) + 1);
    let cut = cut * (file.len() + 1) / (usize::from(u16::MAX) + 1);
    let safe = flushed.iter().rev().find(|(length, _)| *length <= cut);
    let safe = safe.map_or(0, |(_, count)| *count);
    let mut left = file[..cut].to_vec();
    if how & 2 == 2 {
        // The file is truncated at a flush, because the data after it are undefined.
        let length = flushed.iter().rev().find(|(length, _)| *length <= cut);
        left.truncate(length.map_or(0, |(length, _)| *length));
        left.extend(
            (0..usize::from(tail) * LONGEST_TAIL / 255).map(|k| match how >> 2 & 3 {
                0 => 0,
                1 => 0xFF,
                _ => (k as u8).wrapping_mul(how | 1) ^ tail,
            }),
        );
    } else {
        opens(&left, &events, safe, thoroughly);
    }
    keeps(&left, &events, safe);
}

/// Returns the recording, and its size and number of events after each flush.
fn steps(
    events: &[Event],
    compression: Compression,
    frame: u64,
    every: usize,
) -> (Vec<u8>, Vec<(usize, usize)>) {
    let file = File::default();
    let mut log = LogWriter::new(file.clone(), compression)
        .expect("a vector")
        .with_frame_size(frame);
    let mut flushed = Vec::new();
    for (k, event) in events.iter().enumerate() {
        log.write(event).expect("a vector");
        if (k + 1) % every == 0 {
            log.flush().expect("a vector");
            flushed.push((file.0.borrow().len(), k + 1));
        }
    }
    log.finish().expect("a vector");
    (file.0.take(), flushed)
}

/// Checks that a truncated recording opens up to the truncation.
fn opens(left: &[u8], events: &[Event], safe: usize, thoroughly: bool) {
    let (lines, blocks) = (by_line(left), by_block(left));
    let (Some(lines), Some(blocks)) = (lines, blocks) else {
        assert_eq!(safe, 0, "what was flushed is gone");
        return;
    };
    assert_eq!((lines.1, &lines.2), (blocks.1, &blocks.2));
    assert_eq!((lines.0.len(), lines.2), (blocks.0.len(), None));
    assert!(lines.0.len() >= safe, "{} of {safe}", lines.0.len());
    same(&written(&events[..lines.0.len()]), &written(&lines.0));
    fold(&sorted(&lines.0), thoroughly);
}

/// Checks that repair keeps the flushed events, with any data after them.
fn keeps(left: &[u8], events: &[Event], safe: usize) {
    let mut kept = Vec::new();
    let result = repair(Cursor::new(left), |line| {
        kept.extend_from_slice(line.text);
        kept.push(b'\n');
        Ok(())
    });
    if result.is_err() {
        assert_eq!(safe, 0, "what was flushed is gone");
        return;
    }
    let before = written(&events[..safe]);
    assert!(
        kept.len() >= before.len() || safe == 0,
        "what was flushed is gone"
    );
    if safe > 0 {
        same(&before, &kept[..before.len()]);
    }
}

/// A growing file in memory.
#[derive(Clone, Default)]
struct File(Rc<RefCell<Vec<u8>>>);

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
