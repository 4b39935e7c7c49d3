//! Throughput and latency of the loader, and the cost of recording.
//!
//! The work is a small version of that in `cargo xtask bench --peers`.

#![allow(clippy::expect_used, reason = "it ends with what went wrong")]

mod work;

use std::hint::black_box;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use loadscope_engine::collate::StackCollate;
use loadscope_engine::fetch::Fetch;
use loadscope_engine::{Clock, ContentPolicy, DataLoader, DefaultCollate, Probe};
use loadscope_trace::{BatchId, Stage};

use work::data::{self, Pairs, Pictures, Repeated, WINDOW};
use work::engine::{Setup, epoch, first_batch, gathering, loader};
use work::recording::{Observer, Recording};

const WORKERS: [usize; 3] = [0, 1, 2];

fn setup(batch_size: usize, shuffle: bool, num_workers: usize) -> Setup {
    Setup {
        batch_size,
        shuffle,
        num_workers,
        persistent_workers: num_workers > 0,
    }
}

/// Measures whole epochs of the loader that `make` returns, recorded and not.
fn epochs<F: Fetch>(
    criterion: &mut Criterion,
    name: &str,
    items: usize,
    mut make: impl FnMut(usize, Probe) -> DataLoader<F>,
) {
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(items as u64));
    group.sample_size(10);
    for recording in [Recording::Off, Recording::Events] {
        for workers in WORKERS {
            let observer = Observer::start(recording);
            let mut loader = make(workers, observer.probe.clone());
            let name = BenchmarkId::new(format!("{workers} workers"), format!("{recording:?}"));
            group.bench_function(name, |bencher| {
                bencher.iter(|| {
                    epoch(&mut loader, |batch| {
                        black_box(batch);
                    })
                    .expect("an epoch")
                });
            });
            drop(loader);
            observer.finish();
        }
    }
    group.finish();
}

fn pictures_in_memory(criterion: &mut Criterion) {
    epochs(criterion, "w1 pictures in memory", 512, |workers, probe| {
        let setup = setup(64, true, workers);
        loader(Arc::new(Pictures::new(512)), DefaultCollate, setup, probe).expect("a loader")
    });
}

fn scalars(criterion: &mut Criterion) {
    epochs(
        criterion,
        "w2 pairs of numbers",
        100_000,
        |workers, probe| {
            let setup = setup(256, false, workers);
            gathering(
                Arc::new(data::tensors(100_000).expect("tensors")),
                100_000,
                setup,
                probe,
            )
            .expect("a loader")
        },
    );
    epochs(
        criterion,
        "w2 pairs of numbers, one by one",
        100_000,
        |workers, probe| {
            let setup = setup(256, false, workers);
            loader(Arc::new(Pairs::new(100_000)), StackCollate, setup, probe).expect("a loader")
        },
    );
}

fn picture_files(criterion: &mut Criterion) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets/pictures");
    epochs(criterion, "w3 picture files", 32, |workers, probe| {
        let dataset = Repeated::open(&folder, 16).expect("the pictures of the repository");
        loader(
            Arc::new(dataset),
            DefaultCollate,
            setup(8, false, workers),
            probe,
        )
        .expect("a loader")
    });
}

fn token_windows(criterion: &mut Criterion) {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    let tokens: Vec<u8> = (0..8192 * WINDOW)
        .flat_map(|at| (at as u16).to_le_bytes())
        .collect();
    file.write_all(&tokens).expect("a written file");
    epochs(criterion, "w6 windows of tokens", 8192, |workers, probe| {
        let dataset = data::tokens(file.path()).expect("the tokens");
        gathering(Arc::new(dataset), 8192, setup(32, true, workers), probe).expect("a loader")
    });
}

fn latency(criterion: &mut Criterion) {
    for persistent_workers in [false, true] {
        let setup = Setup {
            persistent_workers,
            ..setup(1, false, 2)
        };
        let mut loader =
            loader(Arc::new(Pairs::new(64)), StackCollate, setup, Probe::off()).expect("a loader");
        let threads = if persistent_workers { "kept" } else { "new" };
        criterion.bench_function(
            &format!("w5 iter to first batch and end, threads {threads}"),
            |bencher| bencher.iter(|| first_batch(&mut loader).expect("a batch")),
        );
    }
    let setup = setup(1, false, 2);
    let mut loader = loader(
        Arc::new(Pairs::new(1000)),
        StackCollate,
        setup,
        Probe::off(),
    )
    .expect("a loader");
    criterion.bench_function("w5 1000 round trips through the queues", |bencher| {
        bencher.iter(|| epoch(&mut loader, |_| {}).expect("an epoch"));
    });
}

fn event(criterion: &mut Criterion) {
    let (probe, events) = Probe::new(Clock::start(), ContentPolicy::Off, 1 << 16);
    let batch = BatchId { epoch: 0, idx: 0 };
    criterion.bench_function("an event told and taken", |bencher| {
        bencher.iter(|| {
            probe.enter(batch, Stage::Fetching);
            black_box(events.try_iter())
        });
    });
    criterion.bench_function("an event that is not observed", |bencher| {
        let probe = Probe::off();
        bencher.iter(|| black_box(&probe).enter(batch, Stage::Fetching));
    });
}

criterion_group!(
    benches,
    pictures_in_memory,
    scalars,
    picture_files,
    token_windows,
    latency,
    event
);
criterion_main!(benches);
