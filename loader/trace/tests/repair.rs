//! Repair of damaged recordings keeps every intact line and adds nothing.

use std::io::Cursor;
use std::ops::Range;

use loadscope_trace::{Compression, Damage, Event, LogError, LogReader, LogWriter, repair};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::history;

use history::{history, moves};

/// Kept line, and true if it is certain.
type Kept = (Vec<u8>, bool);

fn repaired(bytes: &[u8]) -> Result<(Damage, Vec<Kept>), LogError> {
    let mut kept = Vec::new();
    let damage = repair(Cursor::new(bytes), |line| {
        kept.push((line.text.to_vec(), line.is_certain));
        Ok(())
    })?;
    Ok((damage, kept))
}

/// Returns a recording of the kept lines.
fn copied(kept: &[Kept], compression: Compression) -> Vec<u8> {
    let mut log = LogWriter::without_header(Vec::new(), compression).expect("a vector");
    for (line, _) in kept {
        log.copy_line(line).expect("a vector");
    }
    log.finish().expect("a vector")
}

fn plain(events: &[Event]) -> Vec<u8> {
    written(events, Compression::None, u64::MAX, usize::MAX)
}

/// Returns a recording with frames of `frame` bytes of text, flushed after every `flush` events.
fn written(events: &[Event], compression: Compression, frame: u64, flush: usize) -> Vec<u8> {
    let mut log = LogWriter::new(Vec::new(), compression)
        .expect("a vector")
        .with_frame_size(frame);
    for (k, event) in events.iter().enumerate() {
        log.write(event).expect("a vector");
        if k % flush == flush - 1 {
            log.flush().expect("a vector");
        }
    }
    log.finish().expect("a vector")
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    let lines = text.split(|b| *b == b'\n');
    lines.filter(|line| !line.is_empty()).collect()
}

/// Returns true if `all` contains the lines of `some` in the same order.
fn is_subsequence<'a>(some: impl IntoIterator<Item = &'a [u8]>, all: &[&[u8]]) -> bool {
    let mut all = all.iter();
    some.into_iter().all(|line| all.any(|one| *one == line))
}

/// Returns the ranges of the frames with text in a compressed recording.
fn frames(packed: &[u8]) -> Vec<Range<usize>> {
    let (mut at, mut found) = (0, Vec::new());
    while at < packed.len() {
        let rest = &packed[at..];
        let size = zstd::zstd_safe::find_frame_compressed_size(rest).expect("a sound frame");
        if rest.starts_with(&[0x28, 0xB5, 0x2F, 0xFD]) {
            found.push(at..at + size);
        }
        at += size;
    }
    found
}

/// Damage to a file.
#[derive(Clone, Debug)]
enum Harm {
    Overwritten(Index, Vec<u8>),
    Zeros(Index, usize),
    Removed(Index, usize),
    Inserted(Index, Vec<u8>),
}

fn harm() -> impl Strategy<Value = Harm> {
    let bytes = || prop::collection::vec(any::<u8>(), 1..300);
    prop_oneof![
        (any::<Index>(), prop::collection::vec(any::<u8>(), 1..3))
            .prop_map(|(at, b)| Harm::Overwritten(at, b)),
        (any::<Index>(), bytes()).prop_map(|(at, b)| Harm::Overwritten(at, b)),
        (any::<Index>(), 1..5000usize).prop_map(|(at, n)| Harm::Zeros(at, n)),
        (any::<Index>(), 1..5000usize).prop_map(|(at, n)| Harm::Removed(at, n)),
        (any::<Index>(), bytes()).prop_map(|(at, b)| Harm::Inserted(at, b)),
    ]
}

/// Applies the damage. Returns the range of bytes that were lost.
fn damage(file: &mut Vec<u8>, harm: &Harm) -> Range<usize> {
    let length = file.len();
    let place = |at: &Index, n: usize| {
        let at = at.index(length);
        at..(at + n).min(length)
    };
    let (place, instead) = match harm {
        Harm::Overwritten(at, bytes) => (place(at, bytes.len()), bytes.clone()),
        Harm::Zeros(at, n) => (place(at, *n), vec![0; place(at, *n).len()]),
        Harm::Removed(at, n) => (place(at, *n), Vec::new()),
        Harm::Inserted(at, bytes) => (place(at, 0), bytes.clone()),
    };
    file.splice(place.clone(), instead);
    place
}

fn touches(a: &Range<usize>, b: &Range<usize>) -> bool {
    // Inserted bytes are between two bytes.
    a.start < b.end && b.start < a.end || (a.is_empty() && b.start < a.start && a.start < b.end)
}

/// Checks that a recording is intact: it opens and is not truncated, and repair finds no damage.
fn assert_sound(bytes: &[u8], events: usize) {
    let mut reader = LogReader::new(Cursor::new(bytes.to_vec())).expect("it opens");
    let read: Vec<Event> = reader.by_ref().map(|e| e.expect("it is sound")).collect();
    let count = read.len();
    assert_eq!((count, reader.is_truncated()), (events, false));
    let (damage, _) = repaired(bytes).expect("it opens");
    assert!(damage.is_none(), "{damage:?}");
    assert_eq!(damage.kept as usize, events);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn an_intact_recording_is_not_changed(
        moves in moves(), frame in 1..60_000u64, flush in 1..300usize, zstd in any::<bool>(),
    ) {
        let events = history(&moves, false);
        let text = plain(&events);
        let compression = if zstd { Compression::Zstd } else { Compression::None };
        let bytes = written(&events, compression, frame, flush);
        let (damage, kept) = repaired(&bytes).expect("our own header");
        prop_assert!(damage.is_none(), "{:?}", damage);
        prop_assert_eq!((damage.packed, damage.kept as usize), (zstd, events.len()));
        let kept_lines: Vec<&[u8]> = kept.iter().map(|(line, _)| &line[..]).collect();
        prop_assert_eq!(kept_lines, lines(&text));
        prop_assert!(kept.iter().all(|(_, is_certain)| *is_certain));
    }

    #[test]
    fn damage_keeps_all_other_frames_and_changes_no_line(
        moves in moves(), frame in 200..50_000u64, flush in 1..300usize, harm in harm(),
    ) {
        let events = history(&moves, false);
        let text = plain(&events);
        let mut file = written(&events, Compression::Zstd, frame, flush);
        let whole = file.clone();
        let place = damage(&mut file, &harm);
        let Ok((damage, kept)) = repaired(&file) else {
            prop_assert!(frames(&whole).iter().all(|frame| touches(&place, frame)));
            return Ok(());
        };
        let all = lines(&text);
        let certain = kept.iter().filter(|(_, is_certain)| *is_certain);
        let own = |line: &&[u8]| !(damage.header_replaced && line.starts_with(b"{\"loadscope\""));
        let certain: Vec<&[u8]> = certain.map(|(line, _)| &line[..]).filter(own).collect();
        prop_assert!(is_subsequence(certain.iter().copied(), &all));
        let mut survives = Vec::new();
        for frame in frames(&whole) {
            if !touches(&place, &frame) {
                survives.extend(zstd::decode_all(&whole[frame]).expect("our own frame"));
            }
        }
        prop_assert!(is_subsequence(lines(&survives), &certain), "{:?} {:?} {:?}", place, frames(&whole), damage);
        // Lines of a truncated frame are uncertain too. A damaged frame may precede it.
        let is_uncertain = kept.iter().any(|(_, is_certain)| !is_certain);
        prop_assert!(damage.unconfirmed == 0 || is_uncertain);
        prop_assert!(damage.cut || (damage.unconfirmed > 0) == is_uncertain);
        // A file that ends after a whole frame can be the recording of a killed program. The loss of later frames is undetectable.
        let ends_early = whole.starts_with(&file);
        if !damage.lost_is_at_least && !damage.cut && damage.unconfirmed == 0 && !ends_early {
            let header = u64::from(!damage.header_replaced);
            prop_assert_eq!(damage.kept + header + damage.lost, all.len() as u64, "{:?}", damage);
        }
        prop_assert!(ends_early || !damage.is_none() || certain.len() == all.len());
        assert_sound(&copied(&kept, Compression::Zstd), damage.kept as usize);
        assert_sound(&copied(&kept, Compression::None), damage.kept as usize);
    }

    #[test]
    fn damage_keeps_all_other_lines(moves in moves(), harm in harm()) {
        let events = history(&moves, false);
        let text = plain(&events);
        let mut file = text.clone();
        let place = damage(&mut file, &harm);
        let repaired = match repaired(&file) {
            // The damage changed the version in the header.
            Err(LogError::Version { .. }) => return Ok(()),
            Err(e) => {
                prop_assert_eq!(place.end, text.len(), "{}", e);
                return Ok(());
            }
            Ok(repaired) => repaired,
        };
        let (damage, kept) = repaired;
        let mut at = 0;
        let (mut untouched, mut touched) = (Vec::new(), Vec::new());
        for line in text.split_inclusive(|b| *b == b'\n') {
            let own = at..at + line.len();
            at = own.end;
            match touches(&place, &own) {
                true => touched.push(line),
                false => untouched.push(line.trim_ascii_end()),
            }
        }
        let kept_lines: Vec<&[u8]> = kept.iter().map(|(line, _)| &line[..]).collect();
        prop_assert!(is_subsequence(untouched.iter().copied(), &kept_lines), "{:?}", damage);
        // A changed digit is undetectable.
        let more = kept_lines.len() - untouched.len();
        prop_assert!(more <= touched.len() + 1, "{} {}", more, touched.len());
        assert_sound(&copied(&kept, Compression::Zstd), damage.kept as usize);
    }

    #[test]
    fn a_cut_keeps_all_flushed_events(
        moves in moves(), frame in 200..50_000u64, flush in 1..100usize, cut in any::<Index>(), zstd in any::<bool>(),
    ) {
        let events = history(&moves, false);
        let compression = if zstd { Compression::Zstd } else { Compression::None };
        let text = plain(&events);
        let shared = Shared::default();
        let mut log = LogWriter::new(shared.clone(), compression).expect("a vector").with_frame_size(frame);
        // Length of the file after each flush, and the number of events in it.
        let mut flushed = Vec::new();
        for (k, event) in events.iter().enumerate() {
            log.write(event).expect("a vector");
            if k % flush == 0 {
                log.flush().expect("a vector");
                flushed.push((shared.0.borrow().len(), k + 1));
            }
        }
        log.finish().expect("a vector");
        let file = shared.0.borrow().clone();
        let length = cut.index(file.len());
        let safe = flushed.iter().rev().find(|(at, _)| *at <= length).map_or(0, |(_, count)| *count);
        let Ok((damage, kept)) = repaired(&file[..length]) else {
            prop_assert_eq!(safe, 0);
            return Ok(());
        };
        prop_assert!(damage.kept as usize >= safe, "{} of {}", damage.kept, safe);
        let kept_lines: Vec<&[u8]> = kept.iter().map(|(line, _)| &line[..]).collect();
        prop_assert_eq!(&kept_lines[..], &lines(&text)[..kept.len()]);
        prop_assert!(!damage.header_replaced && damage.unconfirmed == 0);
        // The reader returns the same events.
        let mut reader = LogReader::new(Cursor::new(file[..length].to_vec())).expect("it opens");
        let events: Vec<Event> = reader.by_ref().map(|e| e.expect("sound up to the cut")).collect();
        let count = events.len();
        prop_assert_eq!(count, damage.kept as usize);
        prop_assert_eq!(reader.is_truncated(), damage.cut);
    }

    #[test]
    fn flushed_events_are_kept_with_any_bytes_after_them(
        moves in moves(), frame in 200..50_000u64, flush in 1..100usize, at in any::<Index>(),
        tail in prop::collection::vec(any::<u8>(), 0..600), zeros in 0..3000usize, zstd in any::<bool>(),
    ) {
        let events = history(&moves, false);
        let compression = if zstd { Compression::Zstd } else { Compression::None };
        let shared = Shared::default();
        let log = LogWriter::new(shared.clone(), compression).expect("a vector");
        let mut log = log.with_frame_size(frame);
        let last = at.index(events.len());
        for (k, event) in events[..=last].iter().enumerate() {
            log.write(event).expect("a vector");
            if k % flush == 0 || k == last {
                log.flush().expect("a vector");
            }
        }
        let mut file = shared.0.borrow().clone();
        file.extend(tail);
        file.extend(vec![0; zeros]);
        let (_, kept) = repaired(&file).expect("it was flushed");
        let text = plain(&events[..=last]);
        let wanted = lines(&text);
        let kept_lines: Vec<&[u8]> = kept.iter().map(|(line, _)| &line[..]).collect();
        prop_assert!(kept_lines.starts_with(&wanted), "{} of {}", kept.len(), wanted.len());
    }

    #[test]
    fn repeated_damage_adds_no_confirmed_line(
        moves in moves(), frame in 200..20_000u64, harms in prop::collection::vec(harm(), 2..8),
    ) {
        let events = history(&moves, false);
        let text = plain(&events);
        let mut file = written(&events, Compression::Zstd, frame, 50);
        for harm in &harms {
            if !file.is_empty() {
                damage(&mut file, harm);
            }
        }
        let Ok((damage, kept)) = repaired(&file) else {
            return Ok(());
        };
        let all = lines(&text);
        let own = |line: &&[u8]| !(damage.header_replaced && line.starts_with(b"{\"loadscope\""));
        let certain = kept.iter().filter(|(_, is_certain)| *is_certain);
        prop_assert!(is_subsequence(certain.map(|(line, _)| &line[..]).filter(own), &all));
        assert_sound(&copied(&kept, Compression::Zstd), damage.kept as usize);
    }

    #[test]
    fn random_bytes_are_refused_by_repair(bytes in prop::collection::vec(any::<u8>(), 0..4000)) {
        let is_refused = matches!(repaired(&bytes), Err(LogError::NotALog { .. }));
        prop_assert!(is_refused);
    }
}

/// File in memory that other owners can read while it grows.
#[derive(Clone, Default)]
struct Shared(std::rc::Rc<std::cell::RefCell<Vec<u8>>>);

impl std::io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
