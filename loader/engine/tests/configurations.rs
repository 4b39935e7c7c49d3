//! Thousands of random loaders, compared with a model of the algorithm.
//!
//! The number of workers and the behavior of the dataset are random. Batches, their order, the generators' draws and
//! the events must be correct. No thread may be left.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test ends with what went wrong"
)]

#[path = "configuration/mod.rs"]
mod configuration;
mod support;

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use configuration::{
    Alive, Config, DatasetKind, Expected, LoaderAction, Outcome, Picked, YieldedBatch, many, maps,
    silence_wanted_panics, streams, with_loader,
};
use loadscope_engine::rng::{SharedGenerator, lock_generator, shared_generator};
use loadscope_engine::simulate::{Delivery, Simulation, Work};
use loadscope_engine::{Clock, ContentPolicy, DataLoader, Fetch, Probe};
use loadscope_trace::{Nanos, RunInfo, RunOptions, Stage, Track};
use proptest::prelude::*;
use support::{fold, within};

/// Number of batches after which the consumer stops each of the two epochs. `None` means a complete epoch.
type Taken = [Option<usize>; 2];

/// Action that runs two epochs.
struct Epochs(Taken);

impl LoaderAction for Epochs {
    type Result = Vec<Vec<YieldedBatch>>;

    fn run<F: Fetch<Batch = Picked>>(self, mut loader: DataLoader<F>) -> Self::Result {
        let mut epoch = |taken: Option<usize>| {
            let mut iter = loader.iter().expect("threads start");
            let batches = iter.by_ref().take(taken.unwrap_or(usize::MAX));
            let got = batches.map(YieldedBatch::of).collect();
            if taken.is_none() {
                assert!(iter.next().is_none(), "the end is the end");
            }
            got
        };
        self.0.map(&mut epoch).into()
    }
}

/// Runs the loader and compares everything with the model.
fn check(config: &Config, seed: u64, taken: Taken) -> Result<Vec<Vec<Outcome>>, TestCaseError> {
    let (generator, model) = (shared_generator(seed), shared_generator(seed));
    let alive = Alive::default();
    let (probe, events) = Probe::new(Clock::start(), ContentPolicy::Off, 1 << 14);
    let got = with_loader(config, &generator, probe, &alive, Epochs(taken));
    // Only leftover threads could still hold the dataset.
    prop_assert_eq!(Arc::strong_count(&alive), 1, "a thread holds the dataset");
    for (epoch, (got, taken)) in got.iter().zip(taken).enumerate() {
        let fresh = epoch == 0 || !config.persistent;
        let expected = Expected::of(config, &model, fresh, taken);
        let right = expected.check(config, got, taken);
        prop_assert!(right.is_ok(), "epoch {}: {}", epoch, right.unwrap_err());
    }
    prop_assert!(same_place(&generator, &model), "the generators differ");
    let run = fold(events.try_iter());
    prop_assert_eq!(run.anomalies(), (0, 0));
    prop_assert!(run.batches().iter().all(|b| b.stage.is_final()));
    // The prefetch window is not exceeded. This is checked rarely, because it is slow.
    let steps = (0..run.transitions().len()).filter(|_| seed.is_multiple_of(8));
    for step in steps {
        let tasks = run.pipeline_after(step).tasks_outstanding as usize;
        prop_assert!(config.num_workers == 0 || tasks <= config.window());
    }
    for (lane, rows) in run.lanes() {
        for row in 0..rows as u16 {
            let track = run
                .track(Track { lane, row })
                .expect("a listed track")
                .all();
            prop_assert!(track.pairs().all(|p| p[0].end <= p[1].start));
        }
    }
    let ended = |stage| run.batches().iter().filter(|b| b.stage == stage).count();
    let outcomes: Vec<Vec<Outcome>> = got
        .into_iter()
        .map(|epoch| epoch.into_iter().map(|g| g.outcome).collect())
        .collect();
    let (right, wrong): (Vec<_>, Vec<_>) = outcomes.iter().flatten().partition(|o| o.is_ok());
    prop_assert_eq!(
        (ended(Stage::Done), ended(Stage::Failed)),
        (right.len(), wrong.len())
    );
    Ok(outcomes)
}

fn same_place(a: &SharedGenerator, b: &SharedGenerator) -> bool {
    let (mut a, mut b) = (lock_generator(a), lock_generator(b));
    a.draws() == b.draws() && a.next_u64() == b.next_u64()
}

/// Simulates the first epoch on a virtual clock.
fn simulated(config: &Config, expected: &Expected, seed: u64) -> Vec<Delivery> {
    let outcomes = || expected.all.iter().map(|(_, o)| o.clone());
    let numbers = |s: &Vec<usize>| s.iter().map(|n| *n as u64).collect::<Vec<u64>>();
    let is_faulty = outcomes().any(|o| o.is_err());
    let work = match &config.dataset {
        DatasetKind::Map { .. } => {
            let generator = shared_generator(seed);
            lock_generator(&generator).random_i64();
            let tasks: Result<Vec<Vec<usize>>, _> = config.tasks(&generator).collect();
            Work::Batches(
                tasks
                    .expect("no sampler fails")
                    .iter()
                    .map(numbers)
                    .collect(),
            )
        }
        // The simulator has no errors, so a failed batch is a sample with the position of the error.
        DatasetKind::Stream(_) if is_faulty => Work::Streams {
            streams: (expected.streams.iter())
                .map(|s| (0..s.len() as u64).collect())
                .collect(),
            batch_size: 1,
            drop_last: false,
        },
        DatasetKind::Stream(shards) => {
            let workers = config.num_workers.max(1);
            Work::Streams {
                streams: (0..workers)
                    .map(|w| numbers(&shards.of(w, workers)))
                    .collect(),
                batch_size: config.batch_size.unwrap_or(1),
                drop_last: config.drop_last,
            }
        }
    };
    let simulation = Simulation {
        info: RunInfo {
            options: RunOptions {
                num_workers: config.num_workers,
                prefetch_factor: (config.num_workers > 0).then_some(config.prefetch_factor),
                in_order: config.in_order,
                ..RunOptions::default()
            },
            ..RunInfo::default()
        },
        work,
        collate: Nanos(1000),
        pin: config.pinned.then_some(Nanos(500)),
        step: Nanos(2000),
    };
    let cost = |sample: u64| Nanos((sample.wrapping_mul(seed | 1) % 50_000).cast_signed());
    simulation.run_and_deliver(cost).1
}

/// Compares the simulator's output with the model.
fn check_simulated(config: &Config, seed: u64) -> Result<(), TestCaseError> {
    let expected = Expected::of(config, &shared_generator(seed), true, None);
    let is_faulty = expected.all.iter().any(|(_, o)| o.is_err());
    let delivered = simulated(config, &expected, seed);
    let outcome = |d: &Delivery| match (&config.dataset, d.worker.unwrap_or(0)) {
        (DatasetKind::Map { .. }, _) => expected.all[d.idx].1.clone(),
        (_, w) if is_faulty => expected.streams[w][d.samples[0] as usize].clone(),
        _ => Ok(d.samples.iter().map(|s| *s as usize).collect()),
    };
    let got: Vec<YieldedBatch> = delivered
        .iter()
        .map(|d| YieldedBatch {
            idx: d.idx,
            worker: d.worker,
            outcome: outcome(d),
        })
        .collect();
    let right = expected.check(config, &got, None);
    prop_assert!(right.is_ok(), "simulated: {}", right.unwrap_err());
    Ok(())
}

/// Checks that no loader threads are left. A joined thread stays in the list for a moment.
fn no_threads_left() -> Result<(), TestCaseError> {
    #[cfg(target_os = "linux")]
    {
        let deadline = Instant::now() + Duration::from_secs(10);
        let alive = || {
            let tasks = std::fs::read_dir("/proc/self/task").expect("Linux has it");
            let names =
                tasks.filter_map(|t| std::fs::read_to_string(t.ok()?.path().join("comm")).ok());
            names.filter(|name| name.starts_with("loader-")).count()
        };
        while alive() > 0 {
            prop_assert!(Instant::now() < deadline, "threads are left");
            std::thread::yield_now();
        }
    }
    Ok(())
}

fn all_workers(config: &Config, seed: u64, taken: Taken) -> Result<(), TestCaseError> {
    let mut first: Option<Vec<Outcome>> = None;
    for num_workers in BTreeSet::from([0, 1, 4, config.num_workers]) {
        let config = config.with_workers(num_workers);
        let outcomes = check(&config, seed, taken)?;
        check_simulated(&config, seed)?;
        // With the same seed the first epoch of a map-style dataset does not depend on the number of workers.
        if !config.is_stream() && config.in_order {
            let first = first.get_or_insert_with(|| outcomes[0].clone());
            prop_assert_eq!(&*first, &outcomes[0]);
        }
    }
    Ok(())
}

/// Lock held for reading by a test with threads, and for writing by a test that counts threads.
static RUNNING: RwLock<()> = RwLock::new(());

fn case(config: Config, seed: u64, taken: Taken) -> Result<(), TestCaseError> {
    silence_wanted_panics();
    {
        let _mine = RUNNING.read().unwrap_or_else(PoisonError::into_inner);
        within(30, move || all_workers(&config, seed, taken))?;
    }
    // The thread count is checked rarely, because the lock blocks the other test.
    if seed.is_multiple_of(16) {
        let _alone = RUNNING.write().unwrap_or_else(PoisonError::into_inner);
        no_threads_left()?;
    }
    Ok(())
}

fn taken() -> impl Strategy<Value = Taken> {
    let some = || proptest::option::weighted(0.3, 0..12usize);
    [some(), some()]
}

proptest! {
    #![proptest_config(many(6_000))]
    #[test]
    fn any_map_style_loader_matches_the_model(
        config in maps(), seed: u64, taken in taken(),
    ) {
        case(config, seed, taken)?;
    }
}

proptest! {
    #![proptest_config(many(4_000))]
    #[test]
    fn any_stream_loader_matches_the_model(
        config in streams(), seed: u64, taken in taken(),
    ) {
        case(config, seed, taken)?;
    }
}
