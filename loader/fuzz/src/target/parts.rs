//! A recording in parts: with arbitrary files, and from events in any order whose old parts are dropped.

use std::fs;
use std::path::Path;

use loadscope_trace::{
    Compression, Event, EventKind, Lines, LogReader, LogWriter, Nanos, Retention, RetentionFilter,
    RetentionPolicy, multipart::PartFile,
};

use super::events::{Bytes, histories};
use super::import::split;
use super::recording::{fold, sorted};
use crate::scratch;

/// Header of the main file next to the folder.
const MAIN: &[u8] = b"{\"loadscope\":3,\"writer\":\"fuzz\",\"parts\":\"run.parts\"}\n";

/// Files of the folder, in the order in which the input fills them.
const MEMBERS: [PartFile; 8] = [
    PartFile::Kept,
    PartFile::Course(1),
    PartFile::Waits(3),
    PartFile::Part(4),
    PartFile::Part(5),
    PartFile::Part(6),
    PartFile::Course(2),
    PartFile::Waits(7),
];

/// Numbers of events per part. The bytes select one.
const PART: [usize; 4] = [1, 7, 40, 300];

pub fn run(bytes: &[u8], thoroughly: bool) {
    match bytes.split_first() {
        Some((b'#', rest)) => check_dropped_parts(rest, thoroughly),
        _ => check_arbitrary_files(bytes, thoroughly),
    }
}

/// Tests arbitrary files. A line that starts with `=` starts another file.
fn check_arbitrary_files(bytes: &[u8], thoroughly: bool) {
    let files = split(bytes, MEMBERS.len());
    let files = MEMBERS.iter().zip(&files);
    let files: Vec<(PartFile, Vec<u8>)> = files.map(|(m, text)| (*m, text.to_vec())).collect();
    let (events, _) = opened(&files);
    fold(&sorted(&events), thoroughly);
}

/// Splits events in any order into parts, drops the first ones, and reads the kept data.
fn check_dropped_parts(bytes: &[u8], thoroughly: bool) {
    let mut from = Bytes(bytes);
    let (length, dropped) = (PART[usize::from(from.byte()) % PART.len()], from.byte());
    let policy = RetentionPolicy {
        long_wait: Nanos(from.number().max(0)),
        keep_slowest: usize::from(from.byte() % 5),
    };
    let events = in_order(sorted(&histories(&mut from)));
    let mut retention_filter = RetentionFilter::new(policy);
    let mut kept: Vec<Event> = Vec::new();
    let mut parts: Vec<Vec<Event>> = vec![Vec::new()];
    for (k, event) in events.iter().enumerate() {
        if k > 0 && k % length == 0 {
            parts.push(retention_filter.start_part(event.at, &mut kept));
        }
        retention_filter.apply(event, &mut kept);
        if let Some(part) = parts.last_mut() {
            part.push(event.clone());
        }
    }
    let end = events.last().map_or(Nanos::ZERO, |event| event.at);
    retention_filter.finish(end, &mut kept);
    let first = usize::from(dropped) % parts.len();
    let mut introduced = retention_filter.retention_events(&Retention::default());
    introduced.extend(retention_filter.slowest());
    introduced.sort_by_key(|event| event.at);
    let text = |events: &[Event]| {
        let mut log = LogWriter::new(Vec::new(), Compression::None).expect("a vector");
        for event in events {
            log.write(event).expect("a vector takes everything");
        }
        log.finish().expect("a vector")
    };
    let mut files = vec![
        (PartFile::Kept, text(&introduced)),
        (PartFile::Course(1), text(&kept)),
    ];
    for (number, part) in parts.iter().enumerate().skip(first) {
        files.push((PartFile::Part(number as u32), text(part)));
    }
    let (read, failed) = opened(&files);
    assert_eq!(failed, None, "what we wrote is read");
    let of_part = |event: &&Event| match &event.kind {
        EventKind::Summed(sums) => (sums.part as usize) < first,
        EventKind::Kept(kept) => (kept.part as usize) < first,
        EventKind::Retention(_) => true,
        _ => false,
    };
    let before = introduced.iter().chain(&kept).filter(of_part).count();
    let after: usize = parts.iter().skip(first).map(Vec::len).sum();
    assert!(read.len() >= after, "{} of {after} events", read.len());
    assert!(
        read.len() <= before + after,
        "{} events of {before} and {after}",
        read.len()
    );
    fold(&sorted(&read), thoroughly);
}

/// Gives late events the time of the previous event, as the recorder does.
fn in_order(mut events: Vec<Event>) -> Vec<Event> {
    let mut newest = Nanos(i64::MIN);
    for event in &mut events {
        newest = newest.max(event.at);
        event.at = newest;
    }
    events
}

/// Writes the files and reads them as one recording, by lines and by blocks. Returns the events and the error.
fn opened(files: &[(PartFile, Vec<u8>)]) -> (Vec<Event>, Option<String>) {
    scratch::with(|folder| {
        let main = folder.join("run.jsonl.zst");
        let parts = folder.join("run.parts");
        let _ = fs::remove_dir_all(&parts);
        fs::create_dir(&parts).expect("there is room");
        fs::write(&main, MAIN).expect("there is room");
        for (member, bytes) in files {
            fs::write(parts.join(member.name()), bytes).expect("there is room");
        }
        let lines = by_line(&main);
        let blocks = by_block(&main);
        assert_eq!(lines.1, blocks.1);
        assert_eq!(lines.0.len(), blocks.0.len());
        lines
    })
}

fn by_line(path: &Path) -> (Vec<Event>, Option<String>) {
    let mut reader = match LogReader::open(path) {
        Ok(reader) => reader,
        Err(e) => return (Vec::new(), Some(e.to_string())),
    };
    let (mut events, mut failed) = (Vec::new(), None);
    for event in &mut reader {
        match event {
            Ok(event) => events.push(event),
            Err(e) => failed = Some(e.to_string()),
        }
    }
    (events, failed)
}

fn by_block(path: &Path) -> (Vec<Event>, Option<String>) {
    let mut reader = match LogReader::open(path) {
        Ok(reader) => reader,
        Err(e) => return (Vec::new(), Some(e.to_string())),
    };
    let (mut events, mut failed, mut before) = (Vec::new(), None, 1);
    let mut lines = Lines::default();
    while reader.read_lines(&mut lines) {
        let block = lines.parse();
        events.extend(block.events);
        failed = block.failed.map(|e| e.offset_lines(before).to_string());
        before += block.lines;
        if failed.is_some() {
            break;
        }
    }
    (events, failed)
}
