//! A loader that is stopped anywhere, saved as text and loaded into a fresh one goes on as if nothing had happened.

#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]

#[path = "configuration/mod.rs"]
mod configuration;
mod support;

use std::sync::Arc;

use configuration::{
    Alive, Config, Got, Picked, Use, many, maps, silence_wanted_panics, streams, with_loader,
};
use loadscope_engine::rng::{SharedGenerator, lock_generator, shared_generator};
use loadscope_engine::{DataLoader, Fetch, LoaderState, Probe};
use proptest::prelude::*;
use support::within;

/// Number of epochs that are compared.
const EPOCHS: usize = 3;

fn epoch<F: Fetch<Batch = Picked>>(loader: &mut DataLoader<F>, taken: usize) -> Vec<Got> {
    let iter = loader.iter().expect("threads start");
    iter.take(taken).map(Got::of).collect()
}

/// Goes through whole epochs.
struct Whole(usize);

impl Use for Whole {
    type Result = Vec<Vec<Got>>;

    fn of<F: Fetch<Batch = Picked>>(self, mut loader: DataLoader<F>) -> Self::Result {
        (0..self.0)
            .map(|_| epoch(&mut loader, usize::MAX))
            .collect()
    }
}

/// Goes through whole epochs, then takes some batches of the next one and saves the state.
struct Stopped {
    /// Where to go on, if not at the beginning.
    from: Option<String>,
    whole: usize,
    taken: usize,
}

impl Use for Stopped {
    type Result = (Vec<Got>, String);

    fn of<F: Fetch<Batch = Picked>>(self, mut loader: DataLoader<F>) -> Self::Result {
        load(&mut loader, self.from);
        for _ in 0..self.whole {
            epoch(&mut loader, usize::MAX);
        }
        let mut iter = loader.iter().expect("threads start");
        let got = iter.by_ref().take(self.taken).map(Got::of).collect();
        (got, save(&iter.state_dict()))
    }
}

/// Goes on with a saved epoch, and through more of them.
struct Resumed {
    from: String,
    epochs: usize,
}

impl Use for Resumed {
    type Result = Vec<Vec<Got>>;

    fn of<F: Fetch<Batch = Picked>>(self, mut loader: DataLoader<F>) -> Self::Result {
        load(&mut loader, Some(self.from));
        Whole(self.epochs).of(loader)
    }
}

/// Breaks an epoch off and saves what the loader itself says between two epochs; then goes on.
struct Between(usize);

impl Use for Between {
    type Result = (String, Vec<Vec<Got>>);

    fn of<F: Fetch<Batch = Picked>>(self, mut loader: DataLoader<F>) -> Self::Result {
        epoch(&mut loader, self.0);
        let saved = save(&loader.state_dict());
        (saved, Whole(2).of(loader))
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

/// Uses a fresh loader, and makes sure that its threads are gone afterwards.
fn fresh<U: Use>(config: &Config, generator: &SharedGenerator, then: U) -> U::Result {
    let alive = Alive::default();
    let result = with_loader(config, generator, Probe::off(), &alive, then);
    assert_eq!(Arc::strong_count(&alive), 1, "a thread holds the dataset");
    result
}

/// What can be compared: without order only which batches came, and of each stream in which order.
fn comparable(config: &Config, mut got: Vec<Got>) -> Vec<Got> {
    if config.is_stream() {
        // Numbers of tasks depend on when a worker ended.
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

fn all_comparable(config: &Config, epochs: Vec<Vec<Got>>) -> Vec<Vec<Got>> {
    let of = |epoch| comparable(config, epoch);
    epochs.into_iter().map(of).collect()
}

/// Stops an epoch twice, each time in a loader of its own, and goes on to the end.
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

/// Which tasks are left does not depend on who makes them.
fn with_other_workers(config: &Config, whole: &[Got], from: String, taken: [usize; 2]) {
    if config.is_stream() || !config.in_order {
        return;
    }
    let outcomes = |got: &[Got]| -> Vec<_> { got.iter().map(|g| g.outcome.clone()).collect() };
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
    fn what_was_not_yielded_comes_and_nothing_else(
        config in any_loader(), seed: u64, whole in 0..EPOCHS, taken in [0..20usize, 0..20usize],
    ) {
        silence_wanted_panics();
        within(60, move || stopped_twice(&config, seed, whole, taken));
    }

    #[test]
    fn between_two_epochs_the_loader_itself_can_be_saved(
        config in any_loader(), seed: u64, taken in 0..20usize,
    ) {
        silence_wanted_panics();
        within(60, move || saved_between(&config, seed, taken));
    }
}
