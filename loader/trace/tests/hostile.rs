//! Events and files that no real source produces: no panic, no contradiction, no endless loop.

use crate::any;
use crate::ask;

use std::io::Cursor;

use ask::ask_everything;
use loadscope_trace::{
    BatchId, Compression, Event, EventKind, Fetched, Lane, LogReader, LogWriter, Nanos, Run, RunId,
    RunInfo, SampleTiming, Sorter, Stage, StageTiming, Track, WorkerInfo,
};
use proptest::prelude::*;

fn event(at: i64, kind: EventKind) -> Event {
    Event {
        at: Nanos(at),
        run: RunId(0),
        kind,
    }
}

fn fold(events: impl IntoIterator<Item = Event>) -> Run {
    let mut run = Run::new(RunInfo::default());
    events.into_iter().for_each(|e| run.apply(&e));
    run
}

fn bytes_of(events: &[Event], compression: Compression) -> Vec<u8> {
    let mut log = LogWriter::new(Vec::new(), compression).expect("a vector");
    for e in events {
        log.write(e).expect("a vector takes everything");
    }
    log.finish().expect("a vector")
}

/// Folds the readable events of `bytes`.
fn read(bytes: Vec<u8>) -> Run {
    let reader = LogReader::new(Cursor::new(bytes));
    fold(reader.into_iter().flatten().map_while(Result::ok))
}

/// Returns the output of a sorter with this `window`, which is nearly or completely in order of time.
fn sorted(kinds: Vec<(Nanos, EventKind)>, window: Nanos) -> Vec<Event> {
    let mut sorter = Sorter::new(window);
    let mut out = Vec::new();
    for (at, kind) in kinds {
        sorter.push(event(at.0, kind));
        out.extend(std::iter::from_fn(|| sorter.pop(None)));
    }
    out.extend(std::iter::from_fn(|| sorter.flush()));
    out
}

/// Returns random damage: position (as a share of the length), kind, byte.
fn damages() -> impl Strategy<Value = Vec<(f64, u8, u8)>> {
    prop::collection::vec((0.0..1.0, 0..4u8, any::<u8>()), 1..6)
}

fn damage(bytes: &mut Vec<u8>, damages: &[(f64, u8, u8)]) {
    for (at, what, byte) in damages {
        let at = (bytes.len() as f64 * at) as usize;
        match what {
            0 => bytes.insert(at, *byte),
            1 if at < bytes.len() => bytes[at] ^= (*byte).max(1),
            2 if at < bytes.len() => _ = bytes.remove(at),
            _ => bytes.truncate(bytes.len() - usize::from(*byte).min(bytes.len())),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn any_events_give_a_consistent_run(
        kinds in prop::collection::vec((any::time(), any::kind(false)), 1..300),
        window in any::time(),
    ) {
        ask_everything(&fold(sorted(kinds, window)));
    }

    #[test]
    fn plausible_events_of_odd_batches_give_a_consistent_run(
        first in any::time(),
        kinds in prop::collection::vec((0..3i64, any::kind(false)), 1..700),
    ) {
        let mut at = first.0;
        let begin = [EventKind::EpochStarted { epoch: 0 }, EventKind::EpochStarted { epoch: 1 }];
        let kinds = begin.into_iter().map(|k| (0, k)).chain(kinds);
        // Epochs that do not end lead to more activity.
        let kinds = kinds.filter(|(_, k)| !matches!(k, EventKind::EpochEnded { .. } | EventKind::RunEnded));
        ask_everything(&fold(kinds.map(|(step, kind)| {
            at = at.saturating_add(step);
            event(at, kind)
        })));
    }

    #[test]
    fn damaged_logs_give_a_consistent_run(
        events in prop::collection::vec(any::event(), 1..40),
        damages in damages(),
        zstd in any::<bool>(),
    ) {
        let compression = if zstd { Compression::Zstd } else { Compression::None };
        let mut bytes = bytes_of(&events, compression);
        damage(&mut bytes, &damages);
        ask_everything(&read(bytes));
    }

    #[test]
    fn random_bytes_after_a_valid_line_are_refused(
        rubbish in prop::collection::vec(any::<u8>(), 1..300),
        zstd in any::<bool>(),
    ) {
        let compression = if zstd { Compression::Zstd } else { Compression::None };
        let mut bytes = bytes_of(&[event(1, EventKind::RunEnded)], compression);
        bytes.extend(rubbish);
        bytes.extend(b"\n{}\n");
        let mut reader = LogReader::new(Cursor::new(bytes)).expect("a sound header");
        prop_assert!(reader.next().is_some_and(|e| e.is_ok()));
        prop_assert!(reader.by_ref().any(|e| e.is_err()) || reader.is_truncated());
        prop_assert!(reader.next().is_none());
    }

    #[test]
    fn json_in_every_field_is_refused_or_read(
        name in "(t|run|e|epoch|batch|stage|worker|indices|starts|walls|cpus|stages|waiting|seed|lane|what|value|info|fields)",
        value in r#"(-?[0-9]{1,25}|-?[0-9]\.[0-9]e[0-9]{1,4}|null|true|"[a-z_]{0,9}"|\[{1,200}|\[(0,){0,9}0\]|\{"a":\{\}\})"#,
        e in any::event(),
    ) {
        let text = String::from_utf8(bytes_of(&[e], Compression::None)).expect("UTF-8");
        let (header, line) = text.split_once('\n').expect("two lines");
        let mut members: Vec<String> = vec![format!("\"{name}\":{value}")];
        if let Ok(serde_json::Value::Object(map)) = serde_json::from_str(line) {
            let rest = map.iter().filter(|(k, _)| **k != name);
            members.extend(rest.map(|(k, v)| format!("\"{k}\":{v}")));
        }
        let text = format!("{header}\n{{{}}}\n", members.join(","));
        ask_everything(&read(text.into_bytes()));
    }
}

#[test]
fn endless_pinning_gives_a_consistent_run() {
    let batch = BatchId::default();
    let begin = [
        EventKind::EpochStarted { epoch: 0 },
        EventKind::dispatched(batch, Some(0), [1]),
    ];
    let ring = [Stage::Pinning, Stage::Returning].into_iter().cycle();
    let ring = ring.map(|stage| EventKind::Entered { batch, stage });
    let kinds = begin.into_iter().chain(ring.take(2000));
    ask_everything(&fold(
        kinds.enumerate().map(|(k, kind)| event(k as i64, kind)),
    ));
}

#[test]
fn a_second_fetched_event_is_ignored() {
    let batch = BatchId::default();
    let fetched = |count: usize, names: &[&str]| {
        let sample = SampleTiming {
            start: Nanos(1),
            wall: Nanos::MAX,
            cpu: None,
        };
        let stage = |name: &&str| StageTiming {
            name: (*name).to_owned(),
            walls: vec![Nanos::MAX; 9],
        };
        EventKind::Fetched(Box::new(Fetched {
            batch,
            samples: vec![sample; count],
            stages: names.iter().map(stage).collect(),
        }))
    };
    let run = fold([
        event(0, EventKind::EpochStarted { epoch: 0 }),
        event(1, EventKind::dispatched(batch, None, [5])),
        event(2, fetched(3, &["a", "b"])),
        event(3, fetched(1, &["c"])),
    ]);
    assert_eq!(run.anomalies(), (0, 1));
    assert_eq!(run.samples(0).len(), 3);
    let stages = run.sample_stages(0).expect("named stages");
    assert_eq!(stages.names, ["a", "b"]);
    assert_eq!(
        (stages.wall(1, 2), stages.total(1)),
        (Nanos::MAX, Nanos::MAX)
    );
    ask_everything(&run);
}

#[test]
fn names_and_workers_above_the_limit_are_counted() {
    let mut run = fold([event(0, EventKind::EpochStarted { epoch: 0 })]);
    let stage = |k: usize| StageTiming {
        name: k.to_string(),
        walls: vec![Nanos(1)],
    };
    let sample = SampleTiming {
        start: Nanos(1),
        wall: Nanos(1),
        cpu: None,
    };
    for idx in 0..1000u32 {
        let batch = BatchId { epoch: 0, idx };
        let worker = u16::MAX - idx as u16;
        let info = WorkerInfo {
            worker,
            seed: Some(u64::MAX),
            os_id: None,
        };
        // One batch has more stages than 16 bits can count.
        let stages = (0..if idx == 7 { 70_000 } else { 1 }).map(|k| stage(k + idx as usize));
        let fetched = Fetched {
            batch,
            samples: vec![sample],
            stages: stages.collect(),
        };
        run.apply(&event(1, EventKind::WorkerStarted(Box::new(info))));
        run.apply(&event(1, EventKind::dispatched(batch, Some(worker), [])));
        run.apply(&event(2, EventKind::Fetched(Box::new(fetched))));
    }
    assert!(run.sample_stages(6).is_some() && run.sample_stages(7).is_none());
    assert!(run.sample_stages(999).is_none());
    assert_eq!(run.lanes().count(), 1000);
    assert!(
        run.track(Track {
            lane: Lane::IndexQueue(u16::MAX),
            row: 0
        })
        .is_some()
    );
    ask_everything(&run);
}

#[test]
fn a_second_end_of_an_epoch_is_ignored() {
    let batch = BatchId::default();
    let run = fold([
        event(0, EventKind::EpochStarted { epoch: 0 }),
        event(1, EventKind::dispatched(batch, None, [])),
        event(5, EventKind::EpochEnded { epoch: 0 }),
        event(6, EventKind::RunStarted(Box::default())),
        event(7, EventKind::EpochEnded { epoch: 0 }),
        event(
            8,
            EventKind::dispatched(BatchId { epoch: 0, idx: 1 }, None, []),
        ),
        event(9, EventKind::dispatched(batch, None, [])),
        event(9, EventKind::EpochStarted { epoch: 0 }),
        event(9, EventKind::Dropped { count: u64::MAX }),
        event(9, EventKind::Dropped { count: 1 }),
    ]);
    assert_eq!(run.epochs()[0].end, Some(Nanos(5)));
    assert_eq!((run.batches().len(), run.dropped()), (1, u64::MAX));
    assert_eq!(run.anomalies(), (0, 4));
    ask_everything(&run);
}
