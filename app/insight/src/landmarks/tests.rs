use loadscope_trace::{BatchId, Event, EventKind, Message, RunId, RunOptions};
use proptest::prelude::*;

use super::*;
use crate::simulated;

fn apply(run: &mut Run, at: i64, kind: EventKind) {
    run.apply(&Event {
        at: Nanos(at),
        run: RunId(0),
        kind,
    });
}

fn id(idx: u32) -> BatchId {
    BatchId { epoch: 0, idx }
}

/// Returns the run of a trainer that waits for each batch as long as `waits` gives. With `true`, the next batch arrives early.
fn run_of(waits: &[(i64, bool)]) -> Run {
    let mut run = Run::default();
    let mut at = 0;
    apply(&mut run, at, EventKind::EpochStarted { epoch: 0 });
    let enter = |idx, stage| EventKind::Entered {
        batch: id(idx),
        stage,
    };
    let count = waits.len() as u32;
    for idx in 0..count {
        apply(&mut run, at, EventKind::dispatched(id(idx), Some(0), []));
    }
    for (idx, (wait, swap)) in (0..count).zip(waits) {
        apply(&mut run, at, EventKind::Consumer { waiting: true });
        if *swap && idx + 1 < count {
            apply(&mut run, at, enter(idx + 1, Stage::Held));
        }
        at += wait;
        apply(&mut run, at, enter(idx, Stage::Training));
        at += 3;
        apply(&mut run, at, enter(idx, Stage::Done));
    }
    apply(&mut run, at, EventKind::RunEnded);
    run
}

proptest! {
    /// Skipping blocks does not change the result.
    #[test]
    fn stalls_equal_those_of_a_linear_scan(
        lengths in prop::collection::vec((prop_oneof![5 => 0..3i64, 1 => 0..400i64], any::<bool>()), 0..900),
        now in -10..40_000i64,
    ) {
        let run = run_of(&lengths);
        let marks = Landmarks::of(&run);
        let longest = run.waits().iter().map(|w| w.end.min(run.end()) - w.start).max().unwrap_or_default();
        let stalls: Vec<Nanos> = run
            .waits()
            .iter()
            .filter(|w| {
                let length = w.end.min(run.end()) - w.start;
                length.0 > 0 && length.0 * SMALL >= longest.0
            })
            .map(|w| w.start)
            .collect();
        let now = Nanos(now);
        let after = stalls.iter().find(|s| **s > now).copied().map(Place::At);
        let before = stalls.iter().rfind(|s| **s < now).copied().map(Place::At);
        prop_assert_eq!(marks.after(&run, Goal::Stall, 0, now), after);
        prop_assert_eq!(marks.before(&run, Goal::Stall, 0, now), before);
    }

    /// Updating with a growing run gives the same result as reading the whole run.
    #[test]
    fn incremental_landmarks_equal_those_of_the_whole_run(lengths in prop::collection::vec((0..50i64, any::<bool>()), 1..40)) {
        let whole = run_of(&lengths);
        let mut marks = Landmarks::default();
        for n in 1..=lengths.len() {
            // A prefix of the batches is not a prefix of the run, so each `follow` starts from scratch. The whole run
            // is then followed twice.
            marks.follow(&run_of(&lengths[..n]));
        }
        marks = Landmarks::default();
        marks.follow(&whole);
        marks.follow(&whole);
        let once = Landmarks::of(&whole);
        prop_assert_eq!(format!("{marks:?}"), format!("{once:?}"));
        prop_assert_eq!(marks.yields.len(), lengths.len());
    }
}

#[test]
fn an_arrival_is_out_of_order_while_an_earlier_batch_is_missing() {
    let run = run_of(&[(10, true), (0, false), (10, false), (10, true), (1, false)]);
    let marks = Landmarks::of(&run);
    let who: Vec<u32> = marks
        .out_of_order()
        .iter()
        .map(|s| {
            run.batches()[run.transitions()[*s as usize - 1].batch as usize]
                .id
                .idx
        })
        .collect();
    assert_eq!(who, [1, 4]);
    let first = marks.out_of_order()[0] as usize;
    assert_eq!(
        marks.after(&run, Goal::OutOfOrder, 0, Nanos::ZERO),
        Some(Place::Step(first))
    );
    assert_eq!(
        marks.before(&run, Goal::OutOfOrder, first, Nanos::ZERO),
        None
    );
}

#[test]
fn each_moment_of_trouble_is_listed_once() {
    let mut run = run_of(&[(5, false)]);
    let end = run.end().0;
    let say = |level| {
        EventKind::Message(Box::new(Message {
            level,
            text: "KeyError".to_owned(),
            about: None,
            worker: None,
            sample: None,
        }))
    };
    apply(&mut run, end + 1, say(Level::Error));
    let mut marks = Landmarks::of(&run);
    apply(&mut run, end + 1, say(Level::Error));
    apply(&mut run, end + 2, say(Level::Warning));
    apply(&mut run, end + 3, EventKind::Dropped { count: 7 });
    marks.follow(&run);
    assert_eq!(marks.trouble(), [Nanos(end + 1), Nanos(end + 3)]);
    assert_eq!(marks.counts(), (2, 1));
    assert_eq!(marks.problem_messages().len(), 3);
    let next = marks.after(&run, Goal::Trouble, 0, Nanos(end + 1));
    assert_eq!(next, Some(Place::At(Nanos(end + 3))));
    marks.follow(&Run::default());
    assert_eq!(marks.trouble(), []);
}

/// Regression test: a complete stream was "Stopped", because its last tasks are discarded when no data is left.
#[test]
fn only_an_error_counts_as_an_early_stop() {
    let options = |dataset: &str| RunOptions {
        dataset: dataset.to_owned(),
        batch_size: Some(1),
        num_workers: 2,
        ..RunOptions::default()
    };
    let run = simulated(&options("stream:len=24,cost_ms=5,shard=true"));
    let marks = Landmarks::of(&run);
    assert!(
        run.transitions()
            .iter()
            .any(|t| t.stage == Stage::Discarded)
    );
    assert!(!marks.stopped_early() && run.failure().is_none());
    let run = simulated(&options("synthetic:len=24,cost_ms=5,fail=5"));
    let marks = Landmarks::of(&run);
    assert!(marks.stopped_early() && run.failure().is_some());
}

/// Regression test: `E` found nothing although the status line counted a skipped sample.
#[test]
fn messages_about_a_batch_or_sample_are_jump_targets() {
    for level in [Level::Info, Level::Warning, Level::Error] {
        for (about, sample) in [
            (None, None),
            (Some(id(0)), None),
            (None, Some(7)),
            (Some(id(0)), Some(7)),
        ] {
            let mut run = run_of(&[(5, false), (5, false)]);
            let message = Message {
                level,
                text: "sample 7 skipped: it is truncated".to_owned(),
                about,
                worker: Some(0),
                sample,
            };
            apply(&mut run, 50, EventKind::Message(Box::new(message)));
            let marks = Landmarks::of(&run);
            let is_found = level == Level::Error || about.is_some() || sample.is_some();
            let found = is_found.then_some(Place::At(Nanos(50)));
            let what = (level, about, sample);
            let after = marks.after(&run, Goal::Trouble, 0, Nanos::ZERO);
            assert_eq!(after, found, "{what:?}");
            let before = marks.before(&run, Goal::Trouble, usize::MAX, Nanos(99));
            assert_eq!(before, found, "{what:?}");
        }
    }
}
