//! Recordings with a limit, compared with the full recording of the same events.

use std::collections::BTreeMap;

use loadscope_trace::{
    AwaitedStage, BatchId, Event, EventKind, Kept, Level, Message, Nanos, Retention,
    RetentionFilter, RetentionPolicy, Run, RunId, Stage, Summary, Sums,
};
use proptest::prelude::*;

use crate::history;

use history::{fold, history, moves};

/// Returns a history of some minutes with messages and lost events.
fn events(moves: &[history::Move], talk: &[usize]) -> Vec<Event> {
    let mut events = history(moves, false);
    for event in &mut events {
        event.at = Nanos(event.at.0 * 10_000_000);
        if let EventKind::Fetched(fetched) = &mut event.kind {
            fetched.samples.iter_mut().for_each(|s| s.start = event.at);
        }
    }
    // The program requests the first batch before the batches that `iter` dispatched enter another stage.
    let is_entered = |event: &Event| matches!(event.kind, EventKind::Entered { .. });
    if let Some(first) = events.iter().position(is_entered) {
        let (at, run) = (events[first].at, RunId(0));
        let kind = EventKind::Consumer { waiting: true };
        events.insert(first, Event { at, run, kind });
    }
    for (k, place) in talk.iter().enumerate() {
        let place = 2 + place % (events.len() - 2);
        let (at, run) = (events[place].at, RunId(0));
        let message = Message {
            level: [Level::Error, Level::Warning, Level::Info][k % 3],
            text: format!("message {k}"),
            about: None,
            worker: None,
            sample: None,
        };
        let kind = match k % 4 {
            3 => EventKind::Dropped { count: 5 },
            _ => EventKind::Message(Box::new(message)),
        };
        events.insert(place, Event { at, run, kind });
    }
    events
}

/// Returns the sums of everything finished so far, computed from a fold of all events.
fn over(events: &[Event]) -> Sums {
    let run = fold(events);
    let level = |level| {
        run.messages()
            .iter()
            .filter(|(_, m)| m.level == level)
            .count() as u64
    };
    let mut sums = Sums {
        events: run.events(),
        dropped: run.dropped(),
        epochs: run.epochs().len() as u64,
        errors: level(Level::Error),
        warnings: level(Level::Warning),
        opening: run.opening(),
        ..Sums::default()
    };
    for (row, batch) in run.batches().iter().enumerate() {
        let path = run.path(row);
        let was = |stage| path.iter().any(|step| step.stage == stage);
        for step in &path {
            if let (Stage::Training, Some(end)) = (step.stage, step.end) {
                sums.steps.record(end - step.start);
            }
        }
        let last = path.last().expect("it was dispatched").stage;
        if !last.is_final() {
            continue;
        }
        let yielded = was(Stage::Training);
        sums.batches += u64::from(yielded);
        sums.samples += if yielded {
            u64::from(batch.samples())
        } else {
            0
        };
        sums.held += u64::from(was(Stage::Held));
        sums.failed += u64::from(last == Stage::Failed);
        sums.discarded += u64::from(last == Stage::Discarded && !yielded);
        let fetch = path
            .iter()
            .filter(|s| matches!(s.stage, Stage::Fetching | Stage::Collating));
        let fetch: i64 = fetch.filter_map(|s| Some((s.end? - s.start).0)).sum();
        if fetch > 0 {
            sums.fetches.record(Nanos(fetch));
        }
    }
    for wait in run.waits().iter().filter(|w| w.end != Nanos::MAX) {
        sums.waits.record(wait.end - wait.start);
        let mut left = wait.end - wait.start;
        let path = wait
            .batch
            .map(|row| run.path(row as usize))
            .unwrap_or_default();
        for step in path.iter().filter(|step| step.start < wait.end) {
            let end = step.end.unwrap_or(wait.end).min(wait.end);
            let part = end - step.start.max(wait.start);
            if part > Nanos::ZERO {
                *sums.waited.entry(AwaitedStage::of(step.stage)).or_default() += part;
                left = left - part;
            }
        }
        let rest = if wait.batch.is_some() {
            AwaitedStage::NotDispatched
        } else {
            AwaitedStage::End
        };
        if left > Nanos::ZERO {
            *sums.waited.entry(rest).or_default() += left;
        }
    }
    // Histories have no asides, so the rest is the time after the last batch of the epoch.
    sums.uncounted = sums.steps.sum() - (run.trained() - lasting(&run));
    sums
}

/// Returns the counted time of the unfinished step.
fn lasting(run: &Run) -> Nanos {
    let rows = 0..run.batches().len();
    let steps = rows
        .flat_map(|row| run.path(row))
        .filter(|step| step.stage == Stage::Training);
    let (over, lasting): (Vec<_>, Vec<_>) = steps.partition(|step| step.end.is_some());
    let took = over.iter().filter_map(|step| Some(step.end? - step.start));
    let longest = took.max().unwrap_or(Nanos::MAX);
    let lasts = lasting
        .iter()
        .map(|step| (run.end() - step.start).min(longest));
    lasts.fold(Nanos::ZERO, |sum, time| sum + time)
}

/// Parts of a recording, and the data kept from it.
struct Recorded {
    /// Position of the first event of each part, and the state at that time.
    parts: Vec<(usize, Vec<Event>)>,
    sums: Vec<Event>,
    kept: Vec<Event>,
    retention_filter: RetentionFilter,
}

fn recorded(events: &[Event], cuts: &[usize], long_wait: Nanos) -> Recorded {
    let mut retention_filter = RetentionFilter::new(RetentionPolicy {
        long_wait,
        keep_slowest: 3,
    });
    let (mut parts, mut all) = (vec![(0, Vec::new())], Vec::new());
    for (k, event) in events.iter().enumerate() {
        if k > 0 && cuts.contains(&k) {
            parts.push((k, retention_filter.start_part(event.at, &mut all)));
        }
        retention_filter.apply(event, &mut all);
    }
    retention_filter.finish(events.last().expect("some").at, &mut all);
    let is_sum = |event: &Event| matches!(event.kind, EventKind::Summed(_));
    let (sums, kept) = all.into_iter().partition(is_sum);
    Recorded {
        parts,
        sums,
        kept,
        retention_filter,
    }
}

fn kept(event: &Event) -> &Kept {
    match &event.kind {
        EventKind::Kept(kept) => kept,
        other => panic!("{other:?}"),
    }
}

/// Returns the run as read from part `first` on.
fn read(recorded: &Recorded, events: &[Event], first: usize) -> Run {
    let mut run = Run::default();
    let part = |event: &Event| match &event.kind {
        EventKind::Summed(sums) => sums.part,
        EventKind::Kept(kept) => kept.part,
        EventKind::Retention(retention) => retention.part,
        other => panic!("{other:?}"),
    };
    let introductions = recorded
        .retention_filter
        .retention_events(&Retention::default());
    let all = introductions
        .iter()
        .chain(&recorded.sums)
        .chain(&recorded.kept);
    all.filter(|event| part(event) < first as u32)
        .for_each(|event| run.apply(event));
    let (from, state) = &recorded.parts[first];
    state.iter().for_each(|event| run.apply(event));
    events[*from..].iter().for_each(|event| run.apply(event));
    run
}

fn batch_of(event: &Event) -> Option<BatchId> {
    match &event.kind {
        EventKind::Dispatched(dispatch) => Some(dispatch.batch),
        EventKind::Entered { batch, .. } => Some(*batch),
        EventKind::Fetched(fetched) => Some(fetched.batch),
        _ => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn sums_match_the_full_recording(
        moves in moves(),
        talk in prop::collection::vec(any::<usize>(), 0..8),
        cuts in prop::collection::vec(0..900usize, 0..8),
    ) {
        let events = events(&moves, &talk);
        let recorded = recorded(&events, &cuts, Nanos(1));
        // Each interval ends before the first later event.
        let mut so_far = Sums::default();
        let mut ends: BTreeMap<usize, ()> = BTreeMap::new();
        for event in &recorded.sums {
            let EventKind::Summed(sums) = &event.kind else { continue };
            prop_assert!(sums.from <= sums.to);
            so_far.add(sums);
            let count = so_far.events as usize;
            ends.insert(count, ());
            let mut expected = over(&events[..count]);
            (expected.part, expected.from, expected.to) = (so_far.part, so_far.from, so_far.to);
            prop_assert_eq!(&so_far, &expected, "after {} events", count);
            // No interval is longer than a minute of the clock.
            prop_assert!((sums.to - sums.from).0 <= 60_000_000_000);
        }
        prop_assert_eq!(so_far.events as usize, events.len());
    }

    #[test]
    fn dropped_and_kept_parts_add_up_to_the_full_recording(
        moves in moves(),
        talk in prop::collection::vec(any::<usize>(), 0..8),
        cuts in prop::collection::vec(0..900usize, 1..8),
        which in any::<prop::sample::Index>(),
    ) {
        let events = events(&moves, &talk);
        let recorded = recorded(&events, &cuts, Nanos(1));
        let full = fold(&events);
        let first = which.index(recorded.parts.len());
        let run = read(&recorded, &events, first);
        prop_assert!(run.anomalies().1 <= full.anomalies().1);
        let (mut found, expected) = (Summary::of(&run), Summary::of(&full));
        for (value, exact) in [
            (&mut found.seconds, expected.seconds),
            (&mut found.waited_seconds, expected.waited_seconds),
            (&mut found.samples_per_second, expected.samples_per_second),
        ] {
            prop_assert!((*value - exact).abs() <= 1e-9 * exact.abs().max(1.0), "{} {}", value, exact);
            *value = exact;
        }
        prop_assert_eq!(found, expected);
        // Waits that end in the complete part equal those of the full recording.
        let begin = events[recorded.parts[first].0].at;
        let of = |run: &Run| {
            let waits = run.waits().iter().filter(|w| w.end > begin);
            waits.map(|w| (w.start, w.end)).collect::<Vec<_>>()
        };
        prop_assert_eq!(of(&run), of(&full));
        prop_assert_eq!(&run.info, &full.info);
    }

    #[test]
    fn every_long_wait_is_kept_with_the_events_of_its_batch(
        moves in moves(),
        cuts in prop::collection::vec(0..900usize, 0..8),
        long_ms in 1..60_000i64,
    ) {
        let events = events(&moves, &[]);
        let long = Nanos::from_millis(long_ms);
        let recorded = recorded(&events, &cuts, long);
        let full = fold(&events);
        let waits = full.waits().iter().filter(|w| w.end != Nanos::MAX && w.end - w.start >= long);
        let expected: Vec<_> = waits.map(|w| (w.start, w.end, w.batch.map(|row| full.batches()[row as usize].id))).collect();
        let found: Vec<_> = recorded.kept.iter().map(|event| {
            let kept = kept(event);
            let (start, end) = kept.wait.expect("a wait");
            (start, end, kept.batch())
        }).collect();
        prop_assert_eq!(found, expected);
        for event in &recorded.kept {
            let kept = kept(event);
            let Some(batch) = kept.batch() else { continue };
            let about = |e: &&Event| batch_of(e) == Some(batch);
            let all: Vec<&Event> = events.iter().filter(about).take(kept.events.len()).collect();
            prop_assert_eq!(kept.events.iter().collect::<Vec<_>>(), all);
            let last = kept.events.last().map(|e| &e.kind);
            let is_end = matches!(last, Some(EventKind::Entered { stage: Stage::Training | Stage::Failed, .. }));
            prop_assert!(is_end, "{:?}", last);
        }
    }

    #[test]
    fn the_slowest_batches_are_kept(moves in moves()) {
        let events = events(&moves, &[]);
        let recorded = recorded(&events, &[], Nanos(1));
        let full = fold(&events);
        let took = |row: usize| {
            let path = full.path(row);
            let fetch = path.iter().filter(|s| matches!(s.stage, Stage::Fetching | Stage::Collating));
            fetch.filter_map(|s| Some((s.end? - s.start).0)).sum::<i64>()
        };
        let mut all: Vec<i64> = (0..full.batches().len()).map(took).filter(|ns| *ns > 0).collect();
        all.sort_unstable_by_key(|ns| std::cmp::Reverse(*ns));
        all.truncate(3);
        let slowest = recorded.retention_filter.slowest();
        let ids = slowest.iter().filter_map(|event| kept(event).batch());
        let mut found: Vec<i64> = ids.map(|id| took(full.row(id).expect("it is known"))).collect();
        found.sort_unstable_by_key(|ns| std::cmp::Reverse(*ns));
        prop_assert_eq!(found, all);
    }
}
