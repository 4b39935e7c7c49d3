//! Building blocks of the explored scenarios: the explorer, simple datasets, and loaders with two workers.

use std::sync::Arc;

use loadscope_engine::dataset::{Dataset, IterableDataset, SampleClock, SampleError, SampleStream};
use loadscope_engine::rng::shared_generator;
use loadscope_engine::{
    DataLoader, Fetch, LoaderBuilder, LoaderError, exit_worker, get_worker_info,
};
use loadscope_trace::{Event, Nanos, PinMemory, Run, RunInfo, Sorter};
use shuttle::rand::Rng as _;
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, Runner};

/// Runs `scenario` in many interleavings.
pub fn explore(scenario: impl Fn() + Send + Sync + 'static) {
    let scenario = Arc::new(scenario);
    let run = |scheduler: Box<dyn Scheduler + Send>| {
        let scenario = Arc::clone(&scenario);
        let mut config = Config::new();
        // libtorch runs on these stacks.
        config.stack_size = 1 << 18;
        Runner::new(scheduler, config).run(move || scenario());
    };
    run(Box::new(RandomScheduler::new(8000)));
    run(Box::new(PctScheduler::new(3, 4000)));
    run(Box::new(PctScheduler::new(8, 4000)));
}

/// Returns a number below `n`, chosen by the explorer.
pub fn any_below(n: usize) -> usize {
    shuttle::rand::thread_rng().gen_range(0..n)
}

pub fn any() -> bool {
    any_below(2) == 1
}

/// A dataset whose samples are their own index. One fails, and one ends its worker.
#[derive(Clone, Default)]
pub struct Numbers {
    pub len: usize,
    pub bad: Option<usize>,
    pub deadly: Option<usize>,
    /// Token held by every thread.
    pub alive: Arc<()>,
}

impl Numbers {
    pub fn new(len: usize) -> Self {
        Self {
            len,
            ..Self::default()
        }
    }
}

impl Dataset for Numbers {
    type Sample = usize;

    fn len(&self) -> usize {
        self.len
    }

    fn get(&self, index: usize, _: &mut SampleClock) -> Result<usize, SampleError> {
        if self.deadly == Some(index) {
            exit_worker(7);
        }
        match self.bad {
            Some(bad) if bad == index => Err(SampleError::new("ValueError", "boom")),
            _ => Ok(index),
        }
    }
}

/// Streams of these lengths, one per worker: 0, 1, … and 100, 101, …
pub struct Streams(pub &'static [usize]);

impl IterableDataset for Streams {
    type Sample = usize;

    fn iter(&self) -> Result<Box<dyn SampleStream<usize>>, SampleError> {
        let id = get_worker_info().map_or(0, |info| info.id);
        let len = self.0.get(id).copied().unwrap_or(0);
        Ok(Box::new((id * 100..id * 100 + len).map(Ok)))
    }
}

fn list(samples: Vec<usize>) -> Result<Vec<usize>, LoaderError> {
    Ok(samples)
}

pub type ListLoader = DataLoader<loadscope_engine::MapFetcher<Numbers, ListOf>>;
pub type ListOf = fn(Vec<usize>) -> Result<Vec<usize>, LoaderError>;

/// Options of a test loader with two workers.
pub struct LoaderConfig {
    pub persistent: bool,
    pub in_order: bool,
    pub pinned: bool,
    pub prefetch: usize,
    pub timeout: f64,
}

impl Default for LoaderConfig {
    fn default() -> Self {
        Self {
            persistent: false,
            in_order: true,
            pinned: false,
            prefetch: 2,
            timeout: 0.0,
        }
    }
}

impl LoaderConfig {
    pub fn apply<K, D, C>(self, builder: LoaderBuilder<K, D, C>) -> LoaderBuilder<K, D, ListOf> {
        let pin_memory = if self.pinned {
            PinMemory::Mlock
        } else {
            PinMemory::Off
        };
        builder
            .num_workers(2)
            .prefetch_factor(self.prefetch)
            .persistent_workers(self.persistent)
            .in_order(self.in_order)
            .pin_memory(pin_memory)
            .timeout(self.timeout)
            .default_generator(shared_generator(0))
            .collate_fn(list as ListOf)
    }

    pub fn build_loader(self, data: &Numbers) -> ListLoader {
        let builder = LoaderBuilder::new(Arc::new(data.clone()));
        self.apply(builder).build().expect("sound arguments")
    }
}

/// Returns the output of an epoch: samples of batches of one, and errors.
pub fn epoch<F: Fetch<Batch = Vec<usize>>>(
    loader: &mut DataLoader<F>,
) -> Vec<Result<usize, String>> {
    let iter = loader.iter().expect("threads start");
    iter.map(|b| b.map(|b| b[0]).map_err(|e| e.to_string()))
        .collect()
}

pub fn all(len: usize) -> Vec<Result<usize, String>> {
    (0..len).map(Ok).collect()
}

/// Checks that no thread holds the dataset after the loader is dropped.
pub fn is_gone(data: &Numbers) {
    assert_eq!(Arc::strong_count(&data.alive), 1, "a thread is left");
}

/// Checks that no event contradicts those before it, and that every batch reached a final stage.
pub fn check_events(events: impl IntoIterator<Item = Event>) {
    let mut sorter = Sorter::new(Nanos::MAX);
    events.into_iter().for_each(|e| sorter.push(e));
    let mut run = Run::new(RunInfo::default());
    let mut said = Vec::new();
    while let Some(event) = sorter.flush() {
        run.apply(&event);
        said.push(event.kind);
        assert_eq!(run.anomalies(), (0, 0), "{said:#?}");
    }
    assert!(run.batches().iter().all(|b| b.stage.is_final()));
}
