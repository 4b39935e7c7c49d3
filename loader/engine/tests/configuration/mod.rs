#![allow(
    dead_code,
    unused_imports,
    reason = "each test is a program of its own and uses a part of this"
)]
//! A random loader: its data, its options and the output that the algorithm requires. Shared by several tests.

mod data;
mod model;
mod strategy;
mod yielded_batch;

use std::sync::Arc;

use loadscope_engine::rng::SharedGenerator;
use loadscope_engine::sampler::{BatchIter, BatchSource, IndexIter, RandomSampler, RandomSource};
use loadscope_engine::sampler::{BatchSampler, Sampler, SequentialSampler};
use loadscope_engine::{DataLoader, Fetch, LoaderBuilder, Probe};
use loadscope_trace::PinMemory;
use proptest::test_runner::Config as ProptestConfig;

pub use data::{
    Alive, InjectedFaults, Numbers, Pick, Picked, Shards, Stream, silence_wanted_panics,
};
pub use model::Expected;
pub use strategy::{maps, streams};
pub use yielded_batch::{Outcome, YieldedBatch};

/// Order of a map-style dataset.
#[derive(Clone, Debug)]
pub enum Order {
    /// `shuffle=False`
    Sequential,
    /// `shuffle=True`
    Shuffle,
    /// `RandomSampler(replacement, num_samples)`
    Random {
        replacement: bool,
        num_samples: usize,
    },
    /// A plain list as `sampler`.
    List(Vec<usize>),
    /// A plain list as `batch_sampler`.
    Batches(Vec<Vec<usize>>),
}

/// Dataset of a loader.
#[derive(Clone, Debug)]
pub enum DatasetKind {
    Map { len: usize, order: Order },
    Stream(Shards),
}

/// A loader and its data.
#[derive(Clone, Debug)]
pub struct Config {
    pub dataset: DatasetKind,
    pub batch_size: Option<usize>,
    pub drop_last: bool,
    pub num_workers: usize,
    pub prefetch_factor: usize,
    pub persistent: bool,
    pub in_order: bool,
    pub pinned: bool,
    /// True if `generator=` is given. Otherwise the loader draws from the default generator.
    pub own_generator: bool,
    pub faults: InjectedFaults,
}

impl Config {
    pub fn is_stream(&self) -> bool {
        matches!(self.dataset, DatasetKind::Stream(_))
    }

    /// Returns this configuration with another number of workers. Without workers nothing can be persistent.
    pub fn with_workers(&self, num_workers: usize) -> Self {
        Self {
            num_workers,
            persistent: self.persistent && num_workers > 0,
            in_order: self.in_order || num_workers == 0,
            ..self.clone()
        }
    }

    /// Returns the maximum number of tasks in flight, or 0 without workers.
    pub fn window(&self) -> usize {
        self.num_workers * self.prefetch_factor
    }

    fn source(&self, generator: &SharedGenerator) -> RandomSource {
        if self.own_generator {
            RandomSource::Generator(Arc::clone(generator))
        } else {
            RandomSource::Default(Arc::clone(generator))
        }
    }

    fn sampler(&self, len: usize, order: &Order, generator: &SharedGenerator) -> Arc<dyn Sampler> {
        let random = |replacement, count: Option<usize>| -> Arc<dyn Sampler> {
            let count = count.map(|c| c as i64);
            let sampler = RandomSampler::new(len, replacement, count, self.source(generator));
            Arc::new(sampler.expect("a plain sampler"))
        };
        match order {
            Order::Shuffle => random(false, None),
            Order::Random {
                replacement,
                num_samples,
            } => random(*replacement, Some(*num_samples)),
            Order::List(list) => Arc::new(List(list.clone())),
            Order::Sequential | Order::Batches(_) => Arc::new(SequentialSampler::new(len)),
        }
    }

    /// Returns the indices of the tasks of one epoch, drawn from `generator`. Streams have none.
    pub fn tasks(&self, generator: &SharedGenerator) -> BatchIter {
        let DatasetKind::Map { len, order } = &self.dataset else {
            return Box::new(std::iter::empty());
        };
        if let Order::Batches(batches) = order {
            return BatchSource::iter(batches);
        }
        let sampler = self.sampler(*len, order, generator);
        match self.batch_size {
            None => Box::new(sampler.iter().map(|i| i.map(|i| vec![i]))),
            Some(size) => BatchSampler::new(sampler, size as i64, self.drop_last)
                .expect("a positive size")
                .iter(),
        }
    }
}

struct List(Vec<usize>);

impl Sampler for List {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn iter(&self) -> IndexIter {
        Box::new(self.0.clone().into_iter().map(Ok))
    }
}

/// Action on a loader of any type.
pub trait LoaderAction {
    type Result;
    fn run<F: Fetch<Batch = Picked>>(self, loader: DataLoader<F>) -> Self::Result;
}

/// Makes the loader and passes it to `then`. `alive` counts the holders of the dataset.
pub fn with_loader<U: LoaderAction>(
    config: &Config,
    generator: &SharedGenerator,
    probe: Probe,
    alive: &Alive,
    then: U,
) -> U::Result {
    match &config.dataset {
        DatasetKind::Map { len, order } => {
            let data = Numbers {
                len: *len,
                faults: config.faults,
                alive: Alive::clone(alive),
            };
            let builder = LoaderBuilder::new(Arc::new(data)).collate_fn(Pick);
            let builder = configure(config, generator, builder);
            let builder = match order {
                Order::Batches(batches) => builder.batch_sampler(Arc::new(batches.clone())),
                order => {
                    let builder = batching(config, builder);
                    match order {
                        Order::Shuffle => builder.shuffle(true),
                        Order::Sequential => builder,
                        order => builder.sampler(config.sampler(*len, order, generator)),
                    }
                }
            };
            then.run(builder.build().expect("sound arguments").observed(probe))
        }
        DatasetKind::Stream(shards) => {
            let data = Stream {
                shards: shards.clone(),
                faults: config.faults,
                alive: Alive::clone(alive),
            };
            let builder = LoaderBuilder::iterable(Arc::new(data)).collate_fn(Pick);
            let builder = batching(config, configure(config, generator, builder));
            then.run(builder.build().expect("sound arguments").observed(probe))
        }
    }
}

fn batching<K, D>(
    config: &Config,
    builder: LoaderBuilder<K, D, Pick>,
) -> LoaderBuilder<K, D, Pick> {
    builder
        .batch_size(config.batch_size)
        .drop_last(config.drop_last)
}

fn configure<K, D>(
    config: &Config,
    generator: &SharedGenerator,
    builder: LoaderBuilder<K, D, Pick>,
) -> LoaderBuilder<K, D, Pick> {
    let builder = builder
        .num_workers(config.num_workers)
        .persistent_workers(config.persistent)
        .in_order(config.in_order)
        .pin_memory(if config.pinned {
            PinMemory::Mlock
        } else {
            PinMemory::Off
        });
    let builder = if config.own_generator {
        builder.generator(Arc::clone(generator))
    } else {
        builder.default_generator(Arc::clone(generator))
    };
    if config.num_workers > 0 {
        builder.prefetch_factor(config.prefetch_factor)
    } else {
        builder
    }
}

/// Returns a configuration with `cases` cases, unless the environment sets another number.
pub fn many(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    let asked = std::env::var_os("PROPTEST_CASES").map(|_| default.cases);
    ProptestConfig {
        cases: asked.unwrap_or(cases),
        // A loader that hangs takes the whole timeout at every shrinking attempt.
        max_shrink_iters: 500,
        ..default
    }
}
