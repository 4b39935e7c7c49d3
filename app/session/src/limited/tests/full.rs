//! Write errors of a recording with a limit.

use super::*;

/// Writes a training until the first error. A folder with the name of `obstacle` prevents the creation of that file.
fn written(path: &Path, obstacle: PartFile, batches: u32) -> (Limited, Result<(), LogError>) {
    let new = NewLimited::create(path, Existing::Keep, limits(None, MB)).expect("room");
    fs::create_dir(new.folder().join(obstacle.name())).expect("room");
    let mut log = Limited::new(new);
    let (mut training, mut all) = (Training::new(), Training::begin());
    (0..batches).for_each(|_| all.extend(training.batch()));
    let mut chunks = all.chunks(60);
    let result = chunks.try_for_each(|events| log.write(events).and_then(|()| log.flush()));
    (log, result)
}

fn without_obstacle(dir: &Path, obstacle: PartFile) {
    fs::remove_dir(dir.join("run.parts").join(obstacle.name())).expect("it is empty");
}

#[test]
fn a_recording_stopped_by_a_write_error_can_be_read() {
    let obstacles = [
        PartFile::Kept,
        PartFile::Course(0),
        PartFile::Waits(0),
        PartFile::Part(1),
        PartFile::Part(3),
    ];
    for obstacle in obstacles {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("run.jsonl.zst");
        let (log, result) = written(&path, obstacle, 20_000);
        assert!(result.is_err(), "{obstacle:?}");
        assert_eq!(log.abort(), Some(path.clone()), "{obstacle:?}");
        without_obstacle(dir.path(), obstacle);
        let opened = open(&path, |_| true).unwrap_or_else(|e| panic!("{obstacle:?}: {e}"));
        let (_, run) = opened.fleet.runs().next().expect("a loader");
        assert!(run.batches().len() > 100, "{obstacle:?}");
    }
}

#[test]
fn an_incomplete_recording_can_be_read() {
    for obstacle in [PartFile::Kept, PartFile::Course(0)] {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("run.jsonl.zst");
        let (log, result) = written(&path, obstacle, 50);
        assert!(result.is_ok(), "{obstacle:?}");
        let text = log.finish().expect_err("a file is missing");
        assert!(text.contains("run.jsonl.zst is incomplete"), "{text}");
        without_obstacle(dir.path(), obstacle);
        let opened = open(&path, |_| true).unwrap_or_else(|e| panic!("{obstacle:?}: {e}"));
        let (_, run) = opened.fleet.runs().next().expect("a loader");
        assert_eq!(run.batches().len(), 50, "{obstacle:?}");
    }
}

#[test]
fn a_recording_without_an_event_leaves_no_file() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("run.jsonl.zst");
    let (log, result) = written(&path, PartFile::Part(0), 1);
    assert!(result.is_err());
    assert_eq!(log.abort(), None);
    assert!(!path.exists());
}
