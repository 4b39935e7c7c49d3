use loadscope_trace::{
    BatchId, Event, EventKind, Gauge, Origin, RunId, RunOptions, Sent, Stage, StartMethod,
    WorkerInfo,
};

use super::*;

/// Returns the startup of `workers` on two cores. Times of events are ms.
fn startup_of(workers: u16, events: Vec<(i64, EventKind)>) -> Startup {
    let mut run = Run::new(RunInfo {
        origin: Origin::Pytorch("2.13.0".to_owned()),
        cores: 2,
        options: RunOptions {
            num_workers: usize::from(workers),
            ..RunOptions::default()
        },
        ..RunInfo::default()
    });
    for (at, kind) in events {
        let (at, run_id) = (Nanos::from_millis(at), RunId(0));
        run.apply(&Event {
            at,
            run: run_id,
            kind,
        });
    }
    let rows = 0..run.batches().len();
    let facts: Vec<BatchFacts> = rows.filter_map(|row| BatchFacts::of(&run, row)).collect();
    Startup::of(&run, &facts)
}

/// Returns the startup of four workers on two cores. They use `cores` each, and fetch after a second.
fn startup(cores: f64) -> Startup {
    const WORKERS: u16 = 4;
    let mut all = vec![(0, EventKind::EpochStarted { epoch: 0 })];
    for worker in 0..WORKERS {
        let info = WorkerInfo {
            worker,
            seed: None,
            os_id: None,
        };
        let batch = BatchId {
            epoch: 0,
            idx: u32::from(worker),
        };
        let stage = Stage::Fetching;
        let gauge = |at| {
            let gauge = Gauge {
                lane: Some(Lane::Worker(worker)),
                what: GaugeKind::Cpu,
                part: None,
                value: cores,
            };
            (at * 100, EventKind::Gauge(Box::new(gauge)))
        };
        all.push((0, EventKind::WorkerStarted(Box::new(info))));
        let sent = EventKind::dispatched(batch, Some(worker), [u64::from(worker)]);
        all.push((0, sent));
        all.extend((1_i64..10).map(gauge));
        all.push((1000, EventKind::Entered { batch, stage }));
    }
    all.sort_by_key(|(at, _)| *at);
    startup_of(WORKERS, all)
}

/// Regression test: the wait for a core during the import of PyTorch counted twice.
#[test]
fn workers_that_import_at_once_wait_for_cores_only() {
    let busy = startup(0.5);
    assert_eq!(busy.first_computes, Nanos::from_millis(500));
    assert_eq!(busy.first_fetch, Nanos::from_millis(500));
    // They use a quarter of the cores, so 750 ms are another wait.
    let waiting = startup(0.125);
    assert_eq!(waiting.first_computes, Nanos::from_millis(125));
    assert_eq!(waiting.first_fetch, Nanos::from_millis(125 + 750));
}

/// Returns the startup of `workers` that the main process started one after the other, after 10 ms. It sent their data in `took`.
fn spawned(workers: u16, took: Nanos) -> Startup {
    let each = took.0.clamp(0, 600_000_000) / 1_000_000;
    let running = 10 + each * i64::from(workers);
    let sent = Sent {
        workers: u32::from(workers),
        method: StartMethod::Spawn,
        bytes: 74_115,
        took: Nanos(took.0.saturating_mul(i64::from(workers))),
        pickling: Nanos::from_millis(1),
        attribute: None,
    };
    let mut all = vec![(0, EventKind::EpochStarted { epoch: 0 })];
    for worker in 0..workers {
        let info = WorkerInfo {
            worker,
            seed: None,
            os_id: None,
        };
        all.push((running, EventKind::WorkerStarted(Box::new(info))));
    }
    all.push((running, EventKind::Fact(Box::new(Fact::Sent(sent)))));
    for worker in 0..workers {
        let batch = BatchId {
            epoch: 0,
            idx: u32::from(worker),
        };
        let stage = Stage::Fetching;
        let task = EventKind::dispatched(batch, Some(worker), [u64::from(worker)]);
        all.push((running + 10, task));
        all.push((running + 15, EventKind::Entered { batch, stage }));
    }
    all.sort_by_key(|(at, _)| *at);
    startup_of(workers, all)
}

/// Regression test: the start of a single spawned worker was assumed to take 15 ms, and the rest was another wait of the main process.
#[test]
fn a_spawned_worker_starts_as_long_as_its_data_is_sent() {
    for workers in [1, 3] {
        let startup = spawned(workers, Nanos::from_millis(600));
        assert_eq!(startup.spawn, Nanos::from_millis(600));
        assert_eq!(startup.first_task, Nanos::from_millis(20));
        assert_eq!(startup.first_fetch, Nanos::from_millis(5));
    }
}

#[test]
fn any_time_of_sending_gives_a_valid_start() {
    for took in [i64::MIN, -1, 0, i64::MAX] {
        for workers in [1, 3] {
            let startup = spawned(workers, Nanos(took));
            assert!(startup.spawn >= Nanos::ZERO, "{startup:?}");
            assert!(startup.first_task >= Nanos::ZERO, "{startup:?}");
        }
    }
}
