use loadscope_trace::{Event, EventKind, RunId, RunInfo, RunOptions};

use super::*;
use crate::simulated;

fn id(idx: u32) -> BatchId {
    BatchId { epoch: 0, idx }
}

fn sentences(events: Vec<(i64, EventKind)>) -> Vec<String> {
    let mut run = Run::new(RunInfo::default());
    for (ms, kind) in events {
        run.apply(&Event {
            at: Nanos::from_millis(ms),
            run: RunId(0),
            kind,
        });
    }
    let told = run.transitions().iter().map(|t| narrate(&run, t));
    told.map(|s| s.replace('\u{2009}', " ")).collect()
}

fn entered(idx: u32, stage: Stage) -> EventKind {
    EventKind::Entered {
        batch: id(idx),
        stage,
    }
}

#[test]
fn every_stage_has_its_sentence() {
    use Stage::{Collating, Failed, Fetching, Held, Pinning, Ready, Returning, Training};
    let told = sentences(vec![
        (0, EventKind::EpochStarted { epoch: 0 }),
        (0, EventKind::dispatched(id(0), Some(0), [])),
        (0, EventKind::dispatched(id(1), Some(1), [])),
        (0, EventKind::Consumer { waiting: true }),
        (1, entered(0, Fetching)),
        (2, entered(1, Fetching)),
        (4, entered(1, Collating)),
        (5, entered(1, Returning)),
        (6, entered(1, Pinning)),
        (7, entered(1, Returning)),
        (8, entered(1, Held)),
        (9, entered(0, Ready)),
        (9, entered(0, Training)),
        (9, entered(1, Ready)),
        (19, EventKind::Consumer { waiting: true }),
        (19, entered(1, Training)),
        (20, EventKind::dispatched(id(2), Some(1), [])),
        (21, entered(2, Failed)),
        (22, EventKind::dispatched(id(3), Some(1), [])),
        (23, EventKind::EpochEnded { epoch: 0 }),
    ]);
    let expected = [
        "Batch 0 is dispatched to worker 0",
        "Batch 1 is dispatched to worker 1",
        "Worker 0 begins to fetch batch 0",
        "Worker 1 begins to fetch batch 1",
        "Worker 1 has fetched batch 1 in 2.00 ms and collates it",
        "Worker 1 puts batch 1 into the result queue",
        "The pin thread copies batch 1 to page-locked memory",
        "Batch 1 is pinned and put into the data queue",
        "Batch 1 arrived before batch 0 and is held",
        "Batch 0 arrives after the trainer waited 9.00 ms for it",
        "The trainer receives batch 0 after a wait of 9.00 ms",
        "Batch 1 is no longer held and is next",
        "The trainer finished batch 0 in 10.0 ms",
        "The trainer receives batch 1 without a wait",
        "Batch 2 is dispatched to worker 1",
        "Batch 2 failed, and its error is raised in the training loop",
        "Batch 3 is dispatched to worker 1",
        "The trainer finished batch 1 in 4.00 ms",
        "Batch 3 is discarded because the epoch ended before it was requested",
    ];
    assert_eq!(told, expected);
}

fn run_of(options: RunOptions, events: Vec<EventKind>) -> Run {
    let mut run = Run::new(RunInfo {
        options,
        ..RunInfo::default()
    });
    for (ms, kind) in events.into_iter().enumerate() {
        let at = Nanos::from_millis(ms as i64);
        let event = Event {
            at,
            run: RunId(0),
            kind,
        };
        run.apply(&event);
    }
    run
}

#[test]
fn the_end_of_a_stream_differs_from_the_end_of_an_epoch() {
    use Stage::{Discarded, Fetching, Returning};
    let run = run_of(
        RunOptions::default(),
        vec![
            EventKind::EpochStarted { epoch: 0 },
            EventKind::dispatched(id(0), Some(0), []),
            EventKind::dispatched(id(1), Some(0), []),
            entered(0, Fetching),
            entered(0, Returning),
            entered(0, Discarded),
            entered(1, Discarded),
        ],
    );
    let told: Vec<String> = run
        .transitions()
        .range(3..)
        .iter()
        .map(|t| narrate(&run, t))
        .collect();
    let expected = [
        "Worker 0 puts the end of its stream into the result queue, in answer to batch 0",
        "Worker 0 has no data left for batch 0: its part of the dataset is exhausted",
        "Batch 1 is canceled because worker 0 has ended",
    ];
    assert_eq!(told, expected);
    let why = consequence(&run, &run.transitions()[4]);
    assert_eq!(why.as_deref(), Some("It gets no more tasks in this epoch"));
}

#[test]
fn a_dispatch_fills_the_window_or_follows_a_yield() {
    let options = RunOptions {
        num_workers: 2,
        prefetch_factor: Some(2),
        in_order: false,
        ..RunOptions::default()
    };
    let run = run_of(
        options,
        vec![
            EventKind::EpochStarted { epoch: 0 },
            EventKind::dispatched(id(0), Some(0), []),
            EventKind::dispatched(id(1), Some(1), []),
            EventKind::Consumer { waiting: true },
            entered(1, Stage::Ready),
            EventKind::dispatched(id(2), Some(1), []),
            EventKind::dispatched(id(3), Some(0), []),
            EventKind::dispatched(id(4), Some(1), []),
            entered(1, Stage::Training),
        ],
    );
    let told: Vec<Option<String>> = run
        .transitions()
        .iter()
        .map(|t| consequence(&run, t))
        .collect();
    let told: Vec<&str> = told.iter().flatten().map(String::as_str).collect();
    let expected = [
        "Fills the prefetch window: 1 of 4",
        "Fills the prefetch window: 2 of 4",
        "With in_order=False, the first batch to arrive is yielded",
        "Fills the prefetch window: 3 of 4",
        "Fills the prefetch window: 4 of 4",
        "One new task for each batch yielded",
        "The training loop was blocked until now",
    ];
    assert_eq!(told, expected);
}

/// Regression test: "Now it asks for the next one" followed the last batch if it did not have the highest index.
#[test]
fn the_last_batch_is_the_last_to_arrive() {
    let run = simulated(&RunOptions {
        dataset: "synthetic:len=8,cost_ms=10,slow=2:500".to_owned(),
        batch_size: Some(1),
        num_workers: 2,
        in_order: false,
        step_ms: 5.0,
        ..RunOptions::default()
    });
    let done = run.transitions().iter().filter(|t| t.stage == Stage::Done);
    let told: Vec<(u32, Option<String>)> = done
        .map(|t| (run.batches()[t.batch as usize].id.idx, consequence(&run, t)))
        .collect();
    let (last, before) = told.split_last().expect("eight batches");
    assert_ne!(last.0, 7, "another one came last");
    assert_eq!(last.1.as_deref(), Some("It was the last batch"));
    let next = Some("The trainer requests the next batch".to_owned());
    assert!(before.iter().all(|(_, why)| *why == next), "{told:?}");
}

#[test]
fn without_workers_in_order_has_no_effect() {
    let run = simulated(&RunOptions {
        dataset: "synthetic:len=4,cost_ms=10".to_owned(),
        batch_size: Some(1),
        num_workers: 0,
        in_order: false,
        ..RunOptions::default()
    });
    let all = run.transitions().iter();
    let told: Vec<String> = all.filter_map(|t| consequence(&run, t)).collect();
    assert!(!told.is_empty());
    assert!(told.iter().all(|why| !why.contains("in_order")), "{told:?}");
}

#[test]
fn the_main_process_fetches_without_workers() {
    let told = sentences(vec![
        (0, EventKind::EpochStarted { epoch: 0 }),
        (0, EventKind::dispatched(id(0), None, [4, 2])),
        (1, entered(0, Stage::Fetching)),
    ]);
    assert_eq!(
        told,
        [
            "The sampler passes batch 0 to the main process",
            "The main process begins to fetch batch 0"
        ]
    );
}

#[test]
fn the_narration_names_the_work_of_the_collate_function() {
    let describe = |info: RunInfo| {
        let mut run = Run::new(info);
        let kinds = [
            EventKind::EpochStarted { epoch: 0 },
            EventKind::dispatched(id(0), Some(0), []),
            entered(0, Stage::Collating),
        ];
        for (at, kind) in (0..).map(Nanos).zip(kinds) {
            let run_id = RunId(0);
            run.apply(&Event {
                at,
                run: run_id,
                kind,
            });
        }
        let last = run.transitions().iter().next_back();
        last.and_then(|t| consequence(&run, t)).unwrap_or_default()
    };
    for (collate, word) in [
        (Collate::Stack, "are stacked"),
        (Collate::List, "list per field"),
        (Collate::Pad(0.0), "padded"),
        (Collate::Concat, "concatenated"),
    ] {
        let mut info = RunInfo::default();
        info.options.collate = collate;
        let text = describe(info);
        assert!(text.contains(word), "{collate:?}: {text}");
    }
    let program = RunInfo {
        origin: Origin::Pytorch("2.13.0".to_owned()),
        ..RunInfo::default()
    };
    assert!(describe(program.clone()).contains("are stacked"));
    let own = RunInfo {
        arguments: vec!["collate_fn=pad".to_owned()],
        ..program
    };
    assert_eq!(describe(own), "collate_fn turns the samples into one batch");
}
