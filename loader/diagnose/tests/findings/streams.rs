//! Streams of iterable-style datasets, and workers that started before the recording.

use loadscope_diagnose::Blame;
use loadscope_trace::{Fact, WorkerId};

use super::*;

/// Workers of a PyTorch program that load batches in parallel. The trainer takes `step` per batch. Times in ms.
struct Crew<'a> {
    /// Time of each batch, per worker.
    workers: Vec<Vec<i64>>,
    step: i64,
    /// True for an iterable-style dataset, whose batches have no indices.
    is_stream: bool,
    facts: &'a [Fact],
}

impl Crew<'_> {
    /// Simulates the program with one prefetched batch per worker and `in_order` as in PyTorch.
    fn run(&self) -> Run {
        let mut run = Run::new(RunInfo {
            options: RunOptions {
                num_workers: self.workers.len(),
                batch_size: Some(1),
                ..RunOptions::default()
            },
            origin: Origin::Pytorch("2.13.0".to_owned()),
            ..RunInfo::default()
        });
        let mut events = self.events();
        events.sort_by_key(|(at, _)| *at);
        for (at, kind) in events {
            run.apply(&Event {
                at: Nanos::from_millis(at),
                run: RunId(0),
                kind,
            });
        }
        assert_eq!(run.anomalies(), (0, 0));
        run
    }

    fn events(&self) -> Vec<(i64, EventKind)> {
        let mut all = vec![(0, EventKind::EpochStarted { epoch: 0 })];
        for worker in 0..self.workers.len() {
            let info = WorkerInfo {
                worker: worker as WorkerId,
                seed: None,
                os_id: None,
            };
            all.push((0, EventKind::WorkerStarted(Box::new(info))));
        }
        let facts = self.facts.iter().cloned();
        all.extend(facts.map(|fact| (0, EventKind::Fact(Box::new(fact)))));
        let mut free = vec![0; self.workers.len()];
        let mut next = vec![0; self.workers.len()];
        let mut is_over = vec![false; self.workers.len()];
        let (mut now, mut idx) = (0, 0);
        // The loop goes round robin over the workers whose stream continues.
        while is_over.iter().any(|over| !over) {
            for worker in 0..self.workers.len() {
                if is_over[worker] {
                    continue;
                }
                let batch = BatchId { epoch: 0, idx };
                idx += 1;
                let enter = |stage| EventKind::Entered { batch, stage };
                let indices = match self.is_stream {
                    true => vec![],
                    false => vec![u64::from(batch.idx)],
                };
                let begin = free[worker];
                all.push((
                    0,
                    EventKind::dispatched(batch, Some(worker as WorkerId), indices),
                ));
                all.push((begin, enter(Stage::Fetching)));
                let Some(takes) = self.workers[worker].get(next[worker]) else {
                    is_over[worker] = true;
                    all.push((begin, enter(Stage::Discarded)));
                    continue;
                };
                next[worker] += 1;
                free[worker] = begin + takes;
                let come = free[worker];
                all.push((come, enter(Stage::Returning)));
                all.push((now, EventKind::Consumer { waiting: true }));
                now = now.max(come);
                all.push((now, enter(Stage::Training)));
                now += self.step;
            }
        }
        all.push((now, ENDED));
        all
    }
}

pub fn found(run: &Run) -> Vec<&'static str> {
    let found = diagnosis(run).findings;
    found.iter().map(|f| f.id.as_str()).collect()
}

fn remedy(run: &Run, id: &str) -> String {
    let found = diagnosis(run).findings;
    let found = found.into_iter().find(|f| f.id.as_str() == id);
    found.map(|f| f.remedy).unwrap_or_default()
}

const UNDIVIDED: [Fact; 3] = [
    Fact::UndividedStream { worker: 0 },
    Fact::UndividedStream { worker: 1 },
    Fact::UndividedStream { worker: 2 },
];

#[test]
fn worker_start_is_not_counted_as_a_batch_interval() {
    let mut times = vec![80; 20];
    times[0] = 2_000;
    let crew = Crew {
        workers: vec![times, Vec::new()],
        step: 5,
        is_stream: true,
        facts: &[],
    };
    let (text, _) = says(&crew.run(), "idle_workers").expect("a worker without samples");
    assert!(text.contains("A batch arrives every 80.0 ms"), "{text}");
}

#[test]
fn idle_workers_are_counted_and_fewer_workers_advised() {
    for (shards, workers) in [(1, 2), (2, 4), (3, 8)] {
        let mut crew = Crew {
            workers: vec![vec![80; 10]; shards],
            step: 5,
            is_stream: true,
            facts: &[],
        };
        crew.workers.resize(workers, Vec::new());
        let run = crew.run();
        let (text, _) = says(&run, "idle_workers").expect("workers without samples");
        let idle = workers - shards;
        assert!(
            text.starts_with(&format!("{idle} of {workers} workers yielded no batch")),
            "{text}"
        );
        assert!(text.contains("of waiting"), "{text}");
        assert!(remedy(&run, "idle_workers").contains(&format!("num_workers={shards}")));
        let found = found(&run);
        assert!(
            !found.contains(&"starved_workers") && !found.contains(&"sawtooth"),
            "{found:?}"
        );
    }
}

#[test]
fn uneven_streams_are_found_and_nearly_even_ones_are_not() {
    let crew = |batches: &[usize]| Crew {
        workers: batches.iter().map(|n| vec![40; *n]).collect(),
        step: 2,
        is_stream: true,
        facts: &[],
    };
    let (text, _) = says(&crew(&[40, 3, 3, 3]).run(), "idle_workers").expect("uneven");
    assert!(text.contains("uneven (40, 3, 3 and 3 batches)"), "{text}");
    assert_eq!(says(&crew(&[20, 19, 20, 18]).run(), "idle_workers"), None);
    // The trainer is slower than the remaining worker.
    let slow = Crew {
        step: 400,
        ..crew(&[40, 3])
    };
    assert_eq!(says(&slow.run(), "idle_workers"), None);
}

#[test]
fn a_stream_repeated_by_every_worker_is_found() {
    let crew = |facts, batches: &[usize]| Crew {
        workers: batches.iter().map(|n| vec![20; *n]).collect(),
        step: 5,
        is_stream: true,
        facts,
    };
    let length = [Fact::Length { batches: 20 }];
    for facts in [&UNDIVIDED[..], &length[..]] {
        let run = crew(facts, &[20, 20, 20]).run();
        let (text, severity) = says(&run, "repeated_stream").expect("the whole stream, thrice");
        assert!(
            text.contains("Each of 3 workers yields the whole stream (20 batches)"),
            "{text}"
        );
        assert_eq!(severity, Severity::Critical);
        assert!(remedy(&run, "repeated_stream").contains("get_worker_info()"));
        assert!(!found(&run).contains(&"starved_workers"));
    }
    // The workers share the stream: the length is the sum of their batches, a worker calls `get_worker_info()`, or their parts differ.
    let shared = [Fact::Length { batches: 60 }];
    for (facts, batches) in [
        (&shared[..], [20, 20, 20]),
        (&UNDIVIDED[..2], [20, 20, 20]),
        (&UNDIVIDED[..], [20, 21, 20]),
        (&[], [20, 20, 20]),
    ] {
        assert_eq!(
            says(&crew(facts, &batches).run(), "repeated_stream"),
            None,
            "{facts:?}"
        );
    }
}

#[test]
fn a_worker_that_is_slow_in_every_batch_is_named() {
    for is_stream in [true, false] {
        let crew = |workers| Crew {
            workers,
            step: 5,
            is_stream,
            facts: &[],
        };
        let run = crew(vec![vec![20; 12], vec![90; 12], vec![22; 12]]).run();
        let (text, _) = says(&run, "slow_worker").expect("worker 1");
        assert!(
            text.starts_with("Worker 1 is slow in every batch: ")
                && text.contains("It needs 90.0 ms"),
            "{text}"
        );
        assert!(!found(&run).contains(&"heavy_tail"));
        // Every worker has one slow batch in three.
        let mixed = crew(vec![vec![20, 90, 20, 20, 90, 20, 20, 90]; 3]).run();
        assert_eq!(says(&mixed, "slow_worker"), None);
        let even = crew(vec![vec![40; 12], vec![60; 12]]).run();
        assert_eq!(says(&even, "slow_worker"), None);
    }
}

/// Some loaders have workers that started before the recording, as with `loadscope attach` and in notebooks.
#[test]
fn workers_older_than_the_recording_are_not_starting() {
    let waits = || EventKind::Consumer { waiting: true };
    let mut events = vec![];
    for epoch in 0..3 {
        let start = i64::from(epoch) * 1000;
        events.push((start, EventKind::EpochStarted { epoch }));
        if epoch == 0 {
            for worker in 0..2 {
                let info = WorkerInfo {
                    worker,
                    seed: None,
                    os_id: None,
                };
                events.push((start, EventKind::WorkerStarted(Box::new(info))));
            }
            let fact = Fact::EarlierWorkers { workers: 2 };
            events.push((start, EventKind::Fact(Box::new(fact))));
        }
        let id = |idx| BatchId { epoch, idx };
        for idx in 0..10u32 {
            let worker = Some((idx % 2) as WorkerId);
            events.push((
                start,
                EventKind::dispatched(id(idx), worker, [u64::from(idx)]),
            ));
        }
        for idx in 0..10u32 {
            let at = start + i64::from(idx) * 80;
            let enter = |stage| EventKind::Entered {
                batch: id(idx),
                stage,
            };
            events.push((at, waits()));
            events.push((at + 70, enter(Stage::Ready)));
            events.push((at + 70, enter(Stage::Training)));
        }
        events.push((start + 800, EventKind::EpochEnded { epoch }));
    }
    let mut run = run_of(
        RunInfo {
            options: RunOptions {
                num_workers: 2,
                persistent_workers: true,
                ..RunOptions::default()
            },
            origin: Origin::Pytorch("2.13.0".to_owned()),
            measured: Stage::ALL.to_vec(),
            ..RunInfo::default()
        },
        vec![],
    );
    for (at, kind) in events {
        run.apply(&Event {
            at: Nanos::from_millis(at),
            run: RunId(0),
            kind,
        });
    }
    let blame = Blame::whole(&run);
    assert_eq!(
        blame.time_of(Cause::InWorker),
        Some(Nanos::from_millis(3 * 700))
    );
    assert_eq!(blame.time_of(Cause::Starting), Some(Nanos::ZERO));
    let (text, severity) = says(&run, "unrecorded_workers").expect("2 workers");
    assert!(
        text.starts_with("2 workers started before the recording"),
        "{text}"
    );
    assert!(
        text.contains("every 80.0 ms") && text.contains("takes 10.0 ms"),
        "{text}"
    );
    assert_eq!(severity, Severity::Critical);
    assert!(!found(&run).contains(&"epoch_refill"), "{:?}", found(&run));
    assert_eq!(diagnosis(&run).verdict.id.as_str(), "unrecorded_workers");
}
