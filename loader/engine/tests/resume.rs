//! A loader that is stopped anywhere and saved as text. A new loader must continue without a difference.

use crate::configuration;
#[path = "resume/failing.rs"]
mod failing;
use crate::support;

use std::sync::Arc;

use configuration::{
    Alive, Config, LoaderAction, Picked, YieldedBatch, many, maps, silence_wanted_panics, streams,
    with_loader,
};
use loadscope_engine::dataset::ListDataset;
use loadscope_engine::rng::{SharedGenerator, lock_generator, shared_generator};
use loadscope_engine::sampler::{BatchIter, BatchSource, IndexIter, Sampler};
use loadscope_engine::{DataLoader, Fetch, LoaderBuilder, LoaderError, LoaderState, Probe};
use proptest::prelude::*;
use support::within;

/// Number of compared epochs.
const EPOCHS: usize = 3;

fn epoch<F: Fetch<Batch = Picked>>(loader: &mut DataLoader<F>, taken: usize) -> Vec<YieldedBatch> {
    let iter = loader.iter().expect("threads start");
    iter.take(taken).map(YieldedBatch::of).collect()
}

/// Action that runs whole epochs.
struct Whole(usize);

impl LoaderAction for Whole {
    type Result = Vec<Vec<YieldedBatch>>;

    fn run<F: Fetch<Batch = Picked>>(self, mut loader: DataLoader<F>) -> Self::Result {
        (0..self.0)
            .map(|_| epoch(&mut loader, usize::MAX))
            .collect()
    }
}

/// Action that runs whole epochs, then takes some batches of the next one and saves the state.
struct Stopped {
    /// State from which to continue, or `None` for the beginning.
    from: Option<String>,
    whole: usize,
    taken: usize,
}

impl LoaderAction for Stopped {
    type Result = (Vec<YieldedBatch>, String);

    fn run<F: Fetch<Batch = Picked>>(self, mut loader: DataLoader<F>) -> Self::Result {
        load(&mut loader, self.from);
        for _ in 0..self.whole {
            epoch(&mut loader, usize::MAX);
        }
        let mut iter = loader.iter().expect("threads start");
        let got = iter
            .by_ref()
            .take(self.taken)
            .map(YieldedBatch::of)
            .collect();
        (got, save(&iter.state_dict()))
    }
}

/// Action that resumes a saved epoch, and runs more epochs.
struct Resumed {
    from: String,
    epochs: usize,
}

impl LoaderAction for Resumed {
    type Result = Vec<Vec<YieldedBatch>>;

    fn run<F: Fetch<Batch = Picked>>(self, mut loader: DataLoader<F>) -> Self::Result {
        load(&mut loader, Some(self.from));
        Whole(self.epochs).run(loader)
    }
}

/// Action that stops an epoch early, saves the loader's state between two epochs, and continues.
struct Between(usize);

impl LoaderAction for Between {
    type Result = (String, Vec<Vec<YieldedBatch>>);

    fn run<F: Fetch<Batch = Picked>>(self, mut loader: DataLoader<F>) -> Self::Result {
        epoch(&mut loader, self.0);
        let saved = save(&loader.state_dict());
        (saved, Whole(2).run(loader))
    }
}

fn save(state: &LoaderState) -> String {
    let text = serde_json::to_string(state).expect("a state is plain data");
    let read: LoaderState = serde_json::from_str(&text).expect("it was just written");
    assert_eq!(&read, state);
    text
}

fn load<F: Fetch>(loader: &mut DataLoader<F>, from: Option<String>) {
    if let Some(text) = from {
        let state: LoaderState = serde_json::from_str(&text).expect("it was just written");
        loader.load_state_dict(state.clone()).expect("it fits");
        assert_eq!(loader.state_dict(), state, "what was loaded is the state");
    }
}

/// Uses a new loader, and checks that its threads have ended.
fn fresh<U: LoaderAction>(config: &Config, generator: &SharedGenerator, then: U) -> U::Result {
    let alive = Alive::default();
    let result = with_loader(config, generator, Probe::off(), &alive, then);
    assert_eq!(Arc::strong_count(&alive), 1, "a thread holds the dataset");
    result
}

/// Returns the comparable part: without order, only the batches, and the order within each stream.
fn comparable(config: &Config, mut got: Vec<YieldedBatch>) -> Vec<YieldedBatch> {
    if config.is_stream() {
        // The task numbers depend on the time at which a worker ended.
        got.iter_mut().for_each(|g| g.idx = 0);
        if !config.in_order {
            got.sort_by_key(|g| g.worker);
        }
    } else if !config.in_order {
        got.iter_mut().for_each(|g| g.worker = None);
        got.sort_by_key(|g| g.idx);
    }
    got
}

fn all_comparable(config: &Config, epochs: Vec<Vec<YieldedBatch>>) -> Vec<Vec<YieldedBatch>> {
    let of = |epoch| comparable(config, epoch);
    epochs.into_iter().map(of).collect()
}

/// Stops an epoch twice, each time in a new loader, and continues to the end.
fn stopped_twice(config: &Config, seed: u64, whole: usize, taken: [usize; 2]) {
    let generator = shared_generator(seed);
    let expected = all_comparable(config, fresh(config, &generator, Whole(EPOCHS)));
    let first = Stopped {
        from: None,
        whole,
        taken: taken[0],
    };
    let (mut got, from) = fresh(config, &shared_generator(seed), first);
    let second = Stopped {
        from: Some(from),
        whole: 0,
        taken: taken[1],
    };
    let (more, from) = fresh(config, &shared_generator(seed ^ 1), second);
    got.extend(more);
    let other = shared_generator(!seed);
    let last = Resumed {
        from: from.clone(),
        epochs: EPOCHS - whole,
    };
    let mut rest = fresh(config, &other, last);
    got.append(&mut rest[0]);
    let before = got.clone();
    rest[0] = got;
    assert_eq!(all_comparable(config, rest), expected[whole..]);
    let next = |g: &SharedGenerator| lock_generator(g).next_u64();
    assert_eq!(next(&generator), next(&other), "the generators differ");
    with_other_workers(config, &before, from, taken);
}

/// Checks that the remaining tasks do not depend on the number of workers.
fn with_other_workers(config: &Config, whole: &[YieldedBatch], from: String, taken: [usize; 2]) {
    if config.is_stream() || !config.in_order {
        return;
    }
    let outcomes =
        |got: &[YieldedBatch]| -> Vec<_> { got.iter().map(|g| g.outcome.clone()).collect() };
    let other = config.with_workers((config.num_workers + 1) % 4);
    let last = Resumed { from, epochs: 1 };
    let rest = fresh(&other, &shared_generator(9), last);
    let taken = (taken[0] + taken[1]).min(whole.len());
    assert_eq!(outcomes(&rest[0]), outcomes(&whole[taken..]));
}

fn saved_between(config: &Config, seed: u64, taken: usize) {
    let generator = shared_generator(seed);
    let (from, expected) = fresh(config, &generator, Between(taken));
    let other = shared_generator(!seed);
    let got = fresh(config, &other, Resumed { from, epochs: 2 });
    assert_eq!(
        all_comparable(config, got),
        all_comparable(config, expected)
    );
    let next = |g: &SharedGenerator| lock_generator(g).next_u64();
    assert_eq!(next(&generator), next(&other), "the generators differ");
}

fn any_loader() -> impl Strategy<Value = Config> {
    let workers = prop_oneof![1 => Just(Some(0)), 4 => Just(None)];
    let config = prop_oneof![maps(), streams()];
    (config, workers)
        .prop_map(|(config, workers)| config.with_workers(workers.unwrap_or(config.num_workers)))
}

proptest! {
    #![proptest_config(many(1_000))]

    #[test]
    fn a_resumed_loader_yields_exactly_the_remaining_batches(
        config in any_loader(), seed: u64, whole in 0..EPOCHS, taken in [0..20usize, 0..20usize],
    ) {
        silence_wanted_panics();
        within(60, move || stopped_twice(&config, seed, whole, taken));
    }

    #[test]
    fn a_loader_saved_between_epochs_resumes_exactly(
        config in any_loader(), seed: u64, taken in 0..20usize,
    ) {
        silence_wanted_panics();
        within(60, move || saved_between(&config, seed, taken));
    }
}

/// A sampler that draws when its iterator is taken, like a Python sampler whose `__iter__` is not a generator function.
///
/// Its batches depend on the number and times of the loader's `iter` calls.
struct Eager(SharedGenerator);

impl Eager {
    fn order(&self) -> Vec<usize> {
        let start = lock_generator(&self.0).next_u64() as usize % 12;
        (0..12).map(|k| (start + k) % 12).collect()
    }
}

impl Sampler for Eager {
    fn len(&self) -> usize {
        12
    }

    fn iter(&self) -> IndexIter {
        Box::new(self.order().into_iter().map(Ok))
    }

    fn generators(&self) -> Vec<SharedGenerator> {
        vec![Arc::clone(&self.0)]
    }
}

impl BatchSource for Eager {
    fn len(&self) -> usize {
        6
    }

    fn iter(&self) -> BatchIter {
        let order = self.order();
        Box::new((0..6).map(move |k| Ok(order[2 * k..2 * k + 2].to_vec())))
    }

    fn generators(&self) -> Vec<SharedGenerator> {
        vec![Arc::clone(&self.0)]
    }
}

#[derive(Clone, Copy, Debug)]
struct Eagerly {
    num_workers: usize,
    persistent: bool,
    in_batches: bool,
    /// True if the sampler draws from the loader's own generator.
    shares: bool,
}

impl Eagerly {
    /// Runs epochs of a new loader, with only `taken` batches of the last one. Also returns its state.
    fn go(self, seed: u64, from: Option<String>, whole: usize, taken: usize) -> (Epochs, String) {
        let generator = shared_generator(seed);
        let sampler = match self.shares {
            true => Arc::new(Eager(Arc::clone(&generator))),
            false => Arc::new(Eager(shared_generator(!seed))),
        };
        let numbers: ListDataset<usize> = (0..12).collect();
        let builder = LoaderBuilder::new(Arc::new(numbers))
            .num_workers(self.num_workers)
            .persistent_workers(self.persistent)
            .generator(generator)
            .collate_fn(Ok::<Vec<usize>, LoaderError>);
        let builder = match self.in_batches {
            true => builder.batch_sampler(sampler),
            false => builder.batch_size(2).sampler(sampler),
        };
        let mut loader = builder.build().expect("it is well formed");
        load(&mut loader, from);
        let mut epochs = Vec::new();
        for _ in 0..whole {
            let iter = loader.iter().expect("threads start");
            epochs.push(iter.map(|b| b.expect("it loads").into_batch()).collect());
        }
        if taken == 0 {
            let state = save(&loader.state_dict());
            return (epochs, state);
        }
        let mut iter = loader.iter().expect("threads start");
        let some = iter.by_ref().take(taken);
        epochs.push(some.map(|b| b.expect("it loads").into_batch()).collect());
        let state = save(&iter.state_dict());
        (epochs, state)
    }
}

type Epochs = Vec<Vec<Vec<usize>>>;

#[test]
fn a_sampler_that_draws_in_iter_resumes_exactly() {
    let all = [0, 1, 3].into_iter().flat_map(|num_workers| {
        [false, true].into_iter().flat_map(move |in_batches| {
            [false, true].into_iter().flat_map(move |shares| {
                let persistent = [false, true].into_iter().take(1 + num_workers.min(1));
                persistent.map(move |persistent| Eagerly {
                    num_workers,
                    persistent,
                    in_batches,
                    shares,
                })
            })
        })
    });
    within(120, move || {
        for way in all {
            let (expected, _) = way.go(7, None, EPOCHS, 0);
            for (whole, taken) in [(0, 0), (0, 2), (1, 0), (1, 1), (2, 5)] {
                let (mut got, state) = way.go(7, None, whole, taken);
                // The loader is stopped a second time at once: the state of a resumed loader must be as good.
                let (more, state) = way.go(99, Some(state), 0, usize::from(taken > 0));
                let (rest, _) = way.go(1234, Some(state), EPOCHS - whole, 0);
                if taken > 0 {
                    let mut ended_early = got.pop().expect("it was taken");
                    ended_early.extend(more.into_iter().flatten());
                    ended_early.extend(rest[0].clone());
                    got.push(ended_early);
                    got.extend_from_slice(&rest[1..]);
                } else {
                    got.extend(rest);
                }
                assert_eq!(
                    got, expected,
                    "{way:?}, stopped in epoch {whole} at {taken}"
                );
            }
        }
    });
}
