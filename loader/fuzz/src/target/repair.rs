//! Damaged recordings and their repair.

use std::io::Cursor;

use loadscope_trace::{Compression, Damage, LogWriter, repair};

use super::events::{Bytes, histories};
use super::recording::{self, Outcome, by_block, by_line};

/// Exclusive limit for the number of corruptions of a file.
const MAX_CORRUPTIONS: u8 = 5;

pub fn run(bytes: &[u8], thoroughly: bool) {
    let mut from = Bytes(bytes);
    let how = from.byte();
    let frame = u64::from(from.short());
    let harms: Vec<[u16; 3]> = (0..from.byte() % MAX_CORRUPTIONS)
        .map(|_| [u16::from(from.byte()), from.short(), from.short()])
        .collect();
    let (mut file, lines) = match how % 4 {
        // The random bytes are the file.
        0 => (from.0.to_vec(), None),
        1 => (
            copied(from.0.split(|b| *b == b'\n'), Compression::Zstd, frame),
            None,
        ),
        k => {
            let events = histories(&mut from);
            let text = recording::written(&events);
            let lines = text.split(|b| *b == b'\n').map(<[u8]>::to_vec);
            let lines: Vec<Vec<u8>> = lines.filter(|line| !line.is_empty()).collect();
            let packed = copied(lines.iter().map(Vec::as_slice), Compression::Zstd, frame);
            (if k == 2 { packed } else { text }, Some((lines, k == 2)))
        }
    };
    let whole = file.clone();
    harms.iter().for_each(|harm| corrupt(&mut file, *harm));
    let Ok((damage, kept)) = repaired(&file) else {
        assert!(lines.is_none() || whole != file, "it was sound");
        return;
    };
    if let Some((lines, packed)) = &lines {
        assert!(whole != file || damage.is_none(), "{damage:?}");
        // In a plain recording, a changed digit cannot be detected.
        assert!(!packed || invents_nothing(&damage, &kept, lines));
    }
    if damage.is_none() {
        let read = by_line(&file).expect("it is sound");
        assert_eq!((read.1, read.2), (false, None));
    }
    // The repaired recording is valid, and repair reports no damage.
    for compression in [Compression::None, Compression::Zstd] {
        let made = copied(kept.iter().map(|k| &k.0[..]), compression, frame);
        let (again, same) = repaired(&made).expect("it is sound");
        assert!(again.is_none() && again.kept == damage.kept, "{again:?}");
        assert!(same.iter().map(|k| &k.0).eq(kept.iter().map(|k| &k.0)));
        assert_sound(by_line(&made), damage.kept);
        assert_sound(by_block(&made), damage.kept);
        if thoroughly {
            recording::run(&made, false);
        }
    }
}

/// Kept line, and true if it is certain.
type Kept = (Vec<u8>, bool);

fn repaired(file: &[u8]) -> Result<(Damage, Vec<Kept>), ()> {
    let mut kept: Vec<Kept> = Vec::new();
    let damage = repair(Cursor::new(file), |line| {
        kept.push((line.text.to_vec(), line.is_certain));
        Ok(())
    });
    match damage {
        Ok(damage) => {
            assert_eq!(damage.kept + 1, kept.len() as u64, "a header and events");
            assert!(damage.gaps.len() <= Damage::LISTED);
            assert!(
                damage
                    .gaps
                    .windows(2)
                    .all(|two| two[0].bytes.start <= two[1].bytes.start)
            );
            Ok((damage, kept))
        }
        Err(e) => {
            assert!(
                e.to_string().len() < 2_000,
                "a refusal is a sentence, not a page"
            );
            Err(())
        }
    }
}

fn assert_sound(read: Option<Outcome>, events: u64) {
    let (read, cut, failed) = read.expect("it opens");
    assert_eq!((read.len() as u64, cut, failed), (events, false, None));
}

/// Returns true if every certain line is an original one, in the same order.
fn invents_nothing(damage: &Damage, kept: &[Kept], lines: &[Vec<u8>]) -> bool {
    let certain = kept.iter().skip(usize::from(damage.header_replaced));
    let mut lines = lines.iter();
    let mut certain = certain.filter(|(_, is_certain)| *is_certain);
    certain.all(|(line, _)| lines.any(|one| one == line))
}

/// Returns a recording of these lines.
pub fn copied<'a>(
    lines: impl Iterator<Item = &'a [u8]>,
    compression: Compression,
    frame: u64,
) -> Vec<u8> {
    let log = LogWriter::without_header(Vec::new(), compression).expect("a vector");
    let mut log = log.with_frame_size(frame);
    for (k, line) in lines.enumerate() {
        log.copy_line(line).expect("a vector");
        if k % 7 == 3 {
            log.flush().expect("a vector");
        }
    }
    log.finish().expect("a vector")
}

/// Changes, removes, inserts or overwrites bytes.
pub fn corrupt(file: &mut Vec<u8>, [how, at, much]: [u16; 3]) {
    let at = usize::from(at).min(file.len());
    let end = (at + usize::from(much) % 600).min(file.len());
    let value = (much >> 8) as u8;
    match how % 6 {
        0 => _ = file.get_mut(at).map(|byte| *byte ^= 1 << (much % 8)),
        1 => _ = file.get_mut(at).map(|byte| *byte = value),
        2 => file[at..end].fill(0),
        3 => _ = file.drain(at..end),
        4 => {
            _ = file.splice(
                at..at,
                (0..much % 300).map(|k| (k as u8).wrapping_mul(value | 1)),
            )
        }
        _ => file.truncate(at),
    }
}
