use std::io::Write as _;

use loadscope_trace::{BatchId, Compression, EventKind, LogWriter, Run, Stage, read_log};

use super::*;
use crate::read_run;

/// Writes a recording of more than one block with slightly unordered events, followed by `more`.
fn recording(more: &str) -> tempfile::NamedTempFile {
    let mut log = LogWriter::new(Vec::new(), Compression::None).expect("memory does not fail");
    let mut tell = |at: i64, kind| {
        let (at, run) = (Nanos(at), RunId(0));
        log.write(&Event { at, run, kind })
            .expect("memory does not fail");
    };
    tell(0, EventKind::EpochStarted { epoch: 0 });
    for idx in 0..8_000 {
        let batch = BatchId { epoch: 0, idx };
        let at = i64::from(idx) * 1_000_000;
        tell(
            at,
            EventKind::dispatched(batch, Some((idx % 5) as u16), [1, 2, 3]),
        );
        for (k, stage) in [Stage::Fetching, Stage::Training].into_iter().enumerate() {
            let at = at + 700_000 * (1 + k as i64);
            tell(at, EventKind::Entered { batch, stage });
        }
    }
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(&log.finish().expect("memory does not fail"))
        .and_then(|()| file.write_all(more.as_bytes()))
        .expect("there is room");
    file
}

#[test]
fn parallel_and_sequential_reading_give_the_same_run() {
    let late = r#"{"t":5,"e":"consumer","waiting":true}"#;
    for more in ["", &late[..20], &format!("{late}\n{late}\n")] {
        let file = recording(more);
        let mut run = Run::default();
        let outcome = read_log(file.path(), |event, _| {
            run.apply(&event);
            true
        });
        let outcome = outcome.expect("it is sound");
        run.close();
        let (all, cut) = read_run(file.path(), |_| true).expect("it is sound");
        assert_eq!((cut, cut), (outcome.cut, more.len() == 20));
        if outcome.late > 0 {
            let told = all.messages().last().map(|(_, m)| m.text.clone());
            assert!(told.is_some_and(|t| t.starts_with("2 events arrived late")));
        } else {
            assert_eq!(format!("{all:?}"), format!("{run:?}"));
        }
    }
}

#[test]
fn an_error_names_the_damaged_line() {
    let file = recording("{\"t\":5,\"e\":\"consumer\"}\n");
    let one = read_log(file.path(), |_, _| true).expect_err("a field is missing");
    let all = read_run(file.path(), |_| true).expect_err("a field is missing");
    assert_eq!(all.to_string(), one.to_string());
    assert!(all.to_string().starts_with("line 24003 "), "{all}");
}

#[test]
fn folder_progress_rises_across_all_recordings() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let recordings = 4;
    for rank in 0..recordings {
        let path = folder.path().join(format!("rank-{rank}.jsonl"));
        recording("")
            .persist(path)
            .expect("the folder is beside it");
    }
    let mut heard = Vec::new();
    let opened = crate::open(folder.path(), |share| {
        heard.push(share);
        true
    });
    assert_eq!(
        opened.expect("they are sound").fleet.runs().len(),
        recordings
    );
    assert!(heard.len() >= recordings, "{heard:?}");
    assert!(heard.is_sorted(), "{heard:?}");
    // The first progress of each recording comes after a part of it was read.
    for (k, share) in heard.iter().take(recordings).enumerate() {
        let at_most = (k + 1) as f32 / recordings as f32;
        assert!((0.0..=at_most).contains(share), "{heard:?}");
    }
}

#[test]
fn reading_stops_when_the_callback_returns_false() {
    let file = recording("");
    let (run, _) = read_run(file.path(), |_| false).expect("it is sound");
    assert!(run.events() < 24_001, "{}", run.events());
    assert!(read_run("no/such/file.jsonl".as_ref(), |_| true).is_err());
}

#[test]
fn the_late_event_message_has_singular_and_plural() {
    let text = |count| match late_warning(RunId(0), Nanos::ZERO, count).kind {
        EventKind::Message(message) => message.text,
        other => panic!("{other:?}"),
    };
    let one = "1 event arrived late and is shown at its arrival time";
    let more = "12,345 events arrived late and are shown at their arrival time";
    assert_eq!([text(1), text(12_345)], [one, more]);
}
