//! Random configurations.

use proptest::collection::vec;
use proptest::prelude::*;

use super::{Config, DatasetKind, InjectedFaults, Order, Shards};

fn orders(len: usize) -> BoxedStrategy<Order> {
    // An empty dataset allows no random draws.
    if len == 0 {
        return prop_oneof![
            Just(Order::Sequential),
            Just(Order::List(Vec::new())),
            (0..4usize).prop_map(|n| Order::Batches(vec![Vec::new(); n])),
        ]
        .boxed();
    }
    prop_oneof![
        1 => Just(Order::Sequential),
        3 => Just(Order::Shuffle),
        2 => (any::<bool>(), 1..=2 * len + 40).prop_map(|(replacement, num_samples)| Order::Random {
            replacement,
            num_samples,
        }),
        1 => vec(0..len, 0..30).prop_map(Order::List),
        1 => vec(vec(0..len, 0..5), 0..15).prop_map(Order::Batches),
    ]
    .boxed()
}

fn map_style() -> impl Strategy<Value = DatasetKind> {
    (0..40usize)
        .prop_flat_map(|len| orders(len).prop_map(move |order| DatasetKind::Map { len, order }))
}

fn iterable_style() -> impl Strategy<Value = DatasetKind> {
    let shards = prop_oneof![
        (0..20usize).prop_map(Shards::Whole),
        (0..40usize).prop_map(Shards::Strided),
        vec(0..20usize, 0..7).prop_map(Shards::Own),
    ];
    shards.prop_map(DatasetKind::Stream)
}

fn faults() -> impl Strategy<Value = InjectedFaults> {
    // Most loaders have no faults, because samples after a stream's first fault are never seen.
    let one_in = || prop_oneof![3 => Just(0u64), 2 => 5..40u64];
    (
        any::<u64>(),
        one_in(),
        one_in(),
        prop_oneof![Just(0u64), 2..20u64],
    )
        .prop_map(|(seed, errors, panics, pauses)| InjectedFaults {
            seed,
            errors,
            panics,
            pauses,
        })
}

/// Generates any loader of a map-style dataset.
pub fn maps() -> impl Strategy<Value = Config> {
    configs(map_style())
}

/// Generates any loader of streams.
pub fn streams() -> impl Strategy<Value = Config> {
    configs(iterable_style())
}

fn configs(dataset: impl Strategy<Value = DatasetKind>) -> impl Strategy<Value = Config> {
    let batching = (proptest::option::weighted(0.85, 1..7usize), any::<bool>());
    let workers = (1..=6usize, 1..=4usize);
    let flags = (
        any::<bool>(),
        prop::bool::weighted(0.7),
        prop::bool::weighted(0.25),
        any::<bool>(),
    );
    (dataset, batching, workers, flags, faults()).prop_map(
        |(dataset, (batch_size, drop_last), (num_workers, prefetch_factor), flags, faults)| {
            let (persistent, in_order, pinned, own_generator) = flags;
            Config {
                dataset,
                batch_size,
                // PyTorch refuses `drop_last` without batches.
                drop_last: drop_last && batch_size.is_some(),
                num_workers,
                prefetch_factor,
                persistent,
                in_order,
                pinned,
                own_generator,
                faults,
            }
        },
    )
}
