//! Regression tests of faults that random loaders revealed, each with one small loader.

use crate::support;

use std::sync::Arc;

use loadscope_engine::dataset::{Dataset, IterableDataset, SampleClock, SampleError, SampleStream};
use loadscope_engine::rng::shared_generator;
use loadscope_engine::sampler::{BatchIter, BatchSource};
use loadscope_engine::{
    Clock, ContentPolicy, DataLoader, Fetch, LoaderBuilder, LoaderError, LoaderState, Probe,
    exit_worker,
};
use support::{fold, within};

fn list(samples: Vec<usize>) -> Result<Vec<usize>, LoaderError> {
    Ok(samples)
}

/// Returns the batches of an epoch, and the errors of failed ones.
fn epoch<F: Fetch<Batch = Vec<usize>>>(
    loader: &mut DataLoader<F>,
) -> Vec<Result<Vec<usize>, String>> {
    let iter = loader.iter().expect("threads start");
    iter.map(|b| b.map(|b| b.into_batch()).map_err(|e| e.to_string()))
        .collect()
}

/// Samples 0, 1, …, 5, one of which panics.
struct Panicking(usize);

impl IterableDataset for Panicking {
    type Sample = usize;

    fn iter(&self) -> Result<Box<dyn SampleStream<usize>>, SampleError> {
        let panics = self.0;
        Ok(Box::new((0..6).map(move |sample| {
            assert_ne!(sample, panics, "it is too much");
            Ok(sample)
        })))
    }
}

/// Skips the yielded batches and returns the rest of the epoch.
fn rest<F: Fetch<Batch = Vec<usize>>>(
    new: impl Fn() -> DataLoader<F>,
    taken: usize,
) -> Vec<Result<Vec<usize>, String>> {
    let mut stopped = new();
    let mut iter = stopped.iter().expect("threads start");
    assert_eq!(iter.by_ref().take(taken).count(), taken);
    let state = iter.state_dict();
    drop(iter);
    let mut resumed = new();
    resumed.load_state_dict(state).expect("it fits");
    epoch(&mut resumed)
}

/// A dataset whose samples are their own index. Sample `deadly` ends its worker.
struct Numbers {
    len: usize,
    deadly: Option<usize>,
}

impl Dataset for Numbers {
    type Sample = usize;

    fn len(&self) -> usize {
        self.len
    }

    fn get(&self, index: usize, _: &mut SampleClock) -> Result<usize, SampleError> {
        if self.deadly == Some(index) {
            exit_worker(3);
        }
        Ok(index)
    }
}

/// Regression test: PyTorch's worker reports the reason once, then fails on the missing fetcher. A resumed loader does the same.
#[test]
fn a_worker_init_fn_error_is_reported_once() {
    within(30, || {
        let new = || {
            let data = Numbers {
                len: 6,
                deadly: None,
            };
            LoaderBuilder::new(Arc::new(data))
                .num_workers(1)
                .worker_init_fn(|_| Err(SampleError::new("OSError", "no such disk")))
                .default_generator(shared_generator(0))
                .collate_fn(list)
                .build()
                .expect("sound arguments")
        };
        let errors = |rest: Vec<Result<Vec<usize>, String>>| -> Vec<String> {
            rest.into_iter().map(Result::unwrap_err).collect()
        };
        let all = errors(epoch(&mut new()));
        assert!(all[0].contains("no such disk"));
        assert!(all[1..].iter().all(|e| e.contains("UnboundLocalError")));
        for taken in 0..=6 {
            assert_eq!(errors(rest(new, taken)), all[taken..]);
        }
    });
}

/// Regression test: every epoch reports the dead thread, as in PyTorch, and none waits for it.
#[test]
fn a_dead_persistent_worker_is_reported_in_every_epoch() {
    within(30, || {
        let data = Numbers {
            len: 8,
            deadly: Some(1),
        };
        let mut loader = LoaderBuilder::new(Arc::new(data))
            .num_workers(2)
            .persistent_workers(true)
            .default_generator(shared_generator(0))
            .collate_fn(list)
            .build()
            .expect("sound arguments");
        let got = epoch(&mut loader);
        let died = |e: &String| e.contains("exit code 3") && e.contains("exited unexpectedly");
        assert!(got.iter().any(|b| b.as_ref().is_err_and(died)), "{got:?}");
        for _ in 0..2 {
            let error = loader
                .iter()
                .err()
                .expect("a worker is missing")
                .to_string();
            assert!(died(&error), "{error}");
        }
    });
}

/// A batch source whose third batch is an error.
struct Faulty;

impl BatchSource for Faulty {
    fn len(&self) -> usize {
        4
    }

    fn iter(&self) -> BatchIter {
        let error = LoaderError::runtime("no third batch");
        Box::new([Ok(vec![0]), Ok(vec![2]), Err(error)].into_iter())
    }
}

/// Regression test: a consumer that gets the error of a death, a timeout or the sampler does not wait until its next request.
#[test]
fn an_error_without_a_batch_ends_the_wait() {
    within(30, || {
        for (num_workers, sampler, timeout) in [(2, false, 0.0), (0, true, 0.0), (1, false, 1e-6)] {
            let data = Numbers {
                len: 6,
                deadly: (num_workers == 2).then_some(1),
            };
            let builder = LoaderBuilder::new(Arc::new(data))
                .num_workers(num_workers)
                .timeout(timeout)
                .default_generator(shared_generator(0))
                .collate_fn(list);
            let builder = if sampler {
                builder.batch_sampler(Arc::new(Faulty))
            } else {
                builder
            };
            let (probe, events) = Probe::new(Clock::start(), ContentPolicy::Off, 1 << 12);
            let loader = builder.build().expect("sound arguments");
            let got = epoch(&mut loader.observed(probe));
            assert!(timeout > 0.0 || got.iter().any(Result::is_err));
            assert_eq!(fold(events.try_iter()).anomalies(), (0, 0));
        }
    });
}

#[test]
fn mismatched_states_are_refused_with_a_message() {
    let new = |num_workers| {
        let stream = Arc::new(Panicking(9));
        let builder = LoaderBuilder::iterable(stream).num_workers(num_workers);
        let builder = builder.default_generator(shared_generator(0));
        builder.collate_fn(list).build().expect("sound arguments")
    };
    let saved = {
        let mut loader = new(2);
        let mut iter = loader.iter().expect("threads start");
        assert!(iter.next().is_some());
        serde_json::to_value(iter.state_dict()).expect("plain data")
    };
    let refused = |num_workers, change: &dyn Fn(&mut serde_json::Value)| -> String {
        let mut saved = saved.clone();
        change(&mut saved);
        let state: Result<LoaderState, _> = serde_json::from_value(saved);
        match state {
            Err(error) => error.to_string(),
            Ok(state) => match new(num_workers).load_state_dict(state) {
                Err(error) => error.to_string(),
                Ok(()) => "it was taken".to_owned(),
            },
        }
    };
    assert_eq!(refused(2, &|_| ()), "it was taken");
    assert!(refused(3, &|_| ()).contains("only with the same number of workers"));
    let tasks = serde_json::json!({"tasks": {"below": 1, "also": []}});
    assert!(
        refused(2, &|s| s["progress"] = tasks.clone()).contains("its dataset or number of workers")
    );
    for version in [0, 1, 3] {
        let of = format!("has version {version}");
        assert!(refused(2, &|s| s["version"] = version.into()).contains(&of));
    }
    assert!(refused(2, &|s| s["generators"] = serde_json::json!([])).contains("0 generators"));
    assert!(refused(2, &|s| s["more"] = 1.into()).contains("unknown field"));
    assert!(refused(2, &|s| s["epoch"] = u32::MAX.into()).contains("epoch"));
}
