//! Tests a recording.

use std::cell::RefCell;
use std::io::Cursor;

use loadscope_trace::{
    Compression, Event, Fleet, Lines, LogReader, LogWriter, Merge, Nanos, Sorter,
};

use crate::examine;

thread_local! {
    /// Reused for every block, as in the window.
    static LINES: RefCell<Lines> = RefCell::default();
}

/// Events, truncation flag, and error.
pub type Outcome = (Vec<Event>, bool, Option<String>);

pub fn run(bytes: &[u8], thoroughly: bool) {
    // The window reads by blocks, everything else by lines.
    let lines = by_line(bytes);
    let blocks = by_block(bytes);
    assert_eq!(lines.is_some(), blocks.is_some());
    let told = |outcome: &Outcome| outcome.2.as_ref().is_none_or(|why| why.len() < 2_000);
    assert!(
        lines.iter().all(told),
        "a refusal is a sentence, not a page"
    );
    let (Some(lines), Some(blocks)) = (lines, blocks) else {
        return;
    };
    assert_eq!((lines.1, &lines.2), (blocks.1, &blocks.2));
    // NaN is not equal to itself, so the text is compared.
    if lines.0 != blocks.0 {
        assert_eq!(format!("{:?}", lines.0), format!("{:?}", blocks.0));
    }
    let events = sorted(&lines.0);
    if thoroughly {
        let text = written(&lines.0);
        let again = by_line(&text).expect("our own header");
        assert_eq!((again.1, again.2), (false, None));
        same(&text, &written(&again.0));
    }
    fold(&events, thoroughly);
}

/// Applies events and checks the result.
pub fn fold(events: &[Event], thoroughly: bool) {
    let mut fleet = Fleet::default();
    events.iter().for_each(|event| fleet.apply(event));
    examine::fleet(&fleet, thoroughly);
}

pub fn by_line(bytes: &[u8]) -> Option<Outcome> {
    let mut reader = LogReader::new(Cursor::new(bytes.to_vec())).ok()?;
    let (mut events, mut failed) = (Vec::new(), None);
    for event in &mut reader {
        match event {
            Ok(event) => events.push(event),
            Err(e) => failed = Some(e.to_string()),
        }
    }
    Some((events, reader.is_truncated(), failed))
}

pub fn by_block(bytes: &[u8]) -> Option<Outcome> {
    let mut reader = LogReader::new(Cursor::new(bytes.to_vec())).ok()?;
    let (mut events, mut cut, mut failed, mut before) = (Vec::new(), false, None, 1);
    LINES.with_borrow_mut(|lines| {
        while reader.read_lines(lines) {
            assert!(!cut, "nothing comes after the end");
            let block = lines.parse();
            events.extend(block.events);
            cut = block.cut;
            failed = block.failed.map(|e| e.offset_lines(before).to_string());
            before += block.lines;
            // Reading ends at the first error.
            if failed.is_some() {
                break;
            }
        }
    });
    Some((events, cut, failed))
}

/// Sorts events in the way of the window and in the other way, and compares both.
pub fn sorted(events: &[Event]) -> Vec<Event> {
    let mut merge = Merge::default();
    let mut merged = Vec::with_capacity(events.len());
    merge.push(events.to_vec(), 100 * events.len());
    merge.drain_all(|event| merged.push(event.clone()));
    let mut sorter = Sorter::new(Nanos::MAX);
    events.iter().for_each(|e| sorter.push(e.clone()));
    let mut count = 0;
    while let Some(event) = sorter.flush() {
        assert_eq!(merged.get(count).map(|e| e.at), Some(event.at));
        count += 1;
    }
    assert_eq!(count, merged.len());
    merged
}

/// Checks that the recording stays the same after reading it.
pub fn same(text: &[u8], again: &[u8]) {
    let lines = |text| <[u8]>::split(text, |b| *b == b'\n');
    let differs = |(a, b): &(&[u8], &[u8])| a != b;
    if let Some((a, b)) = lines(text).zip(lines(again)).find(differs) {
        let [a, b] = [a, b].map(String::from_utf8_lossy);
        panic!("{a} comes back as {b}");
    }
    assert_eq!(text.len(), again.len());
}

/// Returns a recording of the events.
pub fn written(events: &[Event]) -> Vec<u8> {
    let mut log = LogWriter::new(Vec::new(), Compression::None).expect("a vector");
    for event in events {
        log.write(event).expect("a vector takes everything");
    }
    log.finish().expect("a vector")
}
