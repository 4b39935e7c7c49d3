//! A sampler that fails in the middle of an epoch.

use std::sync::Arc;

use loadscope_engine::dataset::ListDataset;
use loadscope_engine::sampler::{IndexIter, Sampler};
use loadscope_engine::{DataLoader, Fetch, LoaderBuilder, LoaderError, LoaderState};

use super::support::within;

/// A sampler that fails instead of its seventh index.
struct Failing;

impl Sampler for Failing {
    fn len(&self) -> usize {
        12
    }

    fn iter(&self) -> IndexIter {
        let fails = || LoaderError::runtime("no more");
        Box::new((0..12).map(move |i| if i < 6 { Ok(i) } else { Err(fails()) }))
    }
}

/// Compares with PyTorch, which loses the batch to be yielded when the sampler fails, and continues with the batches in flight.
#[test]
fn a_sampler_error_is_reported_once() {
    let loader = |num_workers: usize| {
        let numbers: ListDataset<usize> = (0..12).collect();
        LoaderBuilder::new(Arc::new(numbers))
            .num_workers(num_workers)
            .sampler(Arc::new(Failing))
            .collate_fn(Ok::<Vec<usize>, LoaderError>)
            .build()
            .expect("it is well formed")
    };
    type Outcomes = Vec<Result<usize, ()>>;
    fn take_batches<F: Fetch<Batch = Vec<usize>>>(
        loader: &mut DataLoader<F>,
        most: usize,
    ) -> (Outcomes, LoaderState) {
        let mut iter = loader.iter().expect("an epoch");
        let batches = iter.by_ref().take(most);
        let outcomes = batches.map(|batch| batch.map(|b| b.into_batch()[0]).map_err(|_| ()));
        (outcomes.collect(), iter.state_dict())
    }
    within(60, move || {
        for num_workers in [0, 1, 2] {
            let (whole, _) = take_batches(&mut loader(num_workers), 20);
            assert_eq!(whole.iter().filter(|one| one.is_err()).count(), 1);
            for most in 0..=whole.len() {
                let (mut got, state) = take_batches(&mut loader(num_workers), most);
                let mut other = loader(num_workers);
                other.load_state_dict(state).expect("it fits");
                got.extend(take_batches(&mut other, 20).0);
                assert_eq!(got, whole, "{num_workers} workers, saved at {most}");
            }
        }
    });
}
