use std::io::Cursor;

use loadscope_trace::{BatchId, EventKind, LogReader, Nanos, Run, RunId, Stage, Summary};

use super::*;

const MOST: u64 = 100_000;

/// Returns the events of batches of a loader without workers.
fn batches(numbers: std::ops::Range<u32>) -> Vec<Event> {
    let of = |idx: u32| {
        let batch = BatchId { epoch: 0, idx };
        let enter = |stage| EventKind::Entered { batch, stage };
        let kinds = [
            EventKind::dispatched(batch, None, [u64::from(idx)]),
            EventKind::Consumer { waiting: true },
            enter(Stage::Fetching),
            enter(Stage::Training),
            enter(Stage::Done),
        ];
        let at = move |k: usize| Nanos::from_millis(i64::from(idx) * 10 + k as i64);
        let event = move |(k, kind)| Event {
            at: at(k),
            run: RunId(0),
            kind,
        };
        kinds.into_iter().enumerate().map(event).collect::<Vec<_>>()
    };
    numbers.flat_map(of).collect()
}

fn begun() -> Vec<Event> {
    let kinds = [
        EventKind::RunStarted(Box::default()),
        EventKind::EpochStarted { epoch: 0 },
    ];
    let event = |kind| Event {
        at: Nanos(0),
        run: RunId(0),
        kind,
    };
    kinds.into_iter().map(event).collect()
}

/// Reads from an offset to the end. Returns `None` if the offset was removed.
fn rest(spool: &Spool, mut at: i64) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    loop {
        match spool.read(at).expect("it is there") {
            Next::Nothing => return Some(all),
            Next::Gone => return None,
            Next::Piece(piece) => {
                assert!(piece.ends_with(b"\n"));
                at += piece.len() as i64;
                all.extend(piece);
            }
        }
    }
}

fn run(text: Vec<u8>) -> Run {
    let mut reader = LogReader::new(Cursor::new(text)).expect("a recording");
    let mut lines = loadscope_trace::Lines::default();
    let mut run = Run::default();
    while reader.read_lines(&mut lines) {
        let block = lines.parse();
        assert!(block.failed.is_none(), "{:?}", block.failed);
        block.events.iter().for_each(|event| run.apply(event));
    }
    run
}

fn size(spool: &Spool) -> u64 {
    let parts = spool.state().parts.clone();
    let of = |part: &Arc<Part>| locked(&part.file).metadata().map_or(0, |m| m.len());
    parts.iter().map(of).sum()
}

#[test]
fn complete_lines_are_read_once() {
    let (spool, mut writer) = Spool::new(MOST).expect("a place");
    let header = rest(&spool, 0).expect("nothing is gone");
    assert!(header.starts_with(b"{\"loadscope\":3,"));
    writer.write(&begun());
    writer.write(&batches(0..50));
    let some = rest(&spool, 0).expect("nothing is gone");
    assert!(spool.end().is_none());
    writer.write(&batches(50..60));
    writer.end("");
    let more = rest(&spool, some.len() as i64).expect("nothing is gone");
    let all = [some, more].concat();
    assert_eq!(
        all.iter().filter(|byte| **byte == b'\n').count(),
        1 + 2 + 60 * 5
    );
    assert_eq!(spool.end(), Some((all.len() as i64, String::new())));
    assert_eq!(Some(all.clone()), rest(&spool, 0));
    assert_eq!(run(all).batches().len(), 60);
}

/// The sizes of the writes do not matter.
#[test]
fn files_stay_within_the_limit_and_a_late_page_has_all_counts() {
    for piece in [1, 300, 20_000] {
        let (spool, mut writer) = Spool::new(MOST).expect("a place");
        writer.write(&begun());
        let early = rest(&spool, 0).expect("nothing is gone").len() as i64;
        let mut idx = 0;
        while idx < 20_000 {
            let next = (idx + piece).min(20_000);
            writer.write(&batches(idx..next));
            idx = next;
            assert!(size(&spool) <= MOST, "{} bytes", size(&spool));
        }
        assert!(
            rest(&spool, early).is_none(),
            "the place of a page that has slept is gone"
        );
        let (at, head) = spool.beginning();
        let text = [head.to_vec(), rest(&spool, at).expect("it is there")].concat();
        assert!((text.len() as u64) < 2 * MOST, "{} bytes", text.len());
        let summary = Summary::of(&run(text));
        assert_eq!((summary.batches, summary.epochs), (20_000, 1), "by {piece}");
        // A page that follows continues at its offset.
        let (end, _) = spool.end().unwrap_or((spool.state().end, String::new()));
        writer.write(&batches(20_000..20_001));
        let more = rest(&spool, end).expect("it is there");
        assert_eq!(more.iter().filter(|byte| **byte == b'\n').count(), 5);
    }
}

/// Regression test: the files remained in the temporary folder after a crash.
#[test]
#[cfg(unix)]
fn spool_files_have_no_name() {
    use std::os::unix::fs::MetadataExt as _;

    let (spool, mut writer) = Spool::new(MOST).expect("a place");
    writer.write(&begun());
    writer.write(&batches(0..200));
    let parts = spool.state().parts.clone();
    assert!(parts.len() > 1, "{}", parts.len());
    for part in parts {
        let links = locked(&part.file).metadata().map(|m| m.nlink());
        assert_eq!(links.expect("it is open"), 0, "part {}", part.number);
    }
}
