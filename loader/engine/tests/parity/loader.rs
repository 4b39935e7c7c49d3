//! What a loader yields, and what it draws from the generators.

use std::sync::Arc;

use loadscope_engine::dataset::{Dataset, SampleClock, SampleError};
use loadscope_engine::rng::{SharedGenerator, lock_generator, shared_generator};
use loadscope_engine::{
    Convert, DataLoader, DefaultCollate, EngineError, Fetch, LoaderBuilder, get_worker_info,
    with_worker_rng,
};
use serde_json::{Value as Json, json};

use super::rows::{Idx, Row, Rows, alone, indices, list, number};
use super::verdict::{Case, Verdict};

/// The arguments that cases have in common.
pub fn configure<K, D: ?Sized>(
    builder: LoaderBuilder<K, D, DefaultCollate>,
    input: &Json,
) -> LoaderBuilder<K, D, DefaultCollate> {
    let flag = |key: &str| input[key].as_bool().unwrap_or(false);
    let mut builder = builder
        .num_workers(input["num_workers"].as_u64().unwrap_or(0) as usize)
        .drop_last(flag("drop_last"))
        .persistent_workers(flag("persistent_workers"))
        .in_order(input["in_order"].as_bool().unwrap_or(true));
    if input.get("batch_size").is_some() {
        builder = builder.batch_size(input["batch_size"].as_u64().map(|s| s as usize));
    }
    if flag("shuffle") {
        builder = builder.shuffle(true);
    }
    if let Some(factor) = input["prefetch_factor"].as_u64() {
        builder = builder.prefetch_factor(factor as usize);
    }
    builder
}

/// Whether a case has batches.
pub fn batched(input: &Json) -> bool {
    input.get("batch_size").is_none_or(|size| !size.is_null())
}

/// The default generator and, if the case has one, the loader's.
pub fn generators(input: &Json) -> (SharedGenerator, Option<SharedGenerator>) {
    let seed = input["seed"].as_u64().unwrap_or(0);
    if input["rng"] == "default" {
        (shared_generator(seed), None)
    } else {
        (shared_generator(999), Some(shared_generator(seed)))
    }
}

fn draw(generator: &SharedGenerator) -> i64 {
    lock_generator(generator).random_i64()
}

/// Two epochs, and what is drawn from the generators afterwards.
pub fn run<F: Fetch<Batch = Rows>>(
    mut loader: DataLoader<F>,
    batched: bool,
    default: &SharedGenerator,
) -> Json {
    let mut epochs = Vec::new();
    for _ in 0..2 {
        let (mut batches, mut workers, mut base) = (Vec::new(), Vec::new(), None);
        for rows in loader.iter().expect("an epoch") {
            let rows = rows.expect("a batch");
            batches.push(indices(&rows, batched));
            workers.push(rows[0].worker);
            if rows[0].worker >= 0 {
                base = Some(rows[0].seed.wrapping_sub(rows[0].worker));
            }
        }
        epochs.push(json!({"batches": batches, "workers": workers, "base_seed": base}));
    }
    let generator = Arc::clone(loader.generator());
    let len = loader.len().ok();
    json!({
        "len": len, "epochs": epochs,
        "next_i64": draw(&generator), "next_i64_default": draw(default),
    })
}

/// A loader of rows from the arguments of a case.
macro_rules! built {
    ($builder:expr, $batched:expr, $use:expr) => {
        if $batched {
            $use($builder.collate_fn(list).build().expect("a loader"))
        } else {
            let loader = $builder.collate_fn(Convert(alone)).build();
            $use(loader.expect("a loader"))
        }
    };
}
pub(super) use built;

fn plain(case: &Case<'_>) -> Verdict {
    let input = case.input;
    let (default, generator) = generators(input);
    let mut builder = LoaderBuilder::new(Idx::new(number(&input["n"])));
    builder = builder.default_generator(Arc::clone(&default));
    if let Some(generator) = generator {
        builder = builder.generator(generator);
    }
    if let Some(batches) = input["batch_sampler"].as_array() {
        let batches: Vec<Vec<usize>> = batches.iter().map(super::rows::numbers).collect();
        builder = builder.batch_sampler(Arc::new(batches));
    }
    let batched = batched(input);
    let builder = configure(builder, input);
    case.returns(&built!(builder, batched, |loader| run(
        loader, batched, &default
    )))
}

/// A shuffled loader, and the generator it draws from.
fn shuffled(input: &Json) -> (DataLoader<impl Fetch<Batch = Rows>>, SharedGenerator) {
    let (default, generator) = generators(input);
    let mut builder = LoaderBuilder::new(Idx::new(number(&input["n"])))
        .default_generator(default)
        .shuffle(true);
    if let Some(generator) = generator {
        builder = builder.generator(generator);
    }
    let loader = configure(builder, input)
        .collate_fn(list)
        .build()
        .expect("a loader");
    let generator = Arc::clone(loader.generator());
    (loader, generator)
}

fn break_early(input: &Json) -> Json {
    let (mut loader, generator) = shuffled(input);
    let first = {
        let mut iter = loader.iter().expect("an epoch");
        indices(&iter.next().expect("one").expect("a batch"), true)
    };
    let rest = loader.iter().expect("an epoch");
    let rest: Vec<Json> = rest.map(|b| indices(&b.expect("a batch"), true)).collect();
    json!({"first_batch": first, "next_epoch": rest, "next_i64": draw(&generator)})
}

fn draw_points(input: &Json) -> Json {
    let (mut loader, generator) = shuffled(input);
    let mut iter = loader.iter().expect("an epoch");
    let after_iter = draw(&generator);
    let first = indices(&iter.next().expect("one").expect("a batch"), true);
    json!({"i64_after_iter": after_iter, "first_batch": first, "i64_after_next": draw(&generator)})
}

pub fn check(case: &Case<'_>) -> Verdict {
    let input = case.input;
    match case.op {
        "DataLoader" | "DataLoader_batch_sampler" => plain(case),
        "DataLoader_break" => case.returns(&break_early(input)),
        "DataLoader_break_persistent" => {
            // The operation says it, the arguments do not.
            let mut input = input.clone();
            input["persistent_workers"] = json!(true);
            case.returns(&break_early(&input))
        }
        "DataLoader_draw_points" => case.returns(&draw_points(input)),
        _ => Verdict::fail("a check of this case", case.op),
    }
}
