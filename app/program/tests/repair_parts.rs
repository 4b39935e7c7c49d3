//! Damaged recording with a limit, which has several files.
#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]

use std::fs;
use std::path::{Path, PathBuf};

use loadscope_files::Existing;
use loadscope_session::{Limited, Limits, NewLimited};
use loadscope_trace::{BatchId, Event, EventKind, Nanos, RunId, Stage};
use serde_json::Value;

use crate::support::{command_error, info, json, loadscope, text};

/// Number of batches. The oldest parts are dropped.
const BATCHES: u32 = 12_000;

fn event(at: i64, kind: EventKind) -> Event {
    Event {
        at: Nanos(at),
        run: RunId(0),
        kind,
    }
}

/// Writes a recording in parts, with long waits. Incompressible indices fill the parts.
fn recorded(folder: &Path) -> PathBuf {
    let path = folder.join("run.jsonl.zst");
    let limits = Limits {
        last: None,
        max_size: 1_000_000,
        long_wait: Nanos::from_millis(100),
        keep_slowest: 10,
    };
    let new = NewLimited::create(&path, Existing::Keep, limits).expect("room");
    let mut log = Limited::new(new);
    let start = EventKind::RunStarted(Box::default());
    log.write(&[
        event(0, start),
        event(0, EventKind::EpochStarted { epoch: 0 }),
    ])
    .expect("room");
    let (mut seed, mut at) = (7_u64, 0);
    for idx in 0..BATCHES {
        let batch = BatchId { epoch: 0, idx };
        let indices = (0..16).map(|_| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            seed >> 34
        });
        let enter = |stage| EventKind::Entered { batch, stage };
        let wait = if idx % 400 == 399 {
            150_000_000
        } else {
            1_000_000
        };
        let events = [
            event(
                at,
                EventKind::dispatched(batch, Some(0), indices.collect::<Vec<_>>()),
            ),
            event(at, EventKind::Consumer { waiting: true }),
            event(at + 10, enter(Stage::Fetching)),
            event(at + wait, enter(Stage::Training)),
            event(at + wait + 7_000_000, enter(Stage::Done)),
        ];
        at += wait + 7_000_000;
        log.write(&events).expect("room");
    }
    log.finish().expect("room");
    path
}

/// Returns the number of kept events. `info` also counts those that are reduced to sums.
fn kept(outcome: &Value) -> u64 {
    outcome["kept_events"].as_u64().expect("a number")
}

fn repaired(path: &Path) -> Value {
    json(&loadscope(&["repair", "--force", "--json", text(path)]))
}

/// Returns the files of the parts.
fn members(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path.with_file_name("run.parts")).expect("a folder");
    let mut members: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    members.sort();
    members
}

#[test]
fn a_sound_recording_in_parts_is_not_written_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = recorded(folder.path());
    let outcome = repaired(&path);
    assert_eq!(
        (&outcome["sound"], &outcome["output"]),
        (&true.into(), &Value::Null)
    );
    assert!(kept(&outcome) > 20_000, "{outcome}");
}

/// Damage to any one file keeps the data of all others, in one repaired recording.
#[test]
fn a_damaged_recording_in_parts_is_repaired_as_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = recorded(folder.path());
    let (before, whole) = (info(&path), repaired(&path));
    let output = path.with_file_name("run.repaired.jsonl.zst");
    let all = members(&path);
    assert!(all.len() > 6, "{all:?}");
    for member in &all {
        let sound = fs::read(member).expect("it is there");
        let middle = sound.len() / 2;
        let mut changed = sound.clone();
        changed[middle..(middle + 40).min(sound.len())].fill(0xA5);
        let cases = [
            changed,
            sound[..middle].to_vec(),
            vec![0; sound.len()],
            Vec::new(),
        ];
        for (case, bytes) in cases.into_iter().enumerate() {
            let what = format!("{}, case {case}", member.display());
            fs::write(member, bytes).expect("there is room");
            let outcome = repaired(&path);
            assert_eq!(outcome["sound"], Value::Bool(false), "{what}");
            assert_eq!(outcome["output"], Value::from(text(&output)), "{what}");
            assert_eq!(info(&output)["cut"], Value::Bool(false), "{what}");
            // Each file has a small share of the events.
            assert!(kept(&outcome) < kept(&whole), "{what}: {outcome}");
            assert!(kept(&outcome) > kept(&whole) / 2, "{what}: {outcome}");
            let again = repaired(&output);
            assert_eq!(again["sound"], Value::Bool(true), "{what}");
            assert_eq!(kept(&again), kept(&outcome), "{what}");
            let report = loadscope(&["report", text(&output)]);
            assert!(report.status.success(), "{what}");
        }
        fs::write(member, sound).expect("there is room");
    }
    assert_eq!(info(&path), before);
}

#[test]
fn a_recording_in_parts_without_a_sound_part_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = recorded(folder.path());
    for member in members(&path) {
        fs::write(member, "nothing").expect("there is room");
    }
    let refused = command_error(&["repair", text(&path)]);
    assert!(refused.contains("no part in "), "{refused}");
    assert!(!path.with_file_name("run.repaired.jsonl.zst").exists());
}
