use std::sync::Arc;

use crossbeam_channel::{Receiver, unbounded};
use loadscope_trace::{Nanos, RunId};

use super::super::Journal;
use std::path::{Path, PathBuf};

use super::*;

/// Creates a sink for a journal with `written` bytes so far. Returns its messages and its path.
fn journaled(folder: &Path, written: u64) -> (EventSink, Receiver<SessionEvent>, PathBuf) {
    let (out, told) = unbounded();
    let (shared, wake) = (SharedLog::default(), Arc::new(|| {}));
    let new = Journal::at(folder).begin().expect("room");
    let path = new.entry().path().to_owned();
    let mut sink = EventSink::new(
        Record::Journal(new),
        Selection::default(),
        shared,
        out,
        wake,
    )
    .expect("the log can be begun");
    match &mut sink.log {
        Some(Log::Later(growing)) => growing.written = written,
        _ => panic!("a journal is begun with its first event"),
    }
    (sink, told, path)
}

fn events() -> Vec<Event> {
    let epoch = |epoch: u32| Event {
        at: Nanos(epoch.into()),
        run: RunId(0),
        kind: EventKind::EpochStarted { epoch },
    };
    (0..5).map(epoch).collect()
}

fn write_and_flush(sink: &mut EventSink) {
    sink.write(&mut events());
    std::thread::sleep(FLUSH_EVERY * 2);
    sink.flush_when_due();
}

fn events_in(path: &Path) -> usize {
    let log = loadscope_trace::LogReader::open(path).expect("it opens");
    let events: Vec<Event> = log.map(|event| event.expect("whole lines")).collect();
    events.len()
}

#[test]
fn a_journal_can_be_read_while_it_grows() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (mut sink, told, path) = journaled(dir.path(), 0);
    for round in 1..4 {
        write_and_flush(&mut sink);
        assert_eq!(events_in(&path), 5 * round);
    }
    assert!(told.try_iter().next().is_none());
}

#[test]
fn a_full_journal_stops_and_names_its_file() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (mut sink, told, path) = journaled(dir.path(), (2 << 30) - 10);
    write_and_flush(&mut sink);
    write_and_flush(&mut sink);
    let said: Vec<String> = told
        .try_iter()
        .filter_map(|update| match update {
            SessionEvent::Failed(text) => Some(text),
            _ => None,
        })
        .collect();
    let [text] = &said[..] else {
        panic!("it is reported once, not {said:?}");
    };
    let place = path.display().to_string();
    assert!(text.starts_with("Recording stopped, "), "{text}");
    assert!(
        text.contains("the run is larger than 2 GB, the limit of the journal"),
        "{text}"
    );
    assert!(text.contains(&place), "{text}");
    // Events within the limit are in the file.
    assert_eq!(events_in(&path), 5);
}

/// Chunks must be short, because the window checks its time budget between them.
#[test]
fn many_events_are_sent_in_short_chunks() {
    let (out, told) = unbounded();
    let (shared, wake) = (SharedLog::default(), Arc::new(|| {}));
    let mut sink = EventSink::new(Record::Off, Selection::default(), shared, out, wake)
        .expect("nothing is begun");
    let many: Vec<Event> = events().into_iter().cycle().take(10_007).collect();
    sink.send_events(many);
    drop(sink);
    let lengths: Vec<usize> = told
        .iter()
        .map(|update| match update {
            SessionEvent::Events(events) => events.len(),
            _ => panic!("only events were passed on"),
        })
        .collect();
    assert_eq!(lengths.iter().sum::<usize>(), 10_007);
    assert!(lengths.iter().all(|length| *length <= CHUNK), "{lengths:?}");
}

/// The run is saved or dropped while its program continues.
#[test]
fn a_discarded_limited_journal_is_removed_at_program_end() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let limits = crate::Limits {
        last: None,
        max_size: crate::Limits::LEAST_SIZE,
        long_wait: Nanos::from_millis(100),
        keep_slowest: 10,
    };
    let there = || std::fs::read_dir(dir.path()).expect("a folder").count();
    for is_discarded in [false, true] {
        let new = Journal::at(dir.path()).begin_with(Some(limits));
        let new = new.expect("room");
        let entry = new.entry();
        let (out, told) = unbounded();
        let (shared, wake) = (SharedLog::default(), Arc::new(|| {}));
        let record = Record::Journal(new);
        let sink = EventSink::new(record, Selection::default(), shared, out, wake);
        let mut sink = sink.expect("the log can be begun");
        write_and_flush(&mut sink);
        assert_eq!(events_in(entry.path()), 5);
        if is_discarded {
            entry.discard();
            assert!(!entry.path().exists(), "it is offered no more");
        }
        write_and_flush(&mut sink);
        sink.close();
        assert!(told.try_iter().next().is_none());
        assert_eq!(there(), if is_discarded { 0 } else { 2 });
        entry.discard();
        assert_eq!(there(), 0);
    }
}
