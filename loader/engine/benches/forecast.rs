//! Speed of forecasts for other settings: `cargo bench -p loadscope-engine --bench forecast`.

#![allow(clippy::expect_used, reason = "it ends with what went wrong")]

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use loadscope_engine::forecast::{Recorded, Setting, explore, grid, prospects};
use loadscope_engine::simulate::{Simulation, Work};
use loadscope_trace::{EventKind, Nanos, Origin, Run, RunInfo, RunOptions};

const BATCHES: u64 = 5_000;
const BATCH: u64 = 32;

/// Simulates two workers on two cores. Samples wait for at most 1 ms, then compute for at most 1 ms.
fn run(batches: u64, size: u64) -> Run {
    let options = RunOptions {
        num_workers: 2,
        batch_size: Some(size as usize),
        ..RunOptions::default()
    };
    let indices = |batch| (batch * size..(batch + 1) * size).collect();
    let simulation = Simulation {
        info: RunInfo {
            options,
            origin: Origin::Simulation,
            ..RunInfo::default()
        },
        work: Work::Batches((0..batches).map(indices).collect()),
        collate: Nanos(200_000),
        pin: None,
        step: Nanos::from_millis(10),
    };
    let waits = |i: u64| Nanos((i * 7_919 % 1_000) as i64 * 1_000);
    let computes = |i: u64| Nanos((i * 104_729 % 1_000) as i64 * 1_000);
    let mut run = Run::default();
    for mut event in simulation.run(|i| waits(i) + computes(i)) {
        match &mut event.kind {
            EventKind::Fetched(fetched) => {
                let first = u64::from(fetched.batch.idx) * size;
                for (i, sample) in (first..).zip(&mut fetched.samples) {
                    sample.cpu = Some(computes(i));
                }
            }
            EventKind::RunStarted(info) => {
                info.origin = Origin::Engine;
                info.cores = 2;
            }
            _ => {}
        }
        run.apply(&event);
    }
    run
}

fn forecast(criterion: &mut Criterion) {
    let recorded = Recorded::of(&run(BATCHES, BATCH)).expect("it tells everything");
    let mut group = criterion.benchmark_group("forecast of 5,000 batches of 32");
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3));
    for (num_workers, cores, name) in [
        (2, 16, "2 workers on 16 cores"),
        (8, 16, "8 workers on 16 cores"),
        (8, 2, "8 workers on 2 cores"),
    ] {
        let setting = Setting {
            num_workers,
            cores: Some(cores),
            ..recorded.setting()
        };
        group.bench_function(name, |b| b.iter(|| black_box(recorded.forecast(&setting))));
    }
    let settings = grid(&recorded.setting(), 1..=16, &[1, 2, 3, 4, 6, 8]);
    assert_eq!(settings.len(), 96);
    group.bench_function("96 settings on 2 cores", |b| {
        b.iter(|| black_box(explore(&recorded, &settings, &|_| true)));
    });
    group.finish();
    // A verdict needs these forecasts. The recording has the maximum length.
    let long = run(1_000_000, 4);
    let mut group = criterion.benchmark_group("a million batches");
    group
        .sample_size(10)
        .measurement_time(Duration::from_secs(10));
    group.bench_function("prospects", |b| {
        b.iter(|| black_box(prospects(&long, &|_| true)))
    });
    group.finish();
}

criterion_group!(benches, forecast);
criterion_main!(benches);
