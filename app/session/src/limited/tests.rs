use std::collections::BTreeSet;

use loadscope_trace::{BatchId, Run, RunId, RunInfo, Stage, Summary};

use super::*;
use crate::open;

mod full;

const MB: u64 = 1_000_000;

/// A training with batches of 8 ms, random waits and occasional long waits.
struct Training {
    at: i64,
    idx: u32,
    /// End times of the waits of at least 100 ms.
    long: BTreeSet<i64>,
    seed: u64,
}

impl Training {
    fn new() -> Self {
        Self {
            at: 0,
            idx: 0,
            long: BTreeSet::new(),
            seed: 7,
        }
    }

    fn begin() -> Vec<Event> {
        let info = RunInfo {
            dataset: "birds".to_owned(),
            ..RunInfo::default()
        };
        vec![
            event(0, EventKind::RunStarted(Box::new(info))),
            event(0, EventKind::EpochStarted { epoch: 0 }),
        ]
    }

    /// Returns an incompressible random number.
    fn number(&mut self) -> u64 {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        self.seed
    }

    fn batch(&mut self) -> Vec<Event> {
        let batch = BatchId {
            epoch: 0,
            idx: self.idx,
        };
        let enter = |stage| EventKind::Entered { batch, stage };
        let is_long = self.idx % 400 == 399;
        let waited = (self.number() % 900_000) as i64 + if is_long { 150_000_000 } else { 100_000 };
        let indices: Vec<u64> = (0..16).map(|_| self.number() % 1_000_000_000).collect();
        let start = self.at;
        let got = start + waited;
        self.at = got + 7_000_000;
        self.idx += 1;
        if is_long {
            self.long.insert(got);
        }
        vec![
            event(start, EventKind::dispatched(batch, Some(0), indices)),
            event(start, EventKind::Consumer { waiting: true }),
            event(start + 10, enter(Stage::Fetching)),
            event(got - 20, enter(Stage::Collating)),
            event(got, enter(Stage::Training)),
            event(self.at, enter(Stage::Done)),
        ]
    }
}

fn event(at: i64, kind: EventKind) -> Event {
    Event {
        at: Nanos(at),
        run: RunId(0),
        kind,
    }
}

fn limits(last: Option<Nanos>, max_size: u64) -> Limits {
    Limits {
        last,
        max_size,
        long_wait: Nanos::from_millis(100),
        keep_slowest: 10,
    }
}

/// Returns the total size of a recording, bytes.
fn size(folder: &Path) -> u64 {
    let of = |path: &Path| -> u64 {
        let entries = fs::read_dir(path).expect("a folder").flatten();
        entries
            .map(|e| {
                e.metadata()
                    .map_or(0, |m| if m.is_file() { m.len() } else { 0 })
            })
            .sum()
    };
    let folders = fs::read_dir(folder)
        .expect("a folder")
        .flatten()
        .map(|e| e.path());
    of(folder)
        + folders
            .filter(|path| path.is_dir())
            .map(|path| of(&path))
            .sum::<u64>()
}

/// Records `batches` batches in chunks of about ten, and calls `look` after each chunk.
fn recorded(path: &Path, limits: Limits, batches: u32, look: impl Fn()) -> Vec<Event> {
    let new = NewLimited::create(path, Existing::Keep, limits).expect("room");
    let mut log = Limited::new(new);
    let (mut training, mut all) = (Training::new(), Training::begin());
    (0..batches).for_each(|_| all.extend(training.batch()));
    for events in all.chunks(60) {
        log.write(events).expect("room");
        look();
    }
    log.finish().expect("room");
    all
}

fn run_of(path: &Path) -> Run {
    let opened = open(path, |_| true).expect("it opens");
    assert!(!opened.cut, "it is whole");
    let (_, run) = opened.fleet.into_runs().next().expect("a run");
    run
}

fn folded(events: &[Event]) -> Run {
    let mut run = Run::default();
    events.iter().for_each(|event| run.apply(event));
    run
}

/// Checks that the counts equal those of a full recording.
fn assert_same(found: &Run, full: &Run) {
    let (mut a, b) = (Summary::of(found), Summary::of(full));
    assert!(
        (a.seconds - b.seconds).abs() < 1e-6,
        "{} {}",
        a.seconds,
        b.seconds
    );
    assert!((a.waited_seconds - b.waited_seconds).abs() < 1e-6);
    (a.seconds, a.samples_per_second) = (b.seconds, b.samples_per_second);
    a.waited_seconds = b.waited_seconds;
    assert_eq!(a, b);
}

#[test]
fn the_size_limit_holds_and_sums_stay_complete() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("run.jsonl.zst");
    let new = NewLimited::create(&path, Existing::Keep, limits(None, MB)).expect("room");
    let mut log = Limited::new(new);
    let (mut training, mut all) = (Training::new(), Training::begin());
    log.write(&all).expect("room");
    let mut largest = 0;
    for k in 0..40_000 {
        let events = training.batch();
        log.write(&events).expect("room");
        all.extend(events);
        if k % 50 == 0 {
            log.flush().expect("room");
        }
        if k % 5 == 0 {
            largest = largest.max(size(dir.path()));
        }
    }
    log.finish().expect("room");
    assert!(largest <= MB && size(dir.path()) <= MB, "{largest}");
    assert!(largest > MB / 3, "the room is made use of: {largest}");
    let (found, full) = (run_of(&path), folded(&all));
    assert_same(&found, &full);
    let past = found.past().expect("parts were dropped");
    assert!(past.total().batches > 10_000, "{}", past.total().batches);
    assert_eq!(past.retention().map(|r| r.left_out), Some(0));
    // Every long wait is there in full, in the past or in the complete part.
    let mut ends: BTreeSet<i64> = past
        .kept()
        .iter()
        .filter_map(|(_, kept)| kept.wait.map(|(_, end)| end.0))
        .collect();
    let is_long = |w: &&loadscope_trace::Wait| w.end - w.start >= Nanos::from_millis(100);
    ends.extend(found.waits().iter().filter(is_long).map(|w| w.end.0));
    assert_eq!(ends, training.long);
    let batch = past.kept()[0].1.batch().expect("it was for a batch");
    assert_eq!(full.indices(full.row(batch).expect("known")).len(), 16);
}

#[test]
fn the_requested_time_is_kept_in_full() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("run.jsonl");
    let last = Nanos(10_000_000_000);
    let limits = limits(Some(last), 100 * MB);
    let new = NewLimited::create(&path, Existing::Keep, limits).expect("room");
    let mut log = Limited::new(new);
    let mut training = Training::new();
    let mut all = Training::begin();
    (0..20_000).for_each(|_| all.extend(training.batch()));
    all.chunks(100)
        .for_each(|events| log.write(events).expect("room"));
    log.finish().expect("room");
    let found = run_of(&path);
    assert_same(&found, &folded(&all));
    let until = found
        .past()
        .and_then(loadscope_trace::Past::until)
        .expect("it begins somewhere");
    let kept = found.end() - until;
    assert!(kept >= last && kept.0 <= last.0 * 3 / 2, "{kept}");
}

#[test]
fn the_shortest_long_waits_are_removed_without_space() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("run.jsonl.zst");
    let limits = Limits {
        long_wait: Nanos(1_000),
        ..limits(None, MB)
    };
    let all = recorded(&path, limits, 30_000, || assert!(size(dir.path()) <= MB));
    let found = run_of(&path);
    let past = found.past().expect("parts were dropped");
    let long = past.retention().expect("it says").long_wait;
    assert!(
        long > Nanos(1_000) && long <= Nanos::from_millis(150),
        "{long}"
    );
    let kept: BTreeSet<i64> = past
        .kept()
        .iter()
        .filter_map(|(_, k)| k.wait.map(|w| w.1.0))
        .collect();
    let full = folded(&all);
    let until = past.until().expect("it begins somewhere");
    for wait in full
        .waits()
        .iter()
        .filter(|w| w.end - w.start >= long && w.end < until)
    {
        assert!(kept.contains(&wait.end.0), "{wait:?} of at least {long}");
    }
}

/// Regression test: slow batches without room were counted as left out, again with each part.
#[test]
fn removed_slow_batches_do_not_count_as_lost_events() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("run.jsonl.zst");
    let limits = Limits {
        keep_slowest: 2_000,
        ..limits(None, MB)
    };
    recorded(&path, limits, 30_000, || {});
    let found = run_of(&path);
    let past = found.past().expect("parts were dropped");
    assert_eq!(past.retention().map(|r| r.left_out), Some(0));
    let kept = past.kept().iter();
    let slow = kept.filter(|(_, kept)| kept.wait.is_none()).count();
    assert!((10..2_000).contains(&slow), "{slow}");
}

#[test]
fn a_recording_copied_without_its_parts_names_them() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("run.jsonl.zst");
    let new = NewLimited::create(&path, Existing::Keep, limits(None, MB)).expect("room");
    let mut log = Limited::new(new);
    log.write(&Training::begin()).expect("room");
    log.finish().expect("room");
    let copy = dir.path().join("elsewhere");
    fs::create_dir(&copy).expect("room");
    let copied = copy.join("run.jsonl.zst");
    fs::copy(&path, &copied).expect("room");
    let text = open(&copied, |_| true)
        .expect_err("parts are missing")
        .to_string();
    assert!(
        text.contains("run.parts") && text.contains("together with the file"),
        "{text}"
    );
    // The folder of parts is not a recording. It is ignored next to the recording.
    let text = open(&dir.path().join("run.parts"), |_| true)
        .expect_err("parts")
        .to_string();
    assert!(text.contains("open the file next to it"), "{text}");
    fs::remove_dir_all(&copy).expect("it is ours");
    let opened = open(dir.path(), |_| true).expect("one recording");
    assert_eq!((opened.fleet.runs().len(), opened.notes.len()), (1, 0));
    // A single part is a recording.
    let part = dir.path().join("run.parts").join(PartFile::Part(0).name());
    assert_eq!(run_of(&part).info.dataset, "birds");
}

#[test]
fn replacing_a_recording_removes_only_its_own_parts() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("run.jsonl.zst");
    let write = |existing, events: &[Event]| {
        let new = NewLimited::create(&path, existing, limits(None, MB)).expect("room");
        let mut log = Limited::new(new);
        log.write(events).expect("room");
        log.finish().expect("room");
    };
    let names = || {
        let entries = fs::read_dir(dir.path()).expect("a folder").flatten();
        let mut names: Vec<String> = entries
            .map(|e| e.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    };
    write(Existing::Keep, &[]);
    assert!(names().is_empty(), "{:?}", names());
    write(Existing::Keep, &Training::begin());
    assert_eq!(names(), ["run.jsonl.zst", "run.parts"]);
    assert!(NewLimited::create(&path, Existing::Keep, limits(None, MB)).is_err());
    assert_eq!(names(), ["run.jsonl.zst", "run.parts"]);
    write(Existing::Replace, &[]);
    assert_eq!(names(), ["run.jsonl.zst", "run.parts"]);
    write(Existing::Replace, &Training::begin());
    assert_eq!(names(), ["run-2.parts", "run.jsonl.zst"]);
    assert_eq!(run_of(&path).info.dataset, "birds");
    // A file of the user in the folder is not removed.
    fs::write(dir.path().join("run-2.parts/notes.txt"), "mine").expect("room");
    write(Existing::Replace, &Training::begin());
    assert_eq!(names(), ["run-2.parts", "run.jsonl.zst", "run.parts"]);
    assert_eq!(
        fs::read_dir(dir.path().join("run-2.parts"))
            .expect("there")
            .count(),
        1
    );
}

#[test]
fn a_single_file_copy_has_the_same_run() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("run.jsonl.zst");
    let new = NewLimited::create(&path, Existing::Keep, limits(None, MB)).expect("room");
    let mut log = Limited::new(new);
    let (mut training, mut all) = (Training::new(), Training::begin());
    (0..20_000).for_each(|_| all.extend(training.batch()));
    log.write(&all).expect("room");
    log.finish().expect("room");
    let packed = crate::packed(&path, true).expect("it is sound");
    let copy = dir.path().join("copy.jsonl.zst");
    fs::write(&copy, packed.bytes).expect("room");
    let (found, copied) = (run_of(&path), run_of(&copy));
    assert_same(&copied, &found);
    assert_eq!(
        copied.past().map(|p| (p.kept().len(), p.total().clone())),
        found.past().map(|p| (p.kept().len(), p.total().clone()))
    );
}
