#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]

use std::io::Write as _;

use std::sync::Arc;

use loadscope_files::Existing;
use loadscope_trace::{
    BatchId, Compression, Event, EventKind, LogWriter, Nanos, RunId, RunInfo, Stage,
};

use super::entry::MAX_EVENTS;
use super::*;
use crate::limited::Limited;
use crate::{Session, SessionEvent, open};

/// Writes the start of a run like a killed process.
fn killed(journal: &Journal, dataset: &str) -> PathBuf {
    let entry = journal.begin().expect("the folder can be written to");
    let info = RunInfo {
        dataset: dataset.to_owned(),
        ..RunInfo::default()
    };
    // The file already has a header.
    let mut log = LogWriter::without_header(Vec::new(), Compression::Zstd).expect("a vector");
    let kind = EventKind::RunStarted(Box::new(info));
    let at = Nanos::ZERO;
    log.write(&Event {
        at,
        run: RunId(0),
        kind,
    })
    .expect("a vector");
    let bytes = log.finish().expect("a vector");
    let (NewFiles::Whole(mut file), entry) = entry.split() else {
        panic!("it has no limit");
    };
    file.write_all(&bytes).expect("room");
    drop(file);
    entry.path().to_owned()
}

#[test]
fn only_unsaved_runs_of_ended_processes_are_offered() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let journal = Journal::at(&dir.path().join("loadscope/journal"));
    assert_eq!(journal.unsaved_runs(), []);
    let first = killed(&journal, "first");
    let second = killed(&journal, "second");
    let empty = journal.begin().expect("room").entry();
    assert!(!empty.path().exists(), "nothing was in it");
    // The next run can get the free name again.
    let live = journal.begin().expect("room");
    let found = journal.unsaved_runs();
    let names: Vec<&str> = found.iter().map(|f| f.dataset.as_str()).collect();
    assert_eq!(names, ["second", "first"]);
    assert_eq!([&found[0].path, &found[1].path], [&second, &first]);
    assert!(live.entry().path().exists(), "it is being written");
    // A second call changes nothing.
    assert_eq!(journal.unsaved_runs(), found);
    live.entry().discard();
    assert!(!live.entry().path().exists());
}

#[test]
fn the_oldest_runs_are_removed_above_the_limits() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let journal = Journal::at(dir.path());
    let all: Vec<PathBuf> = (0..MOST_RUNS + 3)
        .map(|n| killed(&journal, &n.to_string()))
        .collect();
    let kept = journal.entries().len();
    assert_eq!(kept, MOST_RUNS);
    assert!(!all[0].exists() && !all[2].exists());
    assert!(all[3].exists() && all[MOST_RUNS + 2].exists());
    let large = fs::File::options()
        .write(true)
        .open(&all[MOST_RUNS])
        .expect("a file");
    large.set_len(MOST_BYTES).expect("a sparse file");
    journal.begin().expect("room");
    assert!(!all[MOST_RUNS].exists() && all[MOST_RUNS + 1].exists());
}

#[test]
fn a_run_above_the_journal_limit_is_refused() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let entry = Journal::at(dir.path()).begin().expect("room").entry();
    assert!(entry.check(0).is_ok());
    let error = entry.check(MAX_RUN_BYTES).expect_err("full");
    assert_eq!(
        error.to_string(),
        "the run is larger than 2 GB, the limit of the journal. Record to a file with `loadscope record`."
    );
}

/// Damaged or unusual files, and their descriptions.
#[test]
fn damaged_runs_are_offered_and_never_removed() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let journal = Journal::at(dir.path());
    let sound = fs::read(killed(&journal, "sound")).expect("it was just written");
    fs::remove_file(&journal.unsaved_runs()[0].path).expect("own folder");
    let head = crate::recording::head(Compression::Zstd);
    let (half, most) = (&sound[..head.len() + 12], &sound[..sound.len() - 9]);
    let header = "{\"loadscope\":1}\n";
    let started = "{\"t\":0,\"e\":\"run_started\",\"info\":{\"dataset\":\"digits\"}}\n";
    let waits = "{\"t\":1,\"e\":\"consumer\",\"waiting\":true}\n";
    let damaged = "A damaged run";
    let nameless = "A run of an unknown dataset";
    let cases: &[(&str, Vec<u8>, Option<&str>)] = &[
        ("nothing but a header", header.into(), None),
        ("a compressed header", head.clone(), None),
        ("nothing", Vec::new(), None),
        (
            "a damaged header",
            "{\"loadscope\":\n".into(),
            Some(damaged),
        ),
        ("half a header", "{\"loads".into(), Some(damaged)),
        (
            "a header of tomorrow",
            "{\"loadscope\":4}\n".into(),
            Some("A run of a newer Loadscope version"),
        ),
        ("no recording", b"\0\x01\xff".to_vec(), Some(damaged)),
        ("half a frame", half.to_vec(), Some(nameless)),
        ("most of a frame", most.to_vec(), Some("sound")),
        (
            "half a line",
            format!("{header}{{\"t\":0,\"e").into(),
            Some(nameless),
        ),
        (
            "a damaged first line",
            format!("{header}?\n{started}").into(),
            Some(damaged),
        ),
        (
            "an event that is not known",
            format!("{header}{{\"t\":0,\"e\":\"tomorrow\"}}\n").into(),
            Some(damaged),
        ),
        (
            "no beginning",
            format!("{header}{waits}").into(),
            Some(nameless),
        ),
        (
            "a late beginning",
            format!("{header}{}{started}", waits.repeat(MAX_EVENTS)).into(),
            Some(nameless),
        ),
        (
            "a damaged second line",
            format!("{header}{started}?\n{waits}").into(),
            Some("digits"),
        ),
        (
            "half a second line",
            format!("{header}{started}{{\"t\"").into(),
            Some("digits"),
        ),
    ];
    for (name, bytes, offered) in cases {
        let path = dir.path().join(format!("000000000000001-000{ENDING}"));
        fs::write(&path, bytes).expect("room");
        for _ in 0..2 {
            let found = journal.unsaved_runs();
            let found: Vec<&str> = found.iter().map(|left| left.dataset.as_str()).collect();
            assert_eq!(found, Vec::from_iter(*offered), "{name}");
        }
        let now = fs::read(&path).ok();
        assert_eq!(now.as_ref(), offered.is_some().then_some(bytes), "{name}");
        if offered.is_some() {
            journal.remove(&path).expect("on request");
        }
    }
}

#[cfg(unix)]
#[test]
fn an_unopenable_file_is_neither_offered_nor_removed() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().expect("a temporary folder");
    let journal = Journal::at(dir.path());
    let path = dir.path().join(format!("000000000000001-000{ENDING}"));
    fs::write(&path, "{\"loadscope\":1}\n").expect("room");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).expect("own file");
    // Root can open the file anyway. The test of the lock has a path that no user can open.
    if fs::File::open(&path).is_err() {
        assert_eq!(journal.unsaved_runs(), []);
        assert!(journal.remove(&path).is_err() && path.exists());
    }
}

const MB: u64 = 1_000_000;

const LIMITS: Limits = Limits {
    last: None,
    max_size: MB,
    long_wait: Nanos::from_millis(100),
    keep_slowest: 10,
};

/// Returns `count` batches with incompressible indices.
fn batches(count: u32) -> Vec<Event> {
    let info = RunInfo {
        dataset: "birds".to_owned(),
        ..RunInfo::default()
    };
    let mut kinds = vec![
        EventKind::RunStarted(Box::new(info)),
        EventKind::EpochStarted { epoch: 0 },
    ];
    let mut seed = 7_u64;
    let mut number = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    for idx in 0..count {
        let batch = BatchId { epoch: 0, idx };
        let indices: Vec<u64> = (0..16).map(|_| number() % 1_000_000_000).collect();
        kinds.push(EventKind::dispatched(batch, Some(0), indices));
        for stage in [Stage::Fetching, Stage::Training, Stage::Done] {
            kinds.push(EventKind::Entered { batch, stage });
        }
    }
    let event = |(at, kind)| Event {
        at: Nanos(at as i64 * 1_000_000),
        run: RunId(0),
        kind,
    };
    kinds.into_iter().enumerate().map(event).collect()
}

/// Returns the total size of a folder, bytes.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let of = |entry: fs::DirEntry| match entry.path().is_dir() {
        true => size(&entry.path()),
        false => entry.metadata().map_or(0, |found| found.len()),
    };
    entries.map(of).sum()
}

fn count(folder: &Path) -> usize {
    fs::read_dir(folder).expect("a folder").count()
}

/// Copies the files without the locks of the writer, as if the writer was killed.
fn killed_now(folder: &Path, to: &Path) {
    fs::create_dir_all(to).expect("room");
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let to = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => killed_now(&entry.path(), &to),
            false => _ = fs::copy(entry.path(), to).expect("room"),
        }
    }
}

fn limited(journal: &Journal) -> (Limited, Entry) {
    let new = journal.begin_with(Some(LIMITS));
    match new.expect("room").split() {
        (NewFiles::Limited(new), entry) => (Limited::new(new), entry),
        (NewFiles::Whole(_), _) => panic!("it has a limit"),
    }
}

fn saved(from: &Path, to: &Path) {
    let session = Session::open(from, Arc::new(|| {})).expect("there is room for a thread");
    session.save(to, Existing::Keep);
    for event in &session.events {
        match event {
            SessionEvent::Saved(_) => return,
            SessionEvent::NotSaved(why) => panic!("{why}"),
            _ => {}
        }
    }
}

#[test]
fn a_limited_run_is_offered_saved_and_removed_as_one() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let folder = dir.path().join("journal");
    let journal = Journal::at(&folder);
    let (mut log, entry) = limited(&journal);
    for events in batches(30_000).chunks(5000) {
        log.write(events).expect("room");
        log.flush().expect("room");
        assert!(size(&folder) <= MB, "{} bytes", size(&folder));
    }
    assert_eq!(journal.unsaved_runs(), [], "it is being written");
    let copy = dir.path().join("copy");
    killed_now(&folder, &copy);
    let journal = Journal::at(&copy);
    let found = journal.unsaved_runs();
    let [left] = &found[..] else {
        panic!("one is offered, not {found:?}");
    };
    assert_eq!((left.dataset.as_str(), left.bytes), ("birds", size(&copy)));
    assert!(left.bytes > MB / 4, "{} bytes", left.bytes);
    // A copy is one file with the contents of all parts.
    let to = dir.path().join("saved.jsonl.zst");
    saved(&left.path, &to);
    let runs = |path: &Path| {
        let opened = open(path, |_| true).expect("a recording");
        let run = opened.fleet.get(RunId(0)).cloned().expect("it is there");
        (
            run.batches().len(),
            run.past().map(|past| past.total().clone()),
        )
    };
    let (there, past) = runs(&left.path);
    assert!(there > 0 && past.is_some(), "parts were dropped");
    assert_eq!(runs(&to), (there, past));
    journal.remove(&left.path).expect("on request");
    assert_eq!(count(&copy), 0);
    // After the recording is finished, discarding removes file and parts.
    log.finish().expect("room");
    entry.discard();
    assert_eq!(count(&folder), 0);
}

#[test]
fn run_parts_count_and_orphaned_parts_are_removed() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let journal = Journal::at(dir.path());
    let (mut log, entry) = limited(&journal);
    log.write(&batches(2000)).expect("room");
    log.finish().expect("room");
    let parts = entry.path().with_file_name(format!(
        "{}{}",
        loadscope_trace::multipart::stem(entry.path()),
        loadscope_trace::multipart::FOLDER_SUFFIX
    ));
    let part = fs::File::options()
        .write(true)
        .open(parts.join("000000.jsonl.zst"))
        .expect("a part");
    part.set_len(MOST_BYTES).expect("a sparse file");
    let (mut log, second) = limited(&journal);
    assert!(!entry.path().exists() && !parts.exists(), "no room for it");
    log.write(&batches(10)).expect("room");
    log.finish().expect("room");
    // The files are in the state after a process was killed between removing the file and its parts.
    fs::remove_file(second.path()).expect("own folder");
    assert_eq!(count(dir.path()), 1);
    drop(journal.begin().expect("room"));
    assert_eq!(
        count(dir.path()),
        1,
        "it may be that of a run that is begun"
    );
    let stray = fs::read_dir(dir.path()).expect("a folder").flatten().next();
    let stray = stray.expect("the parts").path();
    let old = SystemTime::now() - Duration::from_secs(48 * 60 * 60);
    let inside = fs::read_dir(&stray).expect("a folder").flatten();
    for path in inside.map(|entry| entry.path()).chain([stray.clone()]) {
        let file = fs::File::open(path).expect("it is ours");
        file.set_modified(old).expect("it is ours");
    }
    drop(journal.begin().expect("room"));
    assert_eq!(count(dir.path()), 0);
}
