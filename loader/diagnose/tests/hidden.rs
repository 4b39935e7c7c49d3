//! Runs with a hidden end: all results equal those of a run that ended at that moment.

use std::fmt::Write as _;

use loadscope_diagnose::{Blame, Diagnosis, WaitSummary};
use loadscope_trace::{Counter, Event, EventKind, Lane, Moment, Nanos, Run, RunId, Summary, Track};
use proptest::prelude::*;

use crate::any;
#[path = "../../trace/tests/ask/mod.rs"]
mod ask;
use crate::history;

use history::{history, moves};

/// Returns a run of the first events, up to a random event that is followed by a later time, and the moment of its end.
fn cut(events: &[Event], share: f64) -> Option<(Run, Moment)> {
    let wanted = (events.len() as f64 * share) as usize;
    let mut run = Run::default();
    let mut rest = events.iter();
    let mut found = None;
    for (k, event) in rest.by_ref().enumerate() {
        let before = run.end();
        if k >= wanted.max(1) {
            let mut next = run.clone();
            next.apply(event);
            if next.end() > before {
                found = Some(run);
                break;
            }
            run = next;
        } else {
            run.apply(event);
        }
    }
    let run = found?;
    let moment = Moment {
        step: run.transitions().len(),
        at: run.end(),
    };
    Some((run, moment))
}

/// Returns the results of all queries as text.
fn answers(run: &Run) -> String {
    let mut text = String::new();
    let mut say = |what: &dyn std::fmt::Debug| {
        let _ = writeln!(text, "{what:?}");
    };
    let end = run.end();
    say(&(end, run.has_ended(), run.dropped(), run.losses()));
    for (row, b) in run.batches().iter().enumerate() {
        say(&(b.id, b.worker, b.stage, b.was_held, b.was_yielded));
        say(&(b.has_error, b.was_pinned(), b.samples()));
        say(&(run.path(row), run.indices(row), run.content(row)));
        say(&run.samples(row).collect::<Vec<_>>());
        say(&run.sample_stages(row).map(|s| (s.names, s.total(0))));
    }
    for t in run.transitions() {
        say(&(t.at, t.batch, t.stage));
    }
    let waits = run.waits().iter();
    say(&waits.map(|w| (w.start, w.end, w.batch)).collect::<Vec<_>>());
    for e in run.epochs() {
        say(&(e.epoch, e.start, e.end, &e.rows));
    }
    for w in run.workers() {
        say(&(&w.info, w.start, w.end));
    }
    say(&(run.messages(), run.parts(), run.stage_names()));
    say(&run
        .gauges()
        .map(|(l, w, s)| (l, w, s.points()))
        .collect::<Vec<_>>());
    say(&run
        .part_gauges()
        .map(|(l, w, s)| (l, w, s.points()))
        .collect::<Vec<_>>());
    for (lane, rows) in run.lanes() {
        for row in 0..rows as u16 {
            let track = run.track(Track { lane, row }).expect("a listed track");
            say(&(lane, track.all()));
            for part in 0..=7 {
                let at = Nanos(end.0 / 7 * part);
                say(&(track.until(at), track.range(at, Nanos(end.0 + 1)).len()));
            }
        }
        say(&run.counter(Counter::In(lane), Nanos::ZERO, end, 5));
    }
    let level = run.tasks_outstanding();
    say(&(level.before(end), level.changes(Nanos::ZERO, end)));
    say(&(
        run.yields().all(),
        run.waited(),
        run.in_loop(),
        run.opening(),
    ));
    say(&run.failure());
    say(&run.range(Nanos(end.0 / 3), end));
    // Only the complete run has a number of events.
    let summary = Summary {
        events: 0,
        ..Summary::of(run)
    };
    say(&(summary, Blame::whole(run)));
    let wait_summary = WaitSummary::of(run);
    say(&(
        wait_summary.headline(),
        wait_summary.cause(),
        wait_summary.batch(),
    ));
    let diagnosis = Diagnosis::of(run, None, Vec::new());
    say(&(diagnosis.verdict, diagnosis.findings));
    for part in 0..=5 {
        let pipeline = run.pipeline_at(Nanos(end.0 / 5 * part));
        say(&(
            pipeline.send_idx,
            pipeline.rcvd_idx,
            pipeline.tasks_outstanding,
        ));
        say(&pipeline.batches().collect::<Vec<_>>());
        say(&pipeline.waiting.map(|w| (w.start, w.end, w.batch)));
    }
    say(&run.spent(Lane::Trainer, Nanos::ZERO, end));
    text
}

fn check(events: &[Event], shares: &[f64]) {
    let mut whole = Run::default();
    events.iter().for_each(|e| whole.apply(e));
    let before = format!("{whole:?}");
    let mut versions = vec![whole.version()];
    for share in shares {
        let Some((mut then, moment)) = cut(events, *share) else {
            continue;
        };
        then.info = whole.info.clone();
        whole.hide_after(Some(moment));
        assert_eq!(whole.hidden_after(), Some(moment));
        let (hidden, then) = (answers(&whole), answers(&then));
        if hidden != then {
            let pairs = hidden.lines().zip(then.lines());
            let differ = pairs.filter(|(a, b)| a != b).take(3).collect::<Vec<_>>();
            panic!("at {moment:?}: {differ:#?}");
        }
        versions.push(whole.version());
    }
    ask::ask_everything(&whole);
    whole.hide_after(None);
    assert_eq!(format!("{whole:?}"), before);
    assert_eq!(whole.version(), versions[0]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]

    #[test]
    fn a_run_with_a_hidden_end_equals_one_that_ended_there(
        moves in moves(),
        wild in any::<bool>(),
        shares in prop::collection::vec(0.0..1.0f64, 1..6),
    ) {
        check(&history(&moves, wild), &shares);
    }

    #[test]
    fn any_events_with_a_hidden_end_equal_a_run_ended_there(
        events in prop::collection::vec(any::event(), 1..300),
        shares in prop::collection::vec(0.0..1.0f64, 1..6),
    ) {
        // Reduced data of older parts is not hidden.
        let is_of_past = |event: &Event| {
            use loadscope_trace::EventKind::{Kept, Retention, State, Summed};
            matches!(event.kind, Retention(_) | Summed(_) | Kept(_) | State(_))
        };
        let events: Vec<Event> = events.into_iter().filter(|event| !is_of_past(event)).collect();
        check(&events, &shares);
    }
}

#[test]
fn a_new_event_shows_the_hidden_end_again() {
    let moves = [];
    let mut events = history(&moves, false);
    events.retain(|e| e.at.0 < 2);
    let mut run = Run::default();
    run.apply(&events[0]);
    run.apply(&events[1]);
    run.hide_after(Some(Moment {
        step: 0,
        at: Nanos(-1),
    }));
    assert!(run.epochs().is_empty());
    run.apply(&events[2]);
    assert_eq!((run.epochs().len(), run.hidden_after()), (1, None));
}

/// Returns a run of `batches` batches with 64 workers.
fn long_run(batches: u32) -> Run {
    use loadscope_trace::{BatchId, EventKind, RunId, Stage};
    let mut run = Run::default();
    let mut tell = |at: i64, kind| {
        run.apply(&Event {
            at: Nanos(at),
            run: RunId(0),
            kind,
        });
    };
    tell(0, EventKind::EpochStarted { epoch: 0 });
    let id = |idx| BatchId { epoch: 0, idx };
    for idx in 0..batches {
        let at = i64::from(idx) * 1000;
        tell(
            at,
            EventKind::dispatched(id(idx), Some(idx as u16 % 64), [u64::from(idx)]),
        );
        tell(at + 1, EventKind::Consumer { waiting: true });
        let late = idx.saturating_sub(63);
        if idx < 63 {
            continue;
        }
        for (k, stage) in [
            Stage::Fetching,
            Stage::Collating,
            Stage::Returning,
            Stage::Ready,
            Stage::Training,
        ]
        .into_iter()
        .enumerate()
        {
            let (at, batch) = (at + 2 + k as i64, id(late));
            tell(at, EventKind::Entered { batch, stage });
        }
    }
    run
}

/// Moves the moment back and forth. Returns the elapsed time.
fn travel(run: &mut Run) -> std::time::Duration {
    let all = run.whole().transitions().len();
    let begin = std::time::Instant::now();
    let mut versions = std::collections::BTreeSet::new();
    for k in 1..=50usize {
        let step = (k * 7_919_777) % all;
        let at = run.whole().transitions()[step].at;
        run.hide_after(Some(Moment { step: step + 1, at }));
        assert_eq!(run.transitions().len(), step + 1);
        versions.insert(run.version());
    }
    let took = begin.elapsed();
    assert_eq!(versions.len(), 50);
    took
}

/// The moment moves about as quickly in a long run as in a short one, because chunks are not copied. The runs alternate and the best of
/// several rounds counts, so other load on the host does not matter.
#[test]
fn moving_the_hidden_end_is_as_fast_in_a_long_run() {
    let (mut short, mut long) = (long_run(20_000), long_run(400_000));
    let rounds = (0..5).map(|_| (travel(&mut short), travel(&mut long)));
    let best = rounds.reduce(|a, b| (a.0.min(b.0), a.1.min(b.1)));
    let (quick, slow) = best.expect("five rounds");
    assert!(
        slow < quick * 6,
        "20 times the batches: {slow:?} after {quick:?}"
    );
    for run in [&mut short, &mut long] {
        let all = run.whole().transitions().len();
        run.hide_after(None);
        assert_eq!(run.transitions().len(), all);
    }
}

/// Returns events of these kinds, one per nanosecond.
fn each_nanosecond(kinds: impl IntoIterator<Item = EventKind>) -> Vec<Event> {
    let event = |(at, kind)| Event {
        at: Nanos(at),
        run: RunId(0),
        kind,
    };
    (0..).zip(kinds).map(event).collect()
}

/// One error arrives before its batch, another after it.
#[test]
fn an_error_before_its_batch_is_assigned_to_it() {
    use loadscope_trace::{BatchId, Level, Message};

    let batch = BatchId { epoch: 0, idx: 0 };
    let error = || {
        EventKind::Message(Box::new(Message {
            level: Level::Error,
            text: "it failed".to_owned(),
            about: Some(batch),
            worker: None,
            sample: None,
        }))
    };
    let kinds = [
        EventKind::EpochStarted { epoch: 0 },
        error(),
        EventKind::dispatched(batch, None, Vec::new()),
        error(),
    ];
    let events = each_nanosecond(kinds);
    let mut run = Run::default();
    events[..3].iter().for_each(|event| run.apply(event));
    assert!(run.batches()[0].has_error);
    check(&events, &[0.0, 0.3, 0.7, 1.0]);
}

/// A batch without samples gets two measurements. The first counts.
#[test]
fn the_first_measurement_of_an_empty_batch_counts() {
    use loadscope_trace::{BatchId, Fetched, StageTiming};

    let batch = BatchId { epoch: 0, idx: 0 };
    let fetched = |stage: &str| {
        EventKind::Fetched(Box::new(Fetched {
            batch,
            samples: Vec::new(),
            stages: vec![StageTiming {
                name: stage.to_owned(),
                walls: Vec::new(),
            }],
        }))
    };
    let kinds = [
        EventKind::EpochStarted { epoch: 0 },
        EventKind::dispatched(batch, None, Vec::new()),
        fetched("decode"),
        fetched("augment"),
        EventKind::Consumer { waiting: true },
    ];
    let events = each_nanosecond(kinds);
    let mut run = Run::default();
    events.iter().for_each(|event| run.apply(event));
    let stages = run.sample_stages(0).map(|s| s.names.to_vec());
    assert_eq!(stages, Some(vec!["decode".to_owned()]));
    check(&events, &[0.0, 0.3, 0.5, 0.7, 0.9, 1.0]);
}

/// Several events have the same time, and the moment is between them. Steps that begin after the moment do not count.
#[test]
fn a_later_event_of_equal_time_stays_hidden() {
    use loadscope_trace::{BatchId, Stage};
    let batch = |idx| BatchId { epoch: 0, idx };
    let mut run = Run::default();
    let mut tell = |at: i64, kind| {
        run.apply(&Event {
            at: Nanos(at),
            run: RunId(0),
            kind,
        });
    };
    tell(0, EventKind::EpochStarted { epoch: 0 });
    for idx in 0..8u32 {
        let at = i64::from(idx) * 10;
        tell(at, EventKind::Consumer { waiting: true });
        tell(
            at,
            EventKind::dispatched(batch(idx), None, [u64::from(idx)]),
        );
        for (after, stage) in [(4, Stage::Ready), (4, Stage::Training), (10, Stage::Done)] {
            let batch = batch(idx);
            tell(at + after, EventKind::Entered { batch, stage });
        }
    }
    for step in 1..=run.whole().transitions().len() {
        let at = run.whole().transitions()[step - 1].at;
        run.hide_after(Some(Moment { step, at }));
        // The loop only waits and trains.
        assert_eq!(run.in_loop(), at, "after {step} changes of stage");
    }
}
