//! Findings of synthetic runs.

use loadscope_diagnose::{
    Blame, Cause, Change, Diagnosis, FindingId, Forecast, ForecastSet, Severity, Survey, VerdictId,
    is_likely_less,
};
use loadscope_trace::{
    BatchId, EndReason, Event, EventKind, Level, Message, Nanos, Origin, Run, RunId, RunInfo,
    RunOptions, Stage, WorkerInfo,
};

#[path = "findings/causes.rs"]
mod causes;
#[path = "findings/device.rs"]
mod device;
#[path = "findings/failures.rs"]
mod failures;
#[path = "findings/hangs.rs"]
mod hangs;
#[path = "findings/host.rs"]
mod host;
#[path = "findings/lines.rs"]
mod lines;
#[path = "findings/pickles.rs"]
mod pickles;
#[path = "findings/remedies.rs"]
mod remedies;
#[path = "findings/samples.rs"]
mod samples;
#[path = "findings/streams.rs"]
mod streams;
#[path = "findings/system.rs"]
mod system;
#[path = "findings/waits.rs"]
mod waits;

/// PyTorch program whose only worker, or main process, loads `batches` batches sequentially. Times in ms.
struct Program {
    workers: usize,
    batches: u32,
    fetch: i64,
    collate: i64,
    step: i64,
}

impl Program {
    fn events(&self) -> Vec<(i64, EventKind)> {
        let worker = (self.workers > 0).then_some(0);
        let mut all = vec![(0, EventKind::EpochStarted { epoch: 0 })];
        if worker.is_some() {
            let info = WorkerInfo {
                worker: 0,
                seed: None,
                os_id: None,
            };
            all.push((0, EventKind::WorkerStarted(Box::new(info))));
        }
        let mut now = 0;
        for idx in 0..self.batches {
            let batch = BatchId { epoch: 0, idx };
            let enter = |stage| EventKind::Entered { batch, stage };
            all.push((now, EventKind::dispatched(batch, worker, [u64::from(idx)])));
            all.push((now, EventKind::Consumer { waiting: true }));
            all.push((now, enter(Stage::Fetching)));
            all.push((now + self.fetch, enter(Stage::Collating)));
            now += self.fetch + self.collate;
            all.push((now, enter(Stage::Returning)));
            all.push((now, enter(Stage::Training)));
            now += self.step;
            all.push((now, enter(Stage::Done)));
        }
        all
    }

    /// Returns the run, with additional events at its end.
    fn run(&self, end: Vec<(i64, EventKind)>) -> Run {
        let mut events = self.events();
        let last = events.last().map_or(0, |(at, _)| *at);
        let end = end.into_iter().map(|(after, kind)| (last + after, kind));
        events.extend(end);
        let mut run = Run::new(RunInfo {
            options: RunOptions {
                num_workers: self.workers,
                batch_size: Some(1),
                ..RunOptions::default()
            },
            origin: Origin::Pytorch("2.13.0".to_owned()),
            ..RunInfo::default()
        });
        for (at, kind) in events {
            run.apply(&Event {
                at: Nanos::from_millis(at),
                run: RunId(0),
                kind,
            });
        }
        run
    }
}

const PROGRAM: Program = Program {
    workers: 1,
    batches: 40,
    fetch: 40,
    collate: 1,
    step: 10,
};

const ENDED: EventKind = EventKind::EpochEnded { epoch: 0 };

fn diagnosis(run: &Run) -> Diagnosis {
    Diagnosis::of(run, None, Vec::new())
}

fn says(run: &Run, id: &str) -> Option<(String, Severity)> {
    let found = diagnosis(run).findings;
    let found = found.into_iter().find(|f| f.id.as_str() == id)?;
    Some((found.text.replace('\u{2009}', " "), found.severity))
}

#[test]
fn a_slow_collate_fn_is_named() {
    let slow = Program {
        fetch: 37,
        collate: 120,
        step: 22,
        ..PROGRAM
    };
    let (text, severity) = says(&slow.run(vec![(0, ENDED)]), "slow_collate").expect("it is slow");
    assert!(
        text.starts_with("collate_fn takes 120 ms of the 157 ms per batch: 4.68 s of waiting"),
        "{text}"
    );
    assert_eq!(severity, Severity::Critical);
    assert_eq!(says(&PROGRAM.run(vec![(0, ENDED)]), "slow_collate"), None);
}

#[test]
fn workers_are_not_advised_if_their_start_costs_more() {
    let program = |batches| Program {
        workers: 0,
        batches,
        fetch: 4,
        collate: 0,
        step: 2,
    };
    let of = |batches| says(&program(batches).run(vec![(0, ENDED)]), "no_workers");
    assert_eq!(of(5), None);
    assert!(of(500).is_some());
    // Threads start immediately.
    let mut run = program(5).run(vec![(0, ENDED)]);
    run.info.origin = Origin::Engine;
    assert!(says(&run, "no_workers").is_some());
}

#[test]
fn a_late_first_batch_finding_names_its_cause() {
    let first = |told: i64, fetch: i64| {
        let mut run = Run::new(RunInfo {
            options: RunOptions {
                num_workers: 2,
                ..RunOptions::default()
            },
            origin: Origin::Pytorch("2.13.0".to_owned()),
            ..RunInfo::default()
        });
        let mut all = vec![(0, EventKind::EpochStarted { epoch: 0 })];
        for worker in 0..2 {
            let info = WorkerInfo {
                worker,
                seed: None,
                os_id: None,
            };
            all.push((told, EventKind::WorkerStarted(Box::new(info))));
        }
        all.push((told, EventKind::Consumer { waiting: true }));
        let mut now = fetch;
        for idx in 0..20 {
            let batch = BatchId { epoch: 0, idx };
            let enter = |stage| EventKind::Entered { batch, stage };
            let sent = if idx == 0 { told } else { now };
            let worker = Some((idx % 2) as u16);
            all.push((sent, EventKind::dispatched(batch, worker, [0])));
            all.push((now, enter(Stage::Fetching)));
            all.push((now + 5, enter(Stage::Training)));
            all.push((now + 10, EventKind::Consumer { waiting: true }));
            now += 10;
        }
        for (at, kind) in all {
            run.apply(&Event {
                at: Nanos::from_millis(at),
                run: RunId(0),
                kind,
            });
        }
        let found = diagnosis(&run).findings;
        let found = found
            .into_iter()
            .find(|f| f.id == FindingId::SlowFirstBatch);
        let found = found.expect("it came late");
        (found.text.replace('\u{2009}', " "), found.remedy)
    };
    let (text, remedy) = first(90, 100);
    assert!(
        text.starts_with(
            "The first batch took 105 ms, because the main process took 90.0 ms to start 2 workers. "
        ),
        "{text}"
    );
    assert!(
        text.contains("This delay costs ") && text.contains(" of the loop), because "),
        "{text}"
    );
    assert!(!remedy.contains("worker_init_fn"), "{remedy}");
    let (text, remedy) = first(10, 100);
    assert!(
        text.contains(", because its worker was starting."),
        "{text}"
    );
    assert!(remedy.contains("worker_init_fn"), "{remedy}");
}

/// The main process reports its workers when it has started them. Spawned workers then import PyTorch for seconds.
#[test]
fn each_worker_process_is_starting_until_its_first_batch() {
    let started = |seed| {
        EventKind::WorkerStarted(Box::new(WorkerInfo {
            worker: 0,
            seed: Some(seed),
            os_id: None,
        }))
    };
    let ended = EventKind::WorkerEnded {
        worker: 0,
        reason: EndReason::Finished,
        os_id: None,
    };
    let of_epoch = |epoch, idx| BatchId { epoch, idx };
    let enter = |batch, stage| EventKind::Entered { batch, stage };
    let waits = EventKind::Consumer { waiting: true };
    let events = || {
        vec![
            (0, EventKind::EpochStarted { epoch: 0 }),
            (3, started(1)),
            (4, EventKind::dispatched(of_epoch(0, 0), Some(0), [5])),
            (5, waits.clone()),
            (705, enter(of_epoch(0, 0), Stage::Fetching)),
            (715, enter(of_epoch(0, 0), Stage::Returning)),
            (716, enter(of_epoch(0, 0), Stage::Training)),
            (716, EventKind::dispatched(of_epoch(0, 1), Some(0), [6])),
            (720, waits.clone()),
            (723, enter(of_epoch(0, 1), Stage::Fetching)),
            (730, enter(of_epoch(0, 1), Stage::Training)),
            (740, waits.clone()),
            (760, ended.clone()),
            (761, EventKind::EpochEnded { epoch: 0 }),
            (770, EventKind::EpochStarted { epoch: 1 }),
            (772, started(2)),
            (773, EventKind::dispatched(of_epoch(1, 0), Some(0), [7])),
            (773, waits.clone()),
            (1373, enter(of_epoch(1, 0), Stage::Fetching)),
            (1383, enter(of_epoch(1, 0), Stage::Training)),
        ]
    };
    let info = |origin| RunInfo {
        origin,
        ..RunInfo::default()
    };
    let pytorch = Origin::Pytorch("2.13.0".to_owned());
    let run = run_of(info(pytorch), events());
    let causes: Vec<(Cause, i64)> = Blame::whole(&run).iter().map(|(c, t)| (c, t.0)).collect();
    assert_eq!(
        causes,
        [
            (Cause::Starting, 700 + 600),
            (Cause::IndexQueue, 3),
            (Cause::Fetching, 10 + 7 + 10),
            (Cause::Returning, 1),
            (Cause::End, 21),
        ]
    );
    // A thread reports its own start, so it has already started.
    let run = run_of(info(Origin::Engine), events());
    let blame = Blame::whole(&run);
    let of = |cause| blame.time_of(cause).map(|t| t.0);
    assert_eq!(
        (of(Cause::Starting), of(Cause::IndexQueue)),
        (Some(0), Some(1303))
    );
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
    run
}
