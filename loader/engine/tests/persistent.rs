//! Start of a new epoch with persistent workers.

#![cfg(not(feature = "explore"))]
#![allow(clippy::unwrap_used, reason = "a test ends with what went wrong")]

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use loadscope_engine::fetch::{Fetch, FetchError, FetchScope, Fetcher, Request};
use loadscope_engine::rng::shared_generator;
use loadscope_engine::sampler::{BatchSampler, SequentialSampler};
use loadscope_engine::{DataLoader, LoaderError, LoaderOptions, get_worker_info};

/// Timeout for operations that are usually short.
const LIMIT: Duration = Duration::from_secs(60);

/// Fetcher of indices. Worker 1 begins no epoch while the test holds it.
#[derive(Clone, Default)]
struct Held {
    holds: Arc<AtomicBool>,
    /// Number of epochs that workers have begun.
    begun: Arc<AtomicUsize>,
}

impl Held {
    fn is_held(&self) -> bool {
        get_worker_info().is_some_and(|info| info.id == 1) && self.holds.load(Ordering::Acquire)
    }
}

struct Indices;

impl Fetch for Held {
    type Batch = Vec<usize>;

    fn start(&self) -> Result<Box<dyn Fetcher<Batch = Self::Batch>>, LoaderError> {
        let begun = Instant::now();
        while self.is_held() {
            assert!(begun.elapsed() < LIMIT, "it is held up for good");
            thread::sleep(Duration::from_millis(1));
        }
        self.begun.fetch_add(1, Ordering::Release);
        Ok(Box::new(Indices))
    }
}

impl Fetcher for Indices {
    type Batch = Vec<usize>;

    fn fetch(
        &mut self,
        request: &Request,
        _: &mut FetchScope<'_>,
    ) -> Result<Option<Vec<usize>>, FetchError> {
        Ok(Some(request.indices().to_vec()))
    }
}

/// Returns a loader with one batch per epoch, made by worker 0.
fn loader(held: &Held) -> DataLoader<Held> {
    let batches = BatchSampler::new(Arc::new(SequentialSampler::new(2)), 2, false).unwrap();
    let options = LoaderOptions {
        num_workers: 2,
        persistent_workers: true,
        ..LoaderOptions::default()
    };
    DataLoader::new(
        held.clone(),
        Arc::new(batches),
        options,
        shared_generator(0),
    )
    .unwrap()
}

fn epoch(loader: &mut DataLoader<Held>) -> Vec<Vec<usize>> {
    let batches = loader.iter().unwrap();
    batches.map(|batch| batch.unwrap().into_batch()).collect()
}

#[test]
fn an_idle_worker_delays_the_next_epoch_not_the_first_batch() {
    let held = Held::default();
    let (done, answer) = mpsc::channel();
    let watched = held.clone();
    let epochs = move || {
        let mut loader = loader(&watched);
        assert_eq!(epoch(&mut loader), [[0, 1]]);
        let started = Instant::now();
        while watched.begun.load(Ordering::Acquire) < 2 {
            assert!(started.elapsed() < LIMIT, "a worker does not begin");
            thread::sleep(Duration::from_millis(1));
        }
        watched.holds.store(true, Ordering::Release);
        // Worker 1 answers the first of these two, and is then held.
        assert_eq!(epoch(&mut loader), [[0, 1]]);
        assert_eq!(epoch(&mut loader), [[0, 1]]);
        done.send("two epochs").unwrap();
        // Without waiting, a program that only starts epochs would send more and more commands to a hanging worker.
        assert_eq!(epoch(&mut loader), [[0, 1]]);
        done.send("the next").unwrap();
    };
    let thread = thread::Builder::new().name("epochs".to_owned());
    thread.spawn(epochs).unwrap();
    assert_eq!(answer.recv_timeout(LIMIT), Ok("two epochs"));
    let early = answer.recv_timeout(Duration::from_millis(100));
    assert_eq!(early, Err(mpsc::RecvTimeoutError::Timeout));
    held.holds.store(false, Ordering::Release);
    assert_eq!(answer.recv_timeout(LIMIT), Ok("the next"));
}
