//! Streams whose end shows how the workers share them.

use loadscope_trace::Fact;

use super::*;

/// Returns a PyTorch program whose workers yield these samples in batches of four. A sample takes 20 ms, a step 10 ms.
fn run(streams: Vec<Vec<u64>>, facts: &[Fact]) -> Run {
    let simulation = Simulation {
        info: RunInfo {
            options: RunOptions {
                num_workers: streams.len(),
                batch_size: Some(4),
                ..RunOptions::default()
            },
            origin: Origin::Simulation,
            ..RunInfo::default()
        },
        work: Work::Streams {
            streams,
            batch_size: 4,
            drop_last: false,
        },
        collate: Nanos::ZERO,
        pin: None,
        step: Nanos::from_millis(10),
    };
    let mut run = Run::default();
    let events = simulation.run_with_failures(|_| Nanos::from_millis(20), |_| false);
    for event in &events {
        run.apply(event);
    }
    for fact in facts {
        run.apply(&Event {
            at: run.end(),
            run: RunId(0),
            kind: EventKind::Fact(Box::new(fact.clone())),
        });
    }
    run.info.origin = Origin::Pytorch("2.13.0".to_owned());
    run
}

#[test]
fn more_workers_than_shards_are_not_faster() {
    for shards in [1, 2, 3] {
        let mut streams = vec![(0..60).collect(); shards];
        streams.resize(shards + 2, Vec::new());
        let recorded = Recorded::of(&run(streams, &[])).expect("it was recorded");
        let own = with(&recorded, &[]);
        let error = own.time.as_secs_f64() / recorded.time().as_secs_f64() - 1.0;
        assert!(error.abs() < 0.02, "{error}");
        let time = |n: usize| {
            with(&recorded, &[&format!("num_workers={n}")])
                .time
                .as_secs_f64()
        };
        for more in [shards, shards + 1, shards + 5] {
            let off = time(more) / own.time.as_secs_f64() - 1.0;
            assert!(off.abs() < 0.1, "{shards} shards, {more} workers: {off}");
        }
        if shards > 1 {
            assert!(time(1) > 1.5 * time(shards), "{shards}");
        }
        let prospects = recorded
            .prospects(&|_| true)
            .expect("sound")
            .expect("wanted");
        let first = prospects.recommended(shards + 2);
        assert!(first.is_none(), "{first:?}");
        assert!(!prospects.is_divided);
        let notes = recorded.notes().join("\n");
        assert!(notes.contains("shard"), "{notes}");
    }
}

#[test]
fn worker_changes_are_refused_for_repeated_streams() {
    let facts = [
        Fact::UndividedStream { worker: 0 },
        Fact::UndividedStream { worker: 1 },
        Fact::UndividedStream { worker: 2 },
    ];
    let recorded = Recorded::of(&run(vec![(0..40).collect(); 3], &facts)).expect("it was recorded");
    let prospects = recorded
        .prospects(&|_| true)
        .expect("sound")
        .expect("wanted");
    let why = prospects
        .workers_refused
        .expect("no other number of workers");
    assert!(why.contains("yields the whole stream"), "{why}");
    let mut setting = recorded.setting();
    setting.num_workers = 4;
    assert!(recorded.forecast(&setting).is_err());
    // An evenly split stream is not refused.
    let recorded = Recorded::of(&run(vec![(0..40).collect(); 3], &[])).expect("it was recorded");
    assert_eq!(recorded.workers_refused(), None);
}
