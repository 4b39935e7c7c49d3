//! Cases of a loader's batches, and of its draws from the generators.

use std::sync::Arc;

use loadscope_engine::dataset::{Dataset, SampleClock, SampleError};
use loadscope_engine::rng::{SharedGenerator, lock_generator, shared_generator};
use loadscope_engine::sampler::{
    DistributedSampler, RandomSampler, RandomSource, Sampler, SubsetRandomSampler,
    WeightedRandomSampler,
};
use loadscope_engine::{
    Convert, DataLoader, DefaultCollate, Fetch, LoaderBuilder, LoaderError, get_worker_info,
    with_worker_rng,
};
use serde_json::{Value as Json, json};

use super::rows::{Idx, Row, Rows, alone, indices, list, number};
use super::verdict::{Case, Verdict};

/// Applies the arguments that cases have in common.
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

/// Returns true if a case has batches.
pub fn batched(input: &Json) -> bool {
    input.get("batch_size").is_none_or(|size| !size.is_null())
}

/// Returns the default generator and, if the case has one, the loader's.
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

/// Runs two epochs, then draws from the generators.
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

/// Builds a loader of rows from the arguments of a case.
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

fn sampler_of(input: &Json, n: usize, source: RandomSource) -> Arc<dyn Sampler> {
    let args = &input["sampler_args"];
    match input["sampler"].as_str().expect("a name") {
        "RandomSampler_rep" => {
            let count = args["num_samples"].as_i64();
            Arc::new(RandomSampler::new(n, true, count, source).expect("a sampler"))
        }
        "SubsetRandomSampler" => {
            let even: Vec<usize> = (0..n).step_by(2).collect();
            Arc::new(SubsetRandomSampler::new(even, source))
        }
        "WeightedRandomSampler" => {
            let weights: Vec<f64> = (1..=n).map(|i| i as f64).collect();
            let count = args["num_samples"].as_i64().expect("a number");
            let replacement = args["replacement"].as_bool().expect("a flag");
            let sampler = WeightedRandomSampler::new(weights, count, replacement, source);
            Arc::new(sampler.expect("a sampler"))
        }
        "DistributedSampler" => {
            let (world, rank) = (number(&args["world"]) as i64, number(&args["rank"]) as i64);
            let sampler = DistributedSampler::new(n, world, rank).expect("a sampler");
            Arc::new(sampler.seed(number(&args["seed"]) as u64))
        }
        other => panic!("unknown sampler {other}"),
    }
}

fn with_sampler(case: &Case<'_>) -> Verdict {
    let input = case.input;
    let default = shared_generator(input["torch_manual_seed"].as_u64().unwrap_or(0));
    let source = match input["sampler_generator_seed"].as_u64() {
        Some(seed) => RandomSource::Generator(shared_generator(seed)),
        None => RandomSource::Default(Arc::clone(&default)),
    };
    let n = number(&input["n"]);
    let builder = LoaderBuilder::new(Idx::new(n))
        .default_generator(Arc::clone(&default))
        .sampler(sampler_of(input, n, source));
    let mut loader = configure(builder, input)
        .collate_fn(list)
        .build()
        .expect("a loader");
    let mut epochs = Vec::new();
    for _ in 0..2 {
        let batches = loader.iter().expect("an epoch");
        let batches: Vec<Json> = batches
            .map(|b| indices(&b.expect("a batch"), true))
            .collect();
        epochs.push(batches);
    }
    let len = loader.len().ok();
    case.returns(&json!({"len": len, "epochs": epochs, "next_i64_default": draw(&default)}))
}

/// Returns a shuffled loader and its generator.
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

/// A dataset whose samples are draws from the worker's random streams.
struct InRng(usize);

impl Dataset for InRng {
    type Sample = [i64; 6];

    fn len(&self) -> usize {
        self.0
    }

    fn get(&self, index: usize, _: &mut SampleClock) -> Result<[i64; 6], SampleError> {
        let row = Row::here(index);
        assert!(get_worker_info().is_some());
        let drawn = with_worker_rng(|rng| {
            (
                rng.torch.random_i64(),
                rng.python.getrandbits(32) as i64,
                rng.numpy.randint(0, 1 << 32).expect("a range"),
            )
        });
        let (torch, python, numpy) = drawn.expect("a worker");
        Ok([row.index, row.worker, row.seed, torch, python, numpy])
    }
}

fn worker_rng(input: &Json) -> Json {
    let keep = |rows: Vec<[i64; 6]>| -> Result<Vec<[i64; 6]>, LoaderError> { Ok(rows) };
    let builder = LoaderBuilder::new(Arc::new(InRng(number(&input["n"]))));
    let seed = input["seed"].as_u64().expect("a seed");
    let builder = configure(builder, input).generator(shared_generator(seed));
    let mut loader = builder.collate_fn(keep).build().expect("a loader");
    let mut epoch = || -> Vec<Vec<[i64; 6]>> {
        let iter = loader.iter().expect("an epoch");
        iter.map(|b| b.expect("a batch").into_batch()).collect()
    };
    json!([epoch(), epoch()])
}

pub fn check(case: &Case<'_>) -> Verdict {
    let input = case.input;
    match case.op {
        "DataLoader" | "DataLoader_batch_sampler" => plain(case),
        "DataLoader_sampler" => with_sampler(case),
        "DataLoader_break" => case.returns(&break_early(input)),
        "DataLoader_break_persistent" => {
            // The operation implies this argument, and the case does not contain it.
            let mut input = input.clone();
            input["persistent_workers"] = json!(true);
            case.returns(&break_early(&input))
        }
        "DataLoader_draw_points" => case.returns(&draw_points(input)),
        "worker_rng" => case.returns(&worker_rng(input)),
        _ => Verdict::fail("a check of this case", case.op),
    }
}
