use loadscope_trace::{PinMemory, Run, RunOptions, Summary};

use super::*;
use crate::dataset::SyntheticCatalog;
use crate::order::order_of_dataset;

fn proof(in_order: bool, num_workers: usize) -> Run {
    let options = RunOptions {
        num_workers,
        batch_size: Some(1),
        in_order,
        step_ms: 20.0,
        ..RunOptions::default()
    };
    let simulation = Simulation {
        info: RunInfo {
            options,
            ..RunInfo::default()
        },
        work: Work::Batches((0..24).map(|i| vec![i]).collect()),
        collate: Nanos::ZERO,
        pin: None,
        step: Nanos::from_millis(20),
    };
    let cost = |i| Nanos::from_millis(if i == 4 { 1000 } else { 50 });
    let mut run = Run::default();
    for event in simulation.run(cost) {
        run.apply(&event);
    }
    assert_eq!(run.anomalies(), (0, 0));
    run
}

/// Expected times follow from the algorithm: 1.590 s with 1.110 s waited, unordered 1.170 s with 0.690 s waited, three workers 1.450 s.
#[test]
fn times_of_a_slow_sample_match_the_algorithm() {
    let summary = Summary::of(&proof(true, 2));
    assert_eq!((summary.seconds * 1e3).round(), 1590.0);
    assert_eq!((summary.waited_seconds * 1e3).round(), 1110.0);
    let unordered = proof(false, 2);
    let summary = Summary::of(&unordered);
    assert_eq!((summary.seconds * 1e3).round(), 1170.0);
    assert_eq!((summary.waited_seconds * 1e3).round(), 690.0);
    let order: Vec<u32> = unordered
        .transitions()
        .iter()
        .filter(|t| t.stage == Stage::Training)
        .map(|t| unordered.batches()[t.batch as usize].id.idx)
        .collect();
    let expected: Vec<u32> = [0, 1, 2, 3, 5]
        .into_iter()
        .chain(7..24)
        .chain([4, 6])
        .collect();
    assert_eq!(order, expected);
    assert_eq!((Summary::of(&proof(true, 3)).seconds * 1e3).round(), 1450.0);
}

fn folded(options: &RunOptions) -> Run {
    let mut run = Run::default();
    let events = simulate(options, &SyntheticCatalog).expect("sound options");
    assert!(events.is_sorted_by_key(|e| e.at));
    assert_eq!(
        events,
        simulate(options, &SyntheticCatalog).expect("sound options")
    );
    events.iter().for_each(|e| run.apply(e));
    assert_eq!(run.anomalies(), (0, 0));
    assert!(run.has_ended());
    run
}

fn made_up(dataset: &str) -> RunOptions {
    RunOptions {
        dataset: dataset.to_owned(),
        batch_size: Some(2),
        num_workers: 2,
        step_ms: 1.0,
        shuffle: dataset.starts_with("synthetic"),
        ..RunOptions::default()
    }
}

#[test]
fn a_simulation_has_the_order_and_seeds_of_the_loader() {
    let options = RunOptions {
        epochs: 3,
        seed: Some(7),
        ..made_up("synthetic:len=11,cost_ms=5,jitter=0.5")
    };
    let run = folded(&options);
    let order = order_of_dataset(&options, &SyntheticCatalog).expect("sound options");
    let drawn = |epoch: usize| -> Vec<Vec<u64>> {
        let rows = run.epochs()[epoch].rows.iter();
        rows.map(|row| run.indices(*row as usize).to_vec())
            .collect()
    };
    for epoch in 0..3 {
        assert_eq!(drawn(epoch), order.epochs[epoch]);
    }
    assert_eq!(run.workers().len(), 6);
    let seeds = run.workers().iter().map(|w| w.info.seed);
    let seeds: Vec<u64> = seeds.map(|seed| seed.expect("the engine knows")).collect();
    assert_eq!(seeds, order.seeds.concat());
    assert!(run.workers().iter().all(|w| w.end.is_some()));
    // Epochs do not overlap.
    let epochs = run.epochs();
    assert!(epochs.pairs().all(|e| e[0].end <= Some(e[1].start)));
}

#[test]
fn a_simulation_without_a_seed_is_repeatable() {
    folded(&made_up("synthetic:len=30,cost_ms=2"));
    folded(&made_up("stream:len=30,cost_ms=2,shard=true"));
    folded(&RunOptions {
        num_workers: 0,
        pin_memory: PinMemory::Mlock,
        ..made_up("synthetic:len=9")
    });
}

#[test]
fn a_failed_sample_ends_the_run_or_is_skipped() {
    let stop = made_up("synthetic:len=20,cost_ms=2,fail=4");
    let run = folded(&stop);
    let failed = |run: &Run| {
        run.batches()
            .iter()
            .filter(|b| b.stage == Stage::Failed)
            .count()
    };
    assert_eq!(failed(&run), 1);
    assert!(run.messages().iter().any(|(_, m)| m.sample == Some(4)));
    for num_workers in [0, 2] {
        let run = folded(&RunOptions {
            on_error: OnError::Continue,
            num_workers,
            epochs: 2,
            ..stop.clone()
        });
        assert_eq!(failed(&run), 2);
        let done = run.batches().iter().filter(|b| b.stage == Stage::Done);
        assert_eq!(done.count(), 18);
    }
}

#[test]
fn simulations_that_are_too_large_are_refused() {
    let huge = made_up("synthetic:len=999999999");
    assert!(simulate(&huge, &SyntheticCatalog).is_err_and(|e| e.to_string().contains("too many")));
    // Drawn samples, workers, streams that all yield everything, and tasks without an answer count as well.
    let drawn = RunOptions {
        sampler: "random".to_owned(),
        shuffle: false,
        num_samples: Some(999_999_999),
        ..made_up("synthetic:len=9")
    };
    let workers = RunOptions {
        num_workers: 1024,
        epochs: 1_000_000,
        ..made_up("synthetic:len=1")
    };
    let streams = RunOptions {
        num_workers: 1000,
        ..made_up("stream:len=999999")
    };
    let unanswered = RunOptions {
        num_workers: 100,
        prefetch_factor: Some(10_000),
        epochs: 1000,
        ..made_up("stream:len=0")
    };
    for options in [drawn, workers, streams, unanswered] {
        let text = simulate(&options, &SyntheticCatalog).map(|events| events.len());
        let text = text.expect_err("too many").to_string();
        assert!(
            text.contains("too many to simulate: the limit is 20,000,000"),
            "{text}"
        );
    }
    let wrong = RunOptions {
        prefetch_factor: Some(0),
        ..made_up("synthetic:len=9")
    };
    assert!(simulate(&wrong, &SyntheticCatalog).is_err());
}

/// Variables of PyTorch 2.13 after `iter(loader)` and after each batch: `_rcvd_idx`, `_send_idx`, `_tasks_outstanding`,
/// `_workers_status`, and the keys of `_task_info`. Two workers have 2 and 8 samples of 20 ms, in batches of 2. A step takes longer than
/// all tasks.
#[test]
fn iterator_variables_of_an_uneven_stream_match_pytorch() {
    type Row = (u32, u32, u32, [bool; 2], &'static [u32]);
    const PYTORCH: [Row; 6] = [
        (0, 4, 4, [true, true], &[0, 1, 2, 3]),
        (1, 5, 4, [true, true], &[1, 2, 3, 4]),
        (2, 7, 4, [false, true], &[2, 3, 4, 5, 6]),
        (4, 8, 4, [false, true], &[4, 5, 6, 7]),
        (6, 9, 4, [false, true], &[6, 7, 8]),
        (7, 10, 4, [false, true], &[7, 8, 9]),
    ];
    let options = RunOptions {
        dataset: "stream:shards=2/8,cost_ms=20".to_owned(),
        batch_size: Some(2),
        num_workers: 2,
        step_ms: 200.0,
        ..RunOptions::default()
    };
    let mut run = Run::default();
    let events = simulate(&options, &SyntheticCatalog).expect("sound options");
    events.iter().for_each(|event| run.apply(event));
    let yields = run.transitions().iter().enumerate();
    let yields = yields.filter(|(_, t)| t.stage == Stage::Training);
    let after: Vec<usize> = yields.map(|(at, _)| at + 1).collect();
    assert_eq!(after.len() + 1, PYTORCH.len());
    let sent = run.transitions().iter().enumerate();
    let mut sent = sent.filter(|(_, t)| t.stage == Stage::Queued);
    let primed = sent.nth(3).map(|(at, _)| at + 1);
    // Stages that begin in between change no variable.
    let steps = std::iter::once(primed.expect("the window is filled")).chain(after);
    for (step, row) in steps.zip(PYTORCH) {
        let pipeline = run.pipeline_after(step);
        let tasks: Vec<u32> = pipeline.task_info().map(|task| task.idx).collect();
        let status = [0, 1].map(|worker| pipeline.takes_tasks(worker));
        let found = (
            pipeline.rcvd_idx,
            pipeline.send_idx,
            pipeline.tasks_outstanding,
            status,
            tasks.as_slice(),
        );
        assert_eq!(found, row);
    }
}
