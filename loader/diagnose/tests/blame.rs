//! Causes of waits: they add up to the waited time, and match the stage of the awaited batch at every instant.

use std::time::{Duration, Instant};

use loadscope_diagnose::{
    Blame, BlamedInterval, Cause, Diagnosis, FetchBlame, Severity, Survey, VerdictId,
};
use loadscope_trace::{
    BatchId, Event, EventKind, Fetched, Nanos, Origin, Run, RunId, RunInfo, SampleTiming, Stage,
    StageTiming, WorkerInfo,
};
use proptest::prelude::*;

use crate::any;
use crate::history;

use history::{fold, history, moves};

/// Checks the invariants of all runs.
fn assert_sound(run: &Run) {
    let blame = Blame::whole(run);
    let sum = blame.iter().fold(Nanos::ZERO, |sum, (_, time)| sum + time);
    assert_eq!(sum, run.waited());
    assert_eq!(blame.waited, run.waited());
    let mut waits = Nanos::ZERO;
    for (k, wait) in run.waits().iter().enumerate() {
        let parts = BlamedInterval::of_wait(run, k);
        let mut end = wait.end.min(run.end());
        for part in &parts {
            assert!(part.start < part.end, "{part:?}");
            waits += part.end - part.start;
        }
        // The parts have no gaps. Parts of one stage are in order of time.
        let mut sorted = parts.clone();
        sorted.sort_by_key(|p| std::cmp::Reverse(p.start));
        for part in sorted {
            assert_eq!(part.end, end);
            end = part.start;
        }
        assert!(end == wait.start || wait.end <= wait.start);
    }
    assert_eq!(waits, run.waited());
    let fetching = FetchBlame::between(run, Nanos(i64::MIN), Nanos::MAX);
    assert_eq!(
        Some(fetching.total()),
        blame.time_of(Cause::Fetching).or(Some(Nanos::ZERO))
    );
}

fn cause_fits(cause: Cause, stage: Option<Stage>) -> bool {
    match cause {
        Cause::NotDispatched => stage.is_none(),
        Cause::Starting | Cause::Queued | Cause::IndexQueue => stage == Some(Stage::Queued),
        Cause::Fetching => stage == Some(Stage::Fetching),
        Cause::Collating => stage == Some(Stage::Collating),
        Cause::Returning => stage == Some(Stage::Returning),
        Cause::Pinning => stage == Some(Stage::Pinning),
        Cause::Held => stage == Some(Stage::Held),
        Cause::Sampling | Cause::Trainer => stage >= Some(Stage::Ready),
        Cause::InWorker => stage == Some(Stage::Queued),
        Cause::End | Cause::NotMeasured => true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn causes_add_up_to_the_waited_time_for_any_history(moves in moves(), wild in any::<bool>()) {
        let mut run = fold(&history(&moves, wild));
        assert_sound(&run);
        run.info.origin = Origin::Pytorch(String::new());
        assert_sound(&run);
    }

    #[test]
    fn causes_add_up_to_the_waited_time_for_any_events(events in prop::collection::vec(any::event(), 0..120)) {
        let mut run = fold(&events);
        assert_sound(&run);
        run.info.origin = Origin::Pytorch(String::new());
        assert_sound(&run);
        let diagnosis = Diagnosis::of(&run, None, Vec::new());
        prop_assert!(!diagnosis.verdict.text().is_empty());
    }

    #[test]
    fn each_cause_fits_the_stage_of_the_awaited_batch(moves in moves()) {
        let run = fold(&history(&moves, false));
        for (k, wait) in run.waits().iter().enumerate() {
            let Some(row) = run.awaited_in(wait) else { continue };
            let id = run.batches()[row].id;
            for part in BlamedInterval::of_wait(&run, k) {
                for at in [part.start, Nanos(part.end.0 - 1)] {
                    let stage = run.pipeline_at(at).stage_of(id);
                    // The parts of a split stage have the right lengths, but not the exact times.
                    prop_assert!(cause_fits(part.cause, stage), "{part:?} {stage:?}");
                }
            }
        }
    }

    #[test]
    fn causes_of_ranges_add_up_to_those_of_the_run(moves in moves(), cuts in prop::collection::vec(0.0..1.0f64, 1..6)) {
        let mut run = fold(&history(&moves, false));
        run.info.origin = Origin::Pytorch(String::new());
        let mut at: Vec<Nanos> = cuts.iter().map(|c| Nanos((c * run.end().0 as f64) as i64)).collect();
        at.extend([Nanos(i64::MIN), Nanos::MAX]);
        at.sort();
        let whole = Blame::whole(&run);
        let parts: Vec<_> = at.windows(2).map(|w| Blame::between(&run, w[0], w[1])).collect();
        let ready = parts.iter().filter_map(|p| p.ready_batches).fold(Nanos::ZERO, |a, b| a + b);
        prop_assert_eq!(Some(ready), whole.ready_batches);
        for cause in Cause::ALL {
            let of = |b: &Blame| b.time_of(cause).unwrap_or_default();
            let sum = parts.iter().map(of).fold(Nanos::ZERO, |a, b| a + b);
            prop_assert_eq!(sum, of(&whole), "{:?}", cause);
        }
        let fetching: Vec<_> = at.windows(2).map(|w| FetchBlame::between(&run, w[0], w[1]).total()).collect();
        let sum = fetching.into_iter().fold(Nanos::ZERO, |a, b| a + b);
        prop_assert_eq!(sum, FetchBlame::between(&run, Nanos(i64::MIN), Nanos::MAX).total());
    }
}

const WAITS: EventKind = EventKind::Consumer { waiting: true };

fn id(idx: u32) -> BatchId {
    BatchId { epoch: 0, idx }
}

fn enter(idx: u32, stage: Stage) -> EventKind {
    EventKind::Entered {
        batch: id(idx),
        stage,
    }
}

fn run_of(info: RunInfo, events: Vec<(i64, EventKind)>) -> Run {
    let mut run = Run::new(info);
    for (at, kind) in events {
        run.apply(&Event {
            at: Nanos(at),
            run: RunId(0),
            kind,
        });
    }
    assert_eq!(run.anomalies(), (0, 0));
    run
}

#[test]
fn waited_time_is_split_by_cause() {
    let worker = WorkerInfo {
        worker: 0,
        seed: Some(1),
        os_id: None,
    };
    let run = run_of(
        RunInfo {
            pinning: Some("mlock".to_owned()),
            ..RunInfo::default()
        },
        vec![
            (0, EventKind::EpochStarted { epoch: 0 }),
            (0, WAITS),
            (7, EventKind::dispatched(id(0), Some(0), [5])),
            (7, EventKind::dispatched(id(1), Some(0), [6, 7])),
            (20, EventKind::WorkerStarted(Box::new(worker))),
            (24, enter(0, Stage::Fetching)),
            (40, enter(0, Stage::Returning)),
            (41, enter(0, Stage::Training)),
            (50, WAITS),
            (52, enter(1, Stage::Failed)),
        ],
    );
    let blame = Blame::whole(&run);
    let of = |run: &Run, cause| Blame::whole(run).time_of(cause).map(|t| t.0);
    assert_eq!(of(&run, Cause::NotDispatched), Some(7));
    assert_eq!(of(&run, Cause::Starting), Some(13));
    // Batch 0 is in the queue of an idle worker from 20 to 24, and batch 1 from 50 on.
    assert_eq!(of(&run, Cause::IndexQueue), Some(4 + 2));
    assert_eq!((of(&run, Cause::Fetching), blame.waited.0), (Some(16), 43));
}

#[test]
fn waited_time_is_split_by_sample_and_stage() {
    let sample = |start, wall| SampleTiming {
        start: Nanos(start),
        wall: Nanos(wall),
        cpu: None,
    };
    let fetched = EventKind::Fetched(Box::new(Fetched {
        batch: id(1),
        samples: vec![sample(100, 20), sample(125, 15)],
        stages: vec![
            StageTiming {
                name: "read".to_owned(),
                walls: vec![Nanos(5), Nanos(3)],
            },
            StageTiming {
                name: "decode".to_owned(),
                walls: vec![Nanos(10), Nanos(12)],
            },
        ],
    }));
    let run = run_of(
        RunInfo {
            pinning: Some("mlock".to_owned()),
            ..RunInfo::default()
        },
        vec![
            (0, EventKind::EpochStarted { epoch: 0 }),
            (0, EventKind::dispatched(id(0), Some(0), [5])),
            (0, EventKind::dispatched(id(1), Some(0), [6, 7])),
            (10, enter(0, Stage::Fetching)),
            (60, WAITS),
            (70, enter(0, Stage::Returning)),
            (71, enter(0, Stage::Training)),
            (80, WAITS),
            (100, enter(1, Stage::Fetching)),
            (145, fetched),
            (145, enter(1, Stage::Collating)),
            (150, enter(1, Stage::Returning)),
            (153, enter(1, Stage::Pinning)),
            (157, enter(1, Stage::Returning)),
            (159, enter(1, Stage::Ready)),
            (164, EventKind::dispatched(id(2), Some(0), [8])),
            (166, enter(1, Stage::Training)),
            (170, WAITS),
            (175, enter(2, Stage::Fetching)),
            (180, enter(2, Stage::Training)),
            (190, WAITS),
            (193, EventKind::Consumer { waiting: false }),
        ],
    );
    let causes: Vec<(Cause, i64)> = Blame::whole(&run).iter().map(|(c, t)| (c, t.0)).collect();
    assert_eq!(
        causes,
        [
            (Cause::IndexQueue, 20 + 5),
            (Cause::Fetching, 10 + 45 + 5),
            (Cause::Collating, 5),
            (Cause::Returning, 1 + 3 + 2),
            (Cause::Pinning, 4),
            (Cause::Sampling, 5),
            (Cause::Trainer, 2),
            (Cause::End, 3),
        ]
    );
    let fetching = FetchBlame::between(&run, Nanos(0), Nanos::MAX);
    let stages: Vec<(&str, i64)> = fetching
        .stages
        .iter()
        .map(|(n, t)| (n.as_str(), t.0))
        .collect();
    assert_eq!(stages, [("read", 8), ("decode", 22)]);
    assert_eq!((fetching.unnamed.0, fetching.elsewhere.0), (5, 10 + 10 + 5));
    let first = fetching.samples[0];
    assert_eq!((first.row, first.index, first.waited.0), (1, Some(6), 20));
    // The range is within the decoding of the first sample.
    let part = FetchBlame::between(&run, Nanos(107), Nanos(112));
    assert_eq!(part.stages, [("decode".to_owned(), Nanos(5))]);
}

#[test]
fn unmeasured_causes_have_no_time_instead_of_zero() {
    let events = || {
        vec![
            (0, EventKind::EpochStarted { epoch: 0 }),
            (0, EventKind::dispatched(id(0), Some(0), [5])),
            (0, WAITS),
            (30, enter(0, Stage::Returning)),
            (31, enter(0, Stage::Training)),
        ]
    };
    let all = run_of(RunInfo::default(), events());
    assert_eq!(
        Blame::whole(&all).time_of(Cause::Fetching),
        Some(Nanos::ZERO)
    );
    assert_eq!(
        Blame::whole(&all).time_of(Cause::NotMeasured),
        Some(Nanos::ZERO)
    );
    let measured = vec![Stage::Queued, Stage::Returning, Stage::Training];
    let blind = run_of(
        RunInfo {
            measured,
            ..RunInfo::default()
        },
        events(),
    );
    let blame = Blame::whole(&blind);
    assert_eq!(blame.time_of(Cause::Fetching), None);
    assert_eq!(blame.time_of(Cause::NotMeasured), Some(Nanos(30)));
    assert_eq!(blame.time_of(Cause::Returning), Some(Nanos(1)));
    assert_eq!(blame.ready_batches, None);
    assert!(blame.not_measured.contains(&Cause::Collating));
    assert!(
        !blame.not_measured.contains(&Cause::Pinning),
        "nothing is pinned"
    );
}

#[test]
fn an_empty_run_has_no_cause_and_no_finding() {
    let run = Run::default();
    assert_eq!(Blame::whole(&run).main(), None);
    let diagnosis = Diagnosis::of(&run, None, Vec::new());
    assert_eq!(
        (diagnosis.verdict.id, diagnosis.verdict.severity),
        (VerdictId::Empty, Severity::Note)
    );
    assert!(diagnosis.findings.is_empty());
    assert_eq!(Survey::of(&run).needed_workers(), None);
}

/// Run with `--release -- --ignored --nocapture`.
#[test]
#[ignore = "measures"]
fn causes_of_a_million_batches_are_found_in_100_ms() {
    let mut run = Run::default();
    let mut push = |at: i64, kind| {
        run.apply(&Event {
            at: Nanos(at),
            run: RunId(0),
            kind,
        })
    };
    push(0, EventKind::EpochStarted { epoch: 0 });
    for k in 0..1_000_000u32 {
        let at = i64::from(k) * 100;
        push(at, WAITS);
        push(
            at + 5,
            EventKind::dispatched(id(k), Some((k % 4) as u16), [u64::from(k)]),
        );
        for (dt, stage) in [
            (10, Stage::Fetching),
            (40, Stage::Collating),
            (50, Stage::Returning),
            (60, Stage::Ready),
            (61, Stage::Training),
        ] {
            push(at + dt, enter(k, stage));
        }
    }
    let best = (0..5).map(|_| {
        let start = Instant::now();
        assert_eq!(Blame::whole(&run).waited, run.waited());
        start.elapsed()
    });
    let best = best.min().unwrap_or_default();
    let start = Instant::now();
    let diagnosis = Diagnosis::of(&run, None, Vec::new());
    println!(
        "blame {best:?}, all findings {:?}: {}",
        start.elapsed(),
        diagnosis.verdict.text()
    );
    assert!(best < Duration::from_millis(100), "{best:?}");
}
