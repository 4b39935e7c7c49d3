#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]

use std::io::Write as _;

use loadscope_trace::{Compression, Event, LogWriter, Nanos, RunId};

use super::*;

/// Writes what begins a run, and ends as a killed process would.
fn killed(journal: &Journal, dataset: &str) -> PathBuf {
    let entry = journal.begin().expect("the folder can be written to");
    let info = RunInfo {
        dataset: dataset.to_owned(),
        ..RunInfo::default()
    };
    // The file begins with the header.
    let mut log = LogWriter::for_copies(Vec::new(), Compression::Zstd).expect("a vector");
    let kind = EventKind::RunStarted(Box::new(info));
    let at = Nanos::ZERO;
    log.write(&Event {
        at,
        run: RunId(0),
        kind,
    })
    .expect("a vector");
    let bytes = log.finish().expect("a vector");
    let (mut file, entry) = entry.split();
    file.write_all(&bytes).expect("room");
    drop(file);
    entry.path
}

#[test]
fn unsaved_runs_of_ended_processes_are_offered_and_live_ones_are_not() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let journal = Journal::at(&dir.path().join("loadscope/journal"));
    assert_eq!(journal.left_over(), []);
    let first = killed(&journal, "first");
    let second = killed(&journal, "second");
    let empty = journal.begin().expect("room").entry();
    assert!(!empty.path().exists(), "nothing was in it");
    // The next one may get the name that is free again.
    let live = journal.begin().expect("room");
    let found = journal.left_over();
    let names: Vec<&str> = found.iter().map(|f| f.dataset.as_str()).collect();
    assert_eq!(names, ["second", "first"]);
    assert_eq!([&found[0].path, &found[1].path], [&second, &first]);
    assert!(live.entry().path().exists(), "it is being written");
    // A second look changes nothing.
    assert_eq!(journal.left_over(), found);
    live.entry().discard();
    assert!(!live.entry().path().exists());
}

#[test]
fn the_oldest_runs_make_room() {
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
fn a_run_does_not_grow_without_end() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let entry = Journal::at(dir.path()).begin().expect("room").entry();
    assert!(entry.check(0).is_ok());
    let error = entry.check(MOST_OF_ONE).expect_err("full");
    assert_eq!(error.to_string(), "a run in the journal has at most 2 GB");
}

/// Files as no window leaves them, and what is offered of them.
#[test]
fn what_cannot_be_read_is_offered_and_never_removed() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let journal = Journal::at(dir.path());
    let sound = fs::read(killed(&journal, "sound")).expect("it was just written");
    fs::remove_file(&journal.left_over()[0].path).expect("own folder");
    let head = crate::recording::head(Compression::Zstd, &Selection::default());
    let (half, most) = (&sound[..head.len() + 12], &sound[..sound.len() - 9]);
    let header = "{\"loadscope\":1}\n";
    let started = "{\"t\":0,\"e\":\"run_started\",\"info\":{\"dataset\":\"digits\"}}\n";
    let waits = "{\"t\":1,\"e\":\"consumer\",\"waiting\":true}\n";
    let damaged = "A run that is damaged";
    let nameless = "A run whose dataset is not known";
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
            "{\"loadscope\":3}\n".into(),
            Some("A run of a newer Loadscope"),
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
            format!("{header}{}{started}", waits.repeat(LOOK)).into(),
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
            let found = journal.left_over();
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
fn a_file_that_cannot_be_opened_is_left_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().expect("a temporary folder");
    let journal = Journal::at(dir.path());
    let path = dir.path().join(format!("000000000000001-000{ENDING}"));
    fs::write(&path, "{\"loadscope\":1}\n").expect("room");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).expect("own file");
    // Root may open it all the same; the lock's own test has a path that no user can open.
    if fs::File::open(&path).is_err() {
        assert_eq!(journal.left_over(), []);
        assert!(journal.remove(&path).is_err() && path.exists());
    }
}
