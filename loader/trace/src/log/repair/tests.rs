use std::io::Cursor;

use super::*;
use crate::log::checksums::CHUNK;
use crate::{Compression, Event, EventKind, LogReader, LogWriter, Nanos, RunId};

fn repaired(bytes: &[u8]) -> Result<(Damage, Vec<String>), LogError> {
    let mut kept = Vec::new();
    let damage = repair(Cursor::new(bytes), |line| {
        let text = String::from_utf8(line.text.to_vec()).expect("only sound lines are kept");
        kept.push(text);
        Ok(())
    })?;
    Ok((damage, kept))
}

fn repair_error(bytes: &[u8]) -> String {
    repaired(bytes).expect_err("it is refused").to_string()
}

const HEADER: &str = "{\"loadscope\":1,\"writer\":\"by hand\"}";

/// Returns a number that compresses badly.
fn epoch(k: u64) -> u32 {
    (k as u32).wrapping_mul(2_654_435_761)
}

fn line(k: u64) -> String {
    format!(
        "{{\"t\":{k},\"e\":\"epoch_started\",\"epoch\":{}}}",
        epoch(k)
    )
}

/// Returns a header and lines with their line numbers as times.
fn by_hand(lines: u64) -> Vec<u8> {
    let lines = (2..=lines).map(line);
    let all: Vec<String> = std::iter::once(HEADER.to_owned()).chain(lines).collect();
    (all.join("\n") + "\n").into_bytes()
}

/// Returns the same lines, compressed by [`LogWriter`] in frames of `frame` bytes of text.
fn packed(lines: u64, frame: u64) -> Vec<u8> {
    let mut log = LogWriter::new(Vec::new(), Compression::Zstd)
        .expect("a vector")
        .with_frame_size(frame);
    for k in 2..=lines {
        let kind = EventKind::EpochStarted { epoch: epoch(k) };
        let (at, run) = (Nanos(k as i64), RunId(0));
        log.write(&Event { at, run, kind }).expect("a vector");
        if k % 500 == 0 {
            log.flush().expect("a vector");
        }
    }
    log.finish().expect("a vector")
}

fn at(text: &[u8], wanted: &str) -> usize {
    let wanted = wanted.as_bytes();
    let found = text.windows(wanted.len()).position(|w| w == wanted);
    found.expect("it is there")
}

/// Returns the positions of frames and checksums.
fn signs(bytes: &[u8]) -> Vec<usize> {
    let is_sign =
        |four: &[u8]| four == [0x28, 0xB5, 0x2F, 0xFD] || four == [0x5B, 0x2A, 0x4D, 0x18];
    let all = bytes
        .windows(4)
        .enumerate()
        .filter(|(_, four)| is_sign(four));
    all.map(|(k, _)| k).collect()
}

#[test]
fn lost_lines_are_reported_with_their_place() {
    let mut text = by_hand(9);
    let place = at(&text, &line(4));
    text[place..place + 5].copy_from_slice(b"xxxxx");
    let place = at(&text, &line(5));
    text[place] = b'[';
    let (damage, kept) = repaired(&text).expect("a recording");
    let begin = at(&text, "xxxxx") as u64;
    let gap = Gap {
        lines: Some((4, 5)),
        bytes: begin..begin + (line(4) + &line(5)).len() as u64 + 2,
        after: Some(Nanos(3)),
        before: Some(Nanos(6)),
    };
    assert_eq!(damage.gaps, std::slice::from_ref(&gap));
    assert_eq!(
        (damage.kept, damage.lost, damage.bytes),
        (6, 2, gap.bytes.end - gap.bytes.start)
    );
    assert!(!damage.lost_is_at_least && !damage.cut && !damage.header_replaced && !damage.packed);
    assert_eq!(kept[0], HEADER);
    assert_eq!(kept[1..], [2, 3, 6, 7, 8, 9].map(line));
    assert!(repaired(&by_hand(9)).expect("a recording").0.is_none());
}

#[test]
fn twenty_gaps_are_listed_and_the_others_counted() {
    let mut text = by_hand(100);
    for k in (3..=99).step_by(2) {
        let place = at(&text, &line(k));
        text[place] = b'?';
    }
    let (damage, _) = repaired(&text).expect("a recording");
    assert_eq!(
        (damage.gaps.len(), damage.more_gaps, damage.lost),
        (20, 29, 49)
    );
}

#[test]
fn a_lost_header_is_replaced() {
    for (from, to) in [
        ("{\"loadscope\":1", "{\"loadscqpe\":1"),
        ("by hand\"", "by hand "),
    ] {
        let text = String::from_utf8(by_hand(5))
            .expect("text")
            .replace(from, to);
        let (damage, kept) = repaired(text.as_bytes()).expect("the rest is one");
        assert!(damage.header_replaced && damage.lost == 1, "{damage:?}");
        assert!(
            kept[0].starts_with("{\"loadscope\":3,\"writer\":\"loadscope "),
            "{}",
            kept[0]
        );
        assert_eq!(kept[1..], [2, 3, 4, 5].map(line));
    }
    // The header is not the first line, or other text precedes it.
    for before in ["\u{feff}", "\n\n", "garbage\n", "garbage"] {
        let text = [before.as_bytes(), &by_hand(3)].concat();
        let (damage, kept) = repaired(&text).expect("a recording");
        assert!(!damage.header_replaced, "{before:?}");
        assert_eq!(kept, [HEADER.to_owned(), line(2), line(3)]);
    }
}

#[test]
fn a_file_without_a_valid_line_is_refused() {
    for text in [
        "",
        "\n",
        "hello\n",
        "{\"traceEvents\": []}\n",
        "{\"t\":1}\n[1,2]\n",
        "\0\0\0",
    ] {
        assert!(
            repair_error(text.as_bytes()).contains("it contains no line"),
            "{text}"
        );
    }
    let zeros = zstd::bulk::compress(&[0; 100_000], 3).expect("a vector");
    assert!(repair_error(&zeros).contains("it contains no line"));
    let newer = repair_error(b"{\"loadscope\":4}\n{\"t\":0,\"e\":\"run_ended\"}\n");
    assert!(newer.contains("version 4"), "{newer}");
}

#[test]
fn a_line_after_one_without_a_newline_is_kept() {
    let text = String::from_utf8(by_hand(6)).expect("text");
    let joined = text.replace(&format!("{}\n", line(3)), &line(3));
    let (damage, kept) = repaired(joined.as_bytes()).expect("a recording");
    assert_eq!(kept[1..], [2, 4, 5, 6].map(line));
    assert_eq!((damage.lost, damage.gaps[0].lines), (1, Some((3, 3))));
    // Zeros instead of the line end leave the line itself intact.
    let zeros = text.replace(&format!("{}\n", line(3)), &format!("{}\0\0\0", line(3)));
    let (damage, kept) = repaired(zeros.as_bytes()).expect("a recording");
    assert_eq!(kept[1..], [2, 3, 4, 5, 6].map(line));
    assert!(damage.lost_is_at_least && damage.bytes == 3, "{damage:?}");
}

#[test]
fn a_truncated_file_ends_with_its_last_whole_line() {
    let text = by_hand(5);
    let (damage, kept) = repaired(&text[..text.len() - 4]).expect("a recording");
    assert!(damage.cut && kept.len() == 4, "{damage:?}");
    assert!(
        repaired(&text[..text.len() - 1])
            .expect("whole")
            .0
            .is_none()
    );
    let bytes = packed(5_000, 1 << 20);
    let (damage, kept) = repaired(&bytes[..bytes.len() / 2]).expect("a recording");
    assert!(
        damage.cut && damage.unconfirmed == 0 && !kept.is_empty(),
        "{damage:?}"
    );
}

#[test]
fn checksums_confirm_the_lines_around_damage_in_a_frame() {
    let whole = packed(40_000, 1 << 20);
    let text = zstd::decode_all(&whole[..]).expect("our own");
    assert!(text.len() > 40 * CHUNK);
    let frame = signs(&whole);
    let middle = frame[0] + (frame[1] - frame[0]) / 2;
    let mut bytes = whole.clone();
    bytes[middle..middle + 100].fill(0);
    let (damage, kept) = repaired(&bytes).expect("a recording");
    assert_eq!(
        (damage.unconfirmed, damage.cut, damage.gaps.len()),
        (0, false, 1),
        "{damage:?}"
    );
    assert_eq!(damage.kept + damage.lost + 1, 40_000);
    let lines = damage.gaps[0].lines.expect("the checksums say which");
    assert_eq!(
        (damage.gaps[0].bytes.start, damage.lost),
        (0, lines.1 - lines.0 + 1)
    );
    assert!(lines.0 > 8_000, "what comes before it stays: {lines:?}");
    let wanted: Vec<String> = (2..=40_000)
        .filter(|k| !(lines.0..=lines.1).contains(k))
        .map(line)
        .collect();
    assert!(kept[1..] == wanted);
}

#[test]
fn missing_frames_are_counted_from_the_next_frame() {
    let whole = packed(10_000, 50_000);
    let sign = signs(&whole);
    assert!(
        sign.len() > 8 && sign.len().is_multiple_of(2),
        "frames and their checksums"
    );
    // Two frames are missing with their checksums.
    let bytes = [&whole[..sign[2]], &whole[sign[6]..]].concat();
    let (damage, _) = repaired(&bytes).expect("a recording");
    assert_eq!(damage.kept + damage.lost + 1, 10_000, "{damage:?}");
    assert!(
        !damage.lost_is_at_least && damage.lost > 1_000,
        "{damage:?}"
    );
    let gap = &damage.gaps[0];
    let (first, last) = gap.lines.expect("known");
    assert_eq!(
        (gap.after, gap.before),
        (Some(Nanos(first as i64 - 1)), Some(Nanos(last as i64 + 1)))
    );
}

#[test]
fn lines_before_damage_are_unconfirmed_without_checksums() {
    let text = by_hand(40_000);
    let mut bytes = zstd::bulk::compress(&text, 3).expect("a vector");
    assert!(repaired(&bytes).expect("sound").0.is_none());
    let middle = bytes.len() / 2;
    bytes[middle..middle + 5_000].fill(0xFF);
    let (damage, kept) = repaired(&bytes).expect("a recording");
    assert!(kept.len() > 1_000, "{damage:?}");
    assert_eq!(damage.unconfirmed, damage.kept);
    assert!(damage.lost_is_at_least && damage.packed);
}

#[test]
fn concatenated_recordings_are_read_as_one() {
    let both = [packed(3_000, 20_000), packed(2_000, 20_000)].concat();
    let (damage, kept) = repaired(&both).expect("a recording");
    // The second header is not an event.
    assert_eq!((kept.len(), damage.lost), (4_999, 1), "{damage:?}");
    assert_eq!(damage.gaps[0].lines, Some((3_001, 3_001)));
}

#[test]
fn frames_crafted_to_be_slow_are_refused_in_time() {
    // Each frame begins with a valid block and continues with the same blocks of 128 KiB. The last of these is damaged.
    let repeated = [(128 << 10 << 3) as u8 | 2, 0, 16, b' '];
    let mut bytes = Vec::new();
    for k in (1..2_000u32).rev() {
        bytes.extend([0x28, 0xB5, 0x2F, 0xFD, 0, 7 << 3]);
        let rest = 12 * (k - 1);
        bytes.extend(&(rest.min(100_000) << 3).to_le_bytes()[..3]);
        bytes.extend([0; 3]);
    }
    for _ in 0..2_000 {
        bytes.extend(repeated);
    }
    bytes.extend([0xFF; 4]);
    let before = std::time::Instant::now();
    assert!(repair_error(&bytes).contains("it contains no line"));
    assert!(before.elapsed().as_secs() < 20, "{:?}", before.elapsed());
}

#[test]
fn files_with_checksums_open_in_both_readers() {
    let bytes = packed(10_000, 20_000);
    let reader = LogReader::new(Cursor::new(bytes.clone())).expect("our own");
    let events: Vec<Event> = reader.map(|e| e.expect("sound")).collect();
    assert_eq!(events.len(), 9_999);
    let mut by_block = LogReader::new(Cursor::new(bytes)).expect("our own");
    let (mut lines, mut count) = (crate::Lines::default(), 0);
    while by_block.read_lines(&mut lines) {
        let block = lines.parse();
        assert!(block.failed.is_none() && !block.cut);
        count += block.events.len();
    }
    assert_eq!(count, 9_999);
}
