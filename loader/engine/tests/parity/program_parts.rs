//! Parts of randomly drawn programs: their datasets and samplers.

use std::cell::Cell;
use std::sync::Arc;

use loadscope_engine::dataset::{
    AnyDataset, ChainDataset, ConcatDataset, Dataset, IterableDataset, SampleClock, SampleError,
    SampleStream, SplitLength, Subset, random_split,
};
use loadscope_engine::rng::{Generator, SharedGenerator, shared_generator};
use loadscope_engine::sampler::{
    DistributedSampler, RandomSampler, RandomSource, Sampler, SequentialSampler,
    SubsetRandomSampler, WeightedRandomSampler,
};
use loadscope_engine::value::Value;
use loadscope_engine::{LoaderError, get_worker_info};
use serde_json::Value as Json;

use super::rows::{number, numbers};
use super::samples;

thread_local! {
    /// Number that `worker_init_fn` adds to all samples of a worker.
    static OFFSET: Cell<i64> = const { Cell::new(0) };
}

/// Returns the `worker_init_fn` of a program.
pub fn init(spec: &Json) -> impl Fn(usize) -> Result<(), SampleError> + Send + Sync + 'static {
    let fails = spec["fails"].as_u64();
    let offset = spec["offset"].as_i64().unwrap_or(0);
    move |worker| {
        if fails == Some(worker as u64) {
            return Err(SampleError::new("RuntimeError", "init boom"));
        }
        OFFSET.set(offset);
        Ok(())
    }
}

/// Returns sample i: the template's value, or a row `(i, worker, seed)`.
fn sample(template: &Json, i: usize) -> Value {
    let i = i as i64 + OFFSET.get();
    if !template.is_null() {
        return samples::made(template, i);
    }
    let info = get_worker_info();
    let worker = info.map_or(-1, |info| info.id as i64);
    let seed = info.map_or(-1, |info| info.seed as i64);
    Value::Tuple([i, worker, seed].map(Value::Int).into())
}

/// A dataset whose sample i is that of `i + first`. One may raise.
struct Rows {
    len: usize,
    first: usize,
    fails: Option<usize>,
    template: Json,
}

impl Dataset for Rows {
    type Sample = Value;

    fn len(&self) -> usize {
        self.len
    }

    fn get(&self, index: usize, _: &mut SampleClock) -> Result<Value, SampleError> {
        if index >= self.len {
            let text = format!("{index} out of {}", self.len);
            return Err(SampleError::new("IndexError", text));
        }
        if Some(index) == self.fails {
            return Err(SampleError::new("ValueError", format!("sample {index}")));
        }
        Ok(sample(&self.template, index + self.first))
    }
}

/// A stream of which each worker yields all or its share. One sample may raise.
struct Stream {
    len: usize,
    first: usize,
    strided: bool,
    fails: Option<usize>,
    /// `len(dataset)`, which may differ from the number of samples.
    reported_len: Option<usize>,
    template: Json,
}

impl IterableDataset for Stream {
    type Sample = Value;

    fn iter(&self) -> Result<Box<dyn SampleStream<Value>>, SampleError> {
        let (begin, step) = match get_worker_info() {
            Some(info) if self.strided => (info.id, info.num_workers),
            _ => (0, 1),
        };
        let (fails, first, template) = (self.fails, self.first, self.template.clone());
        let samples = (begin..self.len).step_by(step).map(move |i| match fails {
            Some(bad) if bad == i => Err(SampleError::new("ValueError", format!("sample {i}"))),
            _ => Ok(sample(&template, i + first)),
        });
        Ok(Box::new(samples))
    }

    fn len(&self) -> Option<usize> {
        self.reported_len
    }
}

pub type Map = Arc<dyn Dataset<Sample = Value>>;

/// Returns the map-style dataset of a program.
pub fn map_dataset(spec: &Json) -> Map {
    let fails = spec["fails"].as_u64().map(|at| at as usize);
    let template = &spec["samples"];
    if spec["tree"].is_object() {
        return tree(&spec["tree"], template);
    }
    let mut dataset = rows(number(&spec["n"]), 0, fails, template);
    if spec["concat"].is_array() {
        let more = numbers(&spec["concat"]).into_iter().enumerate();
        let more = more.map(|(at, len)| rows(len, 1000 * (at + 1), None, template));
        dataset = concat(std::iter::once(dataset).chain(more));
    }
    if spec["subset"].is_array() {
        dataset = subset(dataset, &spec["subset"]);
    }
    dataset
}

fn rows(len: usize, first: usize, fails: Option<usize>, template: &Json) -> Map {
    Arc::new(Rows {
        len,
        first,
        fails,
        template: template.clone(),
    })
}

fn concat(all: impl Iterator<Item = Map>) -> Map {
    let all = ConcatDataset::new(all.map(AnyDataset::from));
    Arc::new(all.expect("datasets of one style"))
}

fn subset(dataset: Map, indices: &Json) -> Map {
    let chosen: Vec<i64> = numbers(indices).into_iter().map(|i| i as i64).collect();
    Arc::new(Subset::new(dataset, chosen))
}

/// Builds nested datasets.
fn tree(spec: &Json, template: &Json) -> Map {
    let inner = || tree(&spec["of"], template);
    match spec["op"].as_str().expect("a name") {
        "rows" => rows(number(&spec["n"]), number(&spec["first"]), None, template),
        "concat" => {
            let all = spec["of"].as_array().expect("a list").iter();
            concat(all.map(|one| tree(one, template)))
        }
        "subset" => subset(inner(), &spec["indices"]),
        _ => {
            let lengths = spec["lengths"].as_array().expect("a list").iter();
            let lengths: Vec<SplitLength> = lengths
                .map(|one| match one.as_i64() {
                    Some(count) => count.into(),
                    None => one.as_f64().expect("a number").into(),
                })
                .collect();
            let mut generator = Generator::new(number(&spec["seed"]) as u64);
            let split = random_split(inner(), &lengths, &mut generator).expect("lengths that fit");
            let mut parts = split.subsets;
            Arc::new(parts.swap_remove(number(&spec["part"])))
        }
    }
}

pub type Streamed = Arc<dyn IterableDataset<Sample = Value>>;

/// Returns the stream of a program, with its chained streams.
pub fn stream(spec: &Json) -> Streamed {
    let one = |at: usize, len: usize| -> Streamed {
        let fails = spec["fails"].as_u64().filter(|_| at == 0);
        Arc::new(Stream {
            len,
            first: 1000 * at,
            strided: spec["kind"] == "strided",
            fails: fails.map(|fails| fails as usize),
            reported_len: spec["length"].as_u64().map(|len| len as usize),
            template: spec["samples"].clone(),
        })
    };
    let first = one(0, number(&spec["n"]));
    if !spec["chain"].is_array() {
        return first;
    }
    let more = numbers(&spec["chain"]).into_iter().enumerate();
    let more = more.map(|(at, len)| one(at + 1, len));
    let all = std::iter::once(first).chain(more).map(AnyDataset::from);
    Arc::new(ChainDataset::new(all))
}

/// A sampler, its settable epoch, and its own generator.
pub struct Chosen {
    pub sampler: Arc<dyn Sampler>,
    pub distributed: Option<Arc<DistributedSampler>>,
    pub own: Option<SharedGenerator>,
}

/// Returns the sampler of a program. `salt` is mixed into the seed of its own generator.
pub fn chosen(
    spec: &Json,
    len: usize,
    default: &SharedGenerator,
    salt: u64,
) -> Result<Chosen, LoaderError> {
    let name = spec["name"].as_str().expect("a name");
    let own = spec["seed"].as_u64().filter(|_| name != "distributed");
    let own = own.map(|seed| shared_generator(seed ^ salt));
    let source = || match &own {
        Some(own) => RandomSource::Generator(Arc::clone(own)),
        None => RandomSource::Default(Arc::clone(default)),
    };
    let mut distributed = None;
    let sampler: Arc<dyn Sampler> = match name {
        "sequential" => Arc::new(SequentialSampler::new(len)),
        "random" => {
            let replacement = spec["replacement"].as_bool().expect("a flag");
            let count = spec["num_samples"].as_i64();
            Arc::new(RandomSampler::new(len, replacement, count, source())?)
        }
        "subset" => Arc::new(SubsetRandomSampler::new(
            numbers(&spec["indices"]),
            source(),
        )),
        "weighted" => {
            let weights = spec["weights"].as_array().expect("weights").iter();
            let weights: Vec<f64> = weights.filter_map(Json::as_f64).collect();
            let count = spec["num_samples"].as_i64().expect("a number");
            Arc::new(WeightedRandomSampler::new(weights, count, true, source())?)
        }
        "distributed" => {
            let (world, rank) = (number(&spec["world"]) as i64, number(&spec["rank"]) as i64);
            let sampler = DistributedSampler::new(len, world, rank)?
                .seed(number(&spec["seed"]) as u64)
                .shuffle(spec["shuffle"].as_bool().expect("a flag"))
                .drop_last(spec["drop_last"].as_bool().expect("a flag"));
            let sampler = Arc::new(sampler);
            if spec["set_epoch"] == true {
                distributed = Some(Arc::clone(&sampler));
            }
            sampler
        }
        _ => Arc::new(numbers(&spec["indices"])),
    };
    let own = match name {
        "random" | "subset" | "weighted" => own,
        _ => None,
    };
    Ok(Chosen {
        sampler,
        distributed,
        own,
    })
}

/// Returns true if programs with this sampler draw from the default generator.
pub fn draws_from_default(spec: &Json) -> bool {
    let name = spec["name"].as_str().unwrap_or_default();
    matches!(name, "random" | "subset" | "weighted") && spec["seed"].is_null()
}
