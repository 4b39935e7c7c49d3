//! Comparison of the predicted order with the real one.

use std::sync::Arc;

use loadscope_engine::dataset::{Dataset, IterableDataset, SampleClock, SampleError, SampleStream};
use loadscope_engine::order::{self, Order, Orders, Samples, order};
use loadscope_engine::rng::shared_generator;
use loadscope_engine::{Convert, DataLoader, Fetch, LoaderBuilder, LoaderError, get_worker_info};
use loadscope_trace::RunOptions;
use proptest::prelude::*;

/// An index, and the ID and seed of the worker that fetched it.
type Sample = (u64, i64, u64);

fn here(index: u64) -> Sample {
    match get_worker_info() {
        Some(info) => (index, info.id as i64, info.seed),
        None => (index, -1, 0),
    }
}

struct Numbers(usize);

impl Dataset for Numbers {
    type Sample = Sample;

    fn len(&self) -> usize {
        self.0
    }

    fn get(&self, index: usize, _: &mut SampleClock) -> Result<Sample, SampleError> {
        Ok(here(index as u64))
    }
}

struct Streamed(Vec<Vec<u64>>);

impl IterableDataset for Streamed {
    type Sample = Sample;

    fn iter(&self) -> Result<Box<dyn SampleStream<Sample>>, SampleError> {
        let worker = get_worker_info().map_or(0, |info| info.id);
        let stream = self.0[worker].clone();
        Ok(Box::new(stream.into_iter().map(|i| Ok(here(i)))))
    }
}

fn list(samples: Vec<Sample>) -> Result<Vec<Sample>, LoaderError> {
    Ok(samples)
}

fn alone(sample: Sample) -> Result<Vec<Sample>, LoaderError> {
    Ok(vec![sample])
}

/// Returns the real order of a loader.
fn loaded<F: Fetch<Batch = Vec<Sample>>>(mut loader: DataLoader<F>, options: &RunOptions) -> Order {
    let mut seen = Order {
        len: loader.len().ok(),
        epochs: Vec::new(),
        workers: Vec::new(),
        seeds: Vec::new(),
    };
    for _ in 0..options.epochs {
        let (mut batches, mut workers) = (Vec::new(), Vec::new());
        let mut seeds = vec![None; options.num_workers];
        for batch in loader.iter().expect("an epoch") {
            let batch = batch.expect("a batch").into_batch();
            let (_, worker, seed) = batch[0];
            workers.push(worker);
            if let Some(slot) = usize::try_from(worker).ok().and_then(|w| seeds.get_mut(w)) {
                *slot = Some(seed);
            }
            batches.push(batch.into_iter().map(|s| s.0).collect());
        }
        seen.epochs.push(batches);
        seen.workers.push(workers);
        // The seed of a worker without batches is unknown. It is computed from another worker's seed.
        let base = seeds
            .iter()
            .enumerate()
            .find_map(|(w, s)| Some((*s)?.wrapping_sub(w as u64)));
        let seed = |w: usize| seeds[w].or(base.map(|b| b.wrapping_add(w as u64)));
        seen.seeds
            .push((0..options.num_workers).filter_map(seed).collect());
    }
    seen
}

fn options() -> impl Strategy<Value = RunOptions> {
    let sizes = (prop::option::weighted(0.8, 1..6usize), 0..4usize, 1..4u32);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (sizes, flags, any::<Option<u64>>(), any::<u64>()).prop_map(
        |((batch_size, num_workers, epochs), (drop_last, persistent, random), seed, global)| {
            RunOptions {
                batch_size,
                num_workers,
                epochs,
                drop_last: drop_last && batch_size.is_some(),
                persistent_workers: persistent && num_workers > 0,
                sampler: if random { "random" } else { "" }.to_owned(),
                seed,
                global_seed: Some(global),
                ..RunOptions::default()
            }
        },
    )
}

/// Applies the options' arguments to a builder.
macro_rules! configured {
    ($builder:expr, $o:expr) => {{
        let mut builder = $builder
            .batch_size($o.batch_size)
            .num_workers($o.num_workers)
            .drop_last($o.drop_last)
            .persistent_workers($o.persistent_workers)
            .default_generator(shared_generator($o.global_seed.expect("a seed")));
        if let Some(seed) = $o.seed {
            builder = builder.generator(shared_generator(seed));
        }
        builder
    }};
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn map_style_order_matches_the_prediction(o in options(), len in 1..40usize) {
        let predicted = order(&o, &Samples::Map(len)).expect("sound options");
        let builder = configured!(LoaderBuilder::new(Arc::new(Numbers(len))), o);
        let builder = builder.shuffle(o.sampler == "random");
        let seen = if o.batch_size.is_some() {
            loaded(builder.collate_fn(list).build().expect("a loader"), &o)
        } else {
            loaded(builder.collate_fn(Convert(alone)).build().expect("a loader"), &o)
        };
        prop_assume!(seen.epochs.iter().all(|e| !e.is_empty()) || o.num_workers == 0);
        prop_assert_eq!(predicted, seen);
    }

    /// Compares predicted epochs with real ones. Leaving an epoch early must not change the next one.
    #[test]
    fn single_epochs_match_the_predicted_order(o in options(), len in 0..40usize, lens in prop::option::of(prop::collection::vec(0..9u64, 4)), left in 0..9usize) {
        let o = match lens {
            Some(_) => RunOptions { sampler: String::new(), ..o },
            None => o,
        };
        let samples = match lens {
            Some(lens) => Samples::Streams(order::Streams::Listed(lens.iter().map(|n| (0..*n).collect()).collect())),
            None => Samples::Map(len),
        };
        prop_assume!(len > 0 || o.sampler.is_empty());
        let whole = order(&o, &samples).expect("sound options");
        let mut orders = Orders::of(&o, &samples).expect("sound options");
        prop_assert_eq!(orders.len(), whole.len);
        let (batches, workers): (u64, Vec<i64>) = (orders.batches(), orders.workers().collect());
        let indices = orders.indices();
        let mut epochs = 0;
        orders.each(|epoch| {
            let (seeds, all): (Vec<u64>, u64) = (epoch.seeds().collect(), epoch.len_of_epoch());
            assert_eq!((epoch.epoch() as usize, all), (epochs, batches));
            let begun: Vec<_> = epoch.take(left).map(|b| b.expect("a batch")).collect();
            for (k, (batch, worker)) in begun.iter().enumerate() {
                assert_eq!((batch, worker), (&whole.epochs[epochs][k], &whole.workers[epochs][k]));
            }
            assert_eq!(&seeds, &whole.seeds[epochs]);
            epochs += 1;
            Ok::<_, LoaderError>(true)
        }).expect("sound options");
        prop_assert_eq!(epochs, o.epochs as usize);
        for (epoch, makers) in whole.epochs.iter().zip(&whole.workers) {
            prop_assert_eq!(epoch.len() as u64, batches);
            prop_assert_eq!(makers, &workers);
            prop_assert!(epoch.iter().map(Vec::len).sum::<usize>() as u64 <= indices);
        }
    }

    #[test]
    fn stream_order_matches_the_prediction(o in options(), lens in prop::collection::vec(0..9u64, 4)) {
        let o = RunOptions { sampler: String::new(), ..o };
        let streams: Vec<Vec<u64>> = lens.iter().map(|n| (0..*n).collect()).collect();
        let predicted = order(&o, &Samples::Streams(order::Streams::Listed(streams.clone()))).expect("sound options");
        let builder = configured!(LoaderBuilder::iterable(Arc::new(Streamed(streams))), o);
        let seen = if o.batch_size.is_some() {
            loaded(builder.collate_fn(list).build().expect("a loader"), &o)
        } else {
            loaded(builder.collate_fn(Convert(alone)).build().expect("a loader"), &o)
        };
        prop_assume!(seen.epochs.iter().all(|e| !e.is_empty()) || o.num_workers == 0);
        prop_assert_eq!(predicted, seen);
    }
}
