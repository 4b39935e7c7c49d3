//! Faults that random loaders brought to light, each as one small loader.

use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use loadscope_engine::dataset::{IterableDataset, SampleError, SampleStream};
use loadscope_engine::rng::shared_generator;
use loadscope_engine::{DataLoader, EngineError, Fetch, LoaderBuilder, LoaderState, exit_worker};

/// Fails the test instead of hanging it.
fn within<T: Send + 'static>(seconds: u64, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (tx, rx) = std::sync::mpsc::channel();
    let thread = std::thread::Builder::new().name("test".to_owned());
    let thread = thread.spawn(move || tx.send(work())).expect("a thread");
    match rx.recv_timeout(Duration::from_secs(seconds)) {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout) => panic!("it hangs"),
        Err(RecvTimeoutError::Disconnected) => match thread.join() {
            Err(panic) => std::panic::resume_unwind(panic),
            Ok(_) => unreachable!("it sent something"),
        },
    }
}

fn list(samples: Vec<usize>) -> Result<Vec<usize>, EngineError> {
    Ok(samples)
}

/// An epoch: batches, and what is said of those that failed.
fn epoch<F: Fetch<Batch = Vec<usize>>>(
    loader: &mut DataLoader<F>,
) -> Vec<Result<Vec<usize>, String>> {
    let iter = loader.iter().expect("threads start");
    iter.map(|b| b.map(|b| b.into_batch()).map_err(|e| e.to_string()))
        .collect()
}

/// Samples 0, 1, …, 5, of which one panics.
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

/// A Python generator that raised is finished, and a panic is what raising is here.
#[test]
fn a_stream_that_panicked_has_ended() {
    within(30, || {
        for num_workers in [0, 1] {
            let loader = LoaderBuilder::iterable(Arc::new(Panicking(3)))
                .batch_size(2)
                .num_workers(num_workers)
                .default_generator(shared_generator(0))
                .collate_fn(list)
                .build();
            let got = epoch(&mut loader.expect("sound arguments"));
            assert_eq!(got.len(), 2, "{got:?}");
            assert_eq!(got[0], Ok(vec![0, 1]));
            assert!(got[1].as_ref().is_err_and(|e| e.contains("too much")));
        }
    });
}
