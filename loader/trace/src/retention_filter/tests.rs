use super::*;
use crate::{BatchId, Fact, Run, RunInfo, Stage, WorkerInfo};

fn event(ms: i64, kind: EventKind) -> Event {
    Event {
        at: Nanos::from_millis(ms),
        run: RunId(0),
        kind,
    }
}

fn retention_filter() -> RetentionFilter {
    RetentionFilter::new(RetentionPolicy {
        long_wait: Nanos::from_millis(50),
        keep_slowest: 1,
    })
}

/// Returns the events of a batch that is fetched for `ms` ms while the trainer waits, followed by 10 ms of training.
fn batch(at: &mut i64, idx: u32, ms: i64) -> Vec<Event> {
    let batch = BatchId { epoch: 0, idx };
    let enter = |stage| EventKind::Entered { batch, stage };
    let start = *at;
    *at += ms + 10;
    vec![
        event(start, EventKind::dispatched(batch, None, [u64::from(idx)])),
        event(start, EventKind::Consumer { waiting: true }),
        event(start, enter(Stage::Fetching)),
        event(start + ms, enter(Stage::Training)),
        event(start + ms + 10, enter(Stage::Done)),
    ]
}

#[test]
fn minutes_without_events_have_no_sums() {
    let (mut retention_filter, mut keep) = (retention_filter(), Vec::new());
    let start = EventKind::EpochStarted { epoch: 0 };
    retention_filter.apply(&event(5, start), &mut keep);
    let end = EventKind::EpochEnded { epoch: 0 };
    retention_filter.apply(&event(3_600_000, end), &mut keep);
    retention_filter.finish(Nanos::from_millis(3_600_001), &mut keep);
    let of: Vec<(i64, i64, u64)> = keep
        .iter()
        .map(|event| match &event.kind {
            EventKind::Summed(sums) => (sums.from.0, sums.to.0, sums.events),
            other => panic!("{other:?}"),
        })
        .map(|(from, to, events)| (from / 1_000_000, to / 1_000_000, events))
        .collect();
    assert_eq!(of, [(5, 60_000, 1), (3_600_000, 3_600_001, 1)]);
}

#[test]
fn a_part_can_be_read_without_earlier_parts() {
    let (mut retention_filter, mut keep) = (retention_filter(), Vec::new());
    let info = RunInfo {
        dataset: "birds".to_owned(),
        ..RunInfo::default()
    };
    let mut events = vec![
        event(0, EventKind::RunStarted(Box::new(info))),
        event(0, EventKind::EpochStarted { epoch: 0 }),
    ];
    let mut at = 0;
    (0..5).for_each(|idx| events.extend(batch(&mut at, idx, 20)));
    // The cut is in the middle of the fetch of batch 3.
    let (before, after) = events.split_at(2 + 3 * 5 + 3);
    before
        .iter()
        .for_each(|event| retention_filter.apply(event, &mut keep));
    let state = retention_filter.start_part(Nanos::from_millis(95), &mut keep);
    let mut run = Run::default();
    state.iter().for_each(|event| run.apply(event));
    after.iter().for_each(|event| run.apply(event));
    assert_eq!(
        (run.info.dataset.as_str(), run.anomalies()),
        ("birds", (0, 0))
    );
    let ids: Vec<u32> = run.batches().iter().map(|b| b.id.idx).collect();
    assert_eq!((ids, run.epochs()[0].first), (vec![3, 4], 3));
    assert!(run.epochs()[0].was_running);
    // The wait in progress is complete.
    let wait = run.waits()[0];
    assert_eq!(wait.end - wait.start, Nanos::from_millis(20));
    assert!(run.past().is_none(), "what was before is not told");
    // The state at a later part adds nothing to a run that was read from the start.
    let known = run.events();
    state.iter().for_each(|event| run.apply(event));
    assert_eq!(run.events(), known);
}

#[test]
fn messages_are_kept_up_to_a_limit_and_all_counted() {
    let (mut retention_filter, mut keep) = (retention_filter(), Vec::new());
    for k in 0..1_500 {
        let warning = Event::warning(RunId(0), Nanos(k), "again".to_owned());
        retention_filter.apply(&warning, &mut keep);
    }
    assert_eq!(keep.len() as u64, MAX_MESSAGES);
    keep.clear();
    retention_filter.finish(Nanos(2_000), &mut keep);
    match &keep[0].kind {
        EventKind::Summed(sums) => assert_eq!(sums.warnings, 1_500),
        other => panic!("{other:?}"),
    }
}

#[test]
fn only_the_slowest_batches_are_held() {
    let (mut retention_filter, mut keep) = (retention_filter(), Vec::new());
    retention_filter.apply(&event(0, EventKind::EpochStarted { epoch: 0 }), &mut keep);
    let mut at = 0;
    for (idx, ms) in [5, 30, 7, 30].into_iter().enumerate() {
        let events = batch(&mut at, idx as u32, ms);
        events
            .iter()
            .for_each(|event| retention_filter.apply(event, &mut keep));
    }
    let slowest = retention_filter.slowest();
    assert_eq!(slowest.len(), 1);
    match &slowest[0].kind {
        EventKind::Kept(kept) => assert_eq!(kept.batch().map(|b| b.idx), Some(1)),
        other => panic!("{other:?}"),
    }
    assert!(keep.is_empty(), "{keep:?}");
}

/// `slowest_of` with half of the number returns the slowest batches, not the first.
#[test]
fn a_smaller_limit_keeps_the_slowest_of_the_slowest() {
    let policy = RetentionPolicy {
        keep_slowest: 4,
        ..retention_filter().policy
    };
    let (mut retention_filter, mut keep) = (RetentionFilter::new(policy), Vec::new());
    retention_filter.apply(&event(0, EventKind::EpochStarted { epoch: 0 }), &mut keep);
    let mut at = 0;
    for (idx, ms) in [5, 30, 7, 40].into_iter().enumerate() {
        for event in batch(&mut at, idx as u32, ms) {
            retention_filter.apply(&event, &mut keep);
        }
    }
    let kept = |most| -> Vec<u32> {
        let batches = retention_filter
            .slowest_of(most)
            .into_iter()
            .filter_map(|event| {
                let EventKind::Kept(kept) = event.kind else {
                    return None;
                };
                kept.batch().map(|b| b.idx)
            });
        batches.collect()
    };
    assert_eq!(kept(2), [1, 3]);
    assert_eq!(kept(1), [3]);
    assert_eq!(kept(9), [0, 1, 2, 3]);
}

/// Regression test: after a cut, workers counted as started before the recording although they were recorded.
#[test]
fn only_earlier_workers_are_unrecorded_in_a_later_part() {
    let (mut retention_filter, mut keep) = (retention_filter(), Vec::new());
    let worker = |worker| {
        EventKind::WorkerStarted(Box::new(WorkerInfo {
            worker,
            seed: None,
            os_id: None,
        }))
    };
    let earlier = EventKind::Fact(Box::new(Fact::EarlierWorkers { workers: 1 }));
    for kind in [worker(0), earlier, worker(1)] {
        retention_filter.apply(&event(0, kind), &mut keep);
    }
    let mut run = Run::default();
    for at in [1, 2] {
        let state = retention_filter.start_part(Nanos::from_millis(at), &mut keep);
        run = Run::default();
        state.iter().for_each(|event| run.apply(event));
    }
    let recorded = |row: usize| run.workers()[row].is_recorded;
    assert_eq!((recorded(0), recorded(1)), (false, true));
}

/// If no batch is in flight at a cut, the part starts with the batch after the last one.
#[test]
fn batches_that_overtake_a_stuck_one_stay_known() {
    let (mut retention_filter, mut keep) = (retention_filter(), Vec::new());
    retention_filter.apply(&event(0, EventKind::EpochStarted { epoch: 0 }), &mut keep);
    let dispatched = |idx| EventKind::dispatched(BatchId { epoch: 0, idx }, None, [7]);
    let done = |idx| {
        let (batch, stage) = (BatchId { epoch: 0, idx }, Stage::Failed);
        EventKind::Entered { batch, stage }
    };
    for kind in [
        dispatched(0),
        dispatched(1),
        dispatched(2),
        done(1),
        done(2),
    ] {
        retention_filter.apply(&event(1, kind), &mut keep);
    }
    retention_filter.start_part(Nanos::from_millis(2), &mut keep);
    retention_filter.apply(&event(3, done(0)), &mut keep);
    let state = retention_filter.start_part(Nanos::from_millis(4), &mut keep);
    let mut run = Run::default();
    state.iter().for_each(|event| run.apply(event));
    assert_eq!(run.epochs()[0].first, 3);
}
