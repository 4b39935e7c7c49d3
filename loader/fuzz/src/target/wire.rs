//! Streams of the probe. The first byte of a line selects the stream. The first line introduces it, and `!` ends it.

use std::fs;

use loadscope_live::{Introduction, Join, Record, StreamId, folder};
use loadscope_trace::{Event, Fleet};

use super::recording;
use crate::{examine, scratch};

/// Number of processes of the program.
const STREAMS: usize = 4;
/// Number of lines between two reads of events.
const LINES_PER_POLL: usize = 7;

pub fn run(bytes: &[u8], thoroughly: bool) {
    let mut join = Join::default();
    let mut speaks = [false; STREAMS];
    let mut events: Vec<Event> = Vec::new();
    for (number, line) in bytes.split(|b| *b == b'\n').enumerate() {
        let Some((stream, line)) = line.split_first() else {
            continue;
        };
        let place = usize::from(*stream) % STREAMS;
        let id = StreamId(place as u32);
        match line {
            b"!" => join.close(id),
            _ if !speaks[place] => {
                if let Ok(introduction) = Introduction::parse(line) {
                    speaks[place] = true;
                    join.open(id, introduction);
                }
            }
            _ => match Record::parse(line) {
                Ok(record) => join.push(id, record),
                Err(e) => {
                    assert!(e.to_string().len() < 1_000, "{e}");
                    join.count_invalid_line(id);
                }
            },
        }
        if number % LINES_PER_POLL == 0 {
            events.extend(join.events());
            let _ = join.processes();
        }
    }
    join.finish();
    events.extend(join.events());
    check_events(&events, thoroughly);
    if thoroughly {
        check_stream_files(bytes);
    }
}

/// Checks the events of a join.
pub fn check_events(events: &[Event], thoroughly: bool) {
    assert!(events.iter().all(|e| e.at.0 >= 0), "after the beginning");
    let events = recording::sorted(events);
    // The events are also recorded.
    if thoroughly {
        let again = recording::by_line(&recording::written(&events)).expect("our own header");
        assert_eq!(
            (again.1, again.2, again.0.len()),
            (false, None, events.len())
        );
    }
    recording::fold(&events, thoroughly);
}

/// Tests the same streams as files, without a listener.
fn check_stream_files(bytes: &[u8]) {
    let mut files: [Vec<u8>; STREAMS] = Default::default();
    for line in bytes.split_inclusive(|b| *b == b'\n') {
        if let Some((stream, line)) = line.split_first() {
            files[usize::from(*stream) % STREAMS].extend_from_slice(line);
        }
    }
    scratch::with(|scratch| {
        let path = scratch.join("streams");
        let _ = fs::create_dir(&path);
        for (k, text) in files.iter().enumerate() {
            let path = path.join(format!("{k}.stream.jsonl"));
            match text.is_empty() {
                true => _ = fs::remove_file(path),
                false => fs::write(path, text).expect("there is room"),
            }
        }
        let mut fleet = Fleet::default();
        let read = folder::read(&path, |event| {
            assert!(event.at.0 >= 0, "after the beginning");
            fleet.apply(&event);
            true
        });
        if read.is_ok() {
            examine::fleet(&fleet, true);
        }
    });
}
