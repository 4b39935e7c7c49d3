#![allow(clippy::disallowed_methods, reason = "threads of tests need no name")]

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use loadscope_trace::{Event, Nanos, RunId};

use super::*;

#[test]
fn lost_events_are_counted_and_reported() {
    let (probe, events) = Probe::new(Clock::start(), ContentPolicy::Off, 2);
    for epoch in 0..5 {
        probe.emit(|| EventKind::EpochStarted { epoch });
    }
    assert_eq!(probe.dropped(), 3);
    assert_eq!(events.try_iter().count(), 2);
    probe.emit(|| EventKind::RunEnded);
    let kinds: Vec<EventKind> = events.try_iter().map(|e| e.kind).collect();
    assert_eq!(
        kinds,
        [EventKind::Dropped { count: 3 }, EventKind::RunEnded]
    );
    assert_eq!(probe.dropped(), 0);
}

#[test]
fn a_disabled_probe_builds_no_event() {
    Probe::off().emit(|| unreachable!("no observer"));
}

#[test]
fn the_events_end_when_all_probes_are_dropped() {
    let (probe, events) = Probe::new(Clock::start(), ContentPolicy::Off, 100);
    let other = probe.clone();
    std::thread::spawn(move || other.emit_message(Level::Info, || "hello".to_owned()))
        .join()
        .expect("it tells");
    assert!(!events.is_over());
    drop(probe);
    assert!(events.is_over());
    assert_eq!(events.try_iter().count(), 1);
    assert_eq!(events.try_iter().count(), 0);
}

/// Records a number of a thread: as a batch, as a batch with indices, or outside the buffer.
fn emit_number(probe: &Probe, thread: u16, number: u32) {
    let batch = BatchId {
        epoch: u32::from(thread),
        idx: number,
    };
    match number % 7 {
        0 => {
            let indices: Vec<usize> = (0..number as usize % 600).map(|k| k * k).collect();
            probe.record_dispatch(batch, Some(thread), &indices);
        }
        1 => probe.enter(batch, Stage::Collating),
        2 => probe.record_fetched(batch, Vec::new(), Vec::new()),
        3 if number.is_multiple_of(11) => {
            probe.emit_message(Level::Info, || format!("{thread} {number}"))
        }
        _ => probe.enter(batch, Stage::Fetching),
    }
}

/// Returns the number that [`emit_number`] recorded.
fn recorded_number(event: &Event) -> Option<(u32, u32)> {
    let batch = match &event.kind {
        EventKind::Entered { batch, .. } => *batch,
        EventKind::Dispatched(dispatch) => {
            let count = dispatch.indices.len();
            assert_eq!(count, dispatch.batch.idx as usize % 600);
            assert!((0..count).all(|k| dispatch.indices[k] == (k * k) as u64));
            dispatch.batch
        }
        EventKind::Fetched(fetched) => fetched.batch,
        EventKind::Message(message) => {
            let (thread, number) = message.text.split_once(' ')?;
            return Some((thread.parse().ok()?, number.parse().ok()?));
        }
        _ => return None,
    };
    Some((batch.epoch, batch.idx))
}

/// Records events in several threads as fast as possible while another one reads.
fn storm(threads: u16, each: u32, capacity: usize) -> (Vec<Event>, u64) {
    let clock = Clock::start();
    let (probe, events) = Probe::new(clock.clone(), ContentPolicy::Off, capacity);
    let mut all = Vec::new();
    let deadline = Instant::now() + Duration::from_secs(60);
    let running: Vec<_> = (0..threads)
        .map(|thread| {
            let probe = probe.clone();
            std::thread::spawn(move || (0..each).for_each(|k| emit_number(&probe, thread, k)))
        })
        .collect();
    while running.iter().any(|thread| !thread.is_finished()) {
        assert!(Instant::now() < deadline, "it does not end");
        events.take(Some(clock.now() - Nanos(5_000_000)), |event| {
            all.push(event)
        });
        std::thread::sleep(Duration::from_micros(300));
    }
    events.take(None, |event| all.push(event));
    assert!(all.is_sorted_by_key(|event| event.at));
    (all, probe.dropped())
}

#[test]
fn events_with_room_arrive_complete_and_in_thread_order() {
    let (threads, each) = (4, 50_000);
    let (all, lost) = storm(threads, each, 1 << 24);
    assert_eq!(lost, 0);
    let mut next = BTreeMap::new();
    for (thread, number) in all.iter().filter_map(recorded_number) {
        let next = next.entry(thread).or_insert(0);
        assert_eq!(number, *next, "thread {thread}");
        *next += 1;
    }
    let ends: Vec<(u32, u32)> = next.into_iter().collect();
    let all: Vec<(u32, u32)> = (0..u32::from(threads)).map(|k| (k, each)).collect();
    assert_eq!(ends, all);
}

#[test]
fn every_event_beyond_the_capacity_is_counted() {
    let (threads, each) = (3, 40_000);
    for capacity in [1, 100, 3_000] {
        let (all, unreported) = storm(threads, each, capacity);
        let received = all.iter().filter_map(recorded_number).count() as u64;
        let reported: u64 = all.iter().map(lost_in).sum();
        assert_eq!(
            received + reported + unreported,
            u64::from(threads) * u64::from(each)
        );
        // A gap in a thread's numbers was reported before as a loss.
        let mut next = BTreeMap::new();
        for (thread, number) in all.iter().filter_map(recorded_number) {
            let expected = next.insert(thread, number + 1).unwrap_or(0);
            assert!(number >= expected, "thread {thread}");
        }
    }
}

fn lost_in(event: &Event) -> u64 {
    match event.kind {
        EventKind::Dropped { count } => count,
        _ => 0,
    }
}

#[test]
fn a_loss_is_reported_at_its_position() {
    let (probe, events) = Probe::new(Clock::start(), ContentPolicy::Off, 10);
    let batch = |idx| BatchId { epoch: 0, idx };
    (0..25).for_each(|k| probe.enter(batch(k), Stage::Fetching));
    let first: Vec<Event> = events.try_iter().collect();
    assert_eq!(first.len(), 10);
    (25..30).for_each(|k| probe.enter(batch(k), Stage::Fetching));
    let kinds: Vec<EventKind> = events.try_iter().map(|event| event.kind).collect();
    let stage = Stage::Fetching;
    let mut expected = vec![EventKind::Dropped { count: 15 }];
    expected.extend((25..30).map(|k| EventKind::Entered {
        batch: batch(k),
        stage,
    }));
    assert_eq!(kinds, expected);
}

#[test]
fn events_of_equal_time_keep_their_order_across_threads() {
    let clock = Clock::start();
    let (probe, events) = Probe::new(clock.clone(), ContentPolicy::Off, 1 << 16);
    clock.pause();
    let turn = Arc::new(std::sync::atomic::AtomicU32::new(0));
    let stop = Arc::new(AtomicBool::new(false));
    let threads: Vec<_> = (0..3u32)
        .map(|thread| {
            let (probe, turn, stop) = (probe.clone(), Arc::clone(&turn), Arc::clone(&stop));
            std::thread::spawn(move || {
                let deadline = Instant::now() + Duration::from_secs(30);
                loop {
                    let now = turn.load(Ordering::Acquire);
                    if now == 3_000 || stop.load(Ordering::Acquire) {
                        break;
                    }
                    if now % 3 == thread {
                        let batch = BatchId { epoch: 0, idx: now };
                        match now % 2 {
                            0 => probe.enter(batch, Stage::Fetching),
                            _ => probe.enter_at_last_stamp(batch, Stage::Fetching),
                        }
                        turn.store(now + 1, Ordering::Release);
                    } else if Instant::now() > deadline {
                        stop.store(true, Ordering::Release);
                    } else {
                        std::thread::yield_now();
                    }
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().expect("it ends");
    }
    let order: Vec<u32> = events
        .try_iter()
        .filter_map(|e| recorded_number(&e))
        .map(|(_, idx)| idx)
        .collect();
    assert_eq!(order, (0..3_000).collect::<Vec<_>>());
}

#[test]
fn an_event_larger_than_a_segment_arrives() {
    let (probe, events) = Probe::new(Clock::start(), ContentPolicy::Off, 1 << 20);
    let indices: Vec<usize> = (0..20_000).map(|k| k * k).collect();
    let batch = BatchId { epoch: 1, idx: 2 };
    probe.enter(batch, Stage::Queued);
    probe.record_dispatch(batch, None, &indices);
    probe.enter(batch, Stage::Fetching);
    let all: Vec<Event> = events.try_iter().collect();
    assert_eq!(all.len(), 3);
    assert_eq!(all[1].run, RunId(0));
    let same: Vec<u64> = indices.iter().map(|index| *index as u64).collect();
    assert_eq!(all[1].kind, EventKind::dispatched(batch, None, same));
}
