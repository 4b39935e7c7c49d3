//! Programs drawn by seed: `tests/reference/cases/programs.py` says what they are, and what PyTorch does with them.

use std::sync::Arc;

use loadscope_engine::dataset::{
    AnyDataset, ConcatDataset, Dataset, IterableDataset, SampleClock, SampleError, SampleStream,
    Subset,
};
use loadscope_engine::rng::{SharedGenerator, lock_generator, shared_generator};
use loadscope_engine::sampler::{
    BatchSampler, BatchSource, DistributedSampler, PyArg, RandomSampler, RandomSource, Sampler,
    SequentialSampler, SubsetRandomSampler, WeightedRandomSampler,
};
use loadscope_engine::{Convert, DataLoader, EngineError, Fetch, LoaderBuilder, get_worker_info};
use serde_json::{Value as Json, json};

use super::errors::arguments;
use super::loader::configure;
use super::rows::{Row, Rows, alone, indices, list, number, numbers};
use super::verdict::{Case, Verdict};

/// As many calls of `next` at most, as in the cases.
const MOST_CALLS: usize = 200;

/// Sample i is `i + first`; one may raise.
struct Numbered {
    len: usize,
    first: usize,
    fails: Option<usize>,
}

impl Dataset for Numbered {
    type Sample = Row;

    fn len(&self) -> usize {
        self.len
    }

    fn get(&self, index: usize, _: &mut SampleClock) -> Result<Row, SampleError> {
        if index >= self.len {
            return Err(SampleError::out_of_range(index, self.len));
        }
        if Some(index) == self.fails {
            return Err(SampleError::new("ValueError", format!("sample {index}")));
        }
        Ok(Row::here(index + self.first))
    }
}

/// All workers yield the same, or each has its share; one sample may raise.
struct Counted {
    len: usize,
    strided: bool,
    fails: Option<usize>,
}

impl IterableDataset for Counted {
    type Sample = Row;

    fn iter(&self) -> Result<Box<dyn SampleStream<Row>>, SampleError> {
        let (first, step) = match get_worker_info() {
            Some(info) if self.strided => (info.id, info.num_workers),
            _ => (0, 1),
        };
        let fails = self.fails;
        let samples = (first..self.len).step_by(step).map(move |i| match fails {
            Some(bad) if bad == i => Err(SampleError::new("ValueError", format!("sample {i}"))),
            _ => Ok(Row::here(i)),
        });
        Ok(Box::new(samples))
    }
}

fn map_dataset(said: &Json) -> Arc<dyn Dataset<Sample = Row>> {
    let fails = said["fails"].as_u64().map(|at| at as usize);
    let rows = |len, first, fails| -> Arc<dyn Dataset<Sample = Row>> {
        Arc::new(Numbered { len, first, fails })
    };
    let mut dataset = rows(number(&said["n"]), 0, fails);
    if said["concat"].is_array() {
        let more = numbers(&said["concat"]).into_iter().enumerate();
        let more = more.map(|(at, len)| rows(len, 1000 * (at + 1), None));
        let all = std::iter::once(dataset).chain(more).map(AnyDataset::from);
        dataset = Arc::new(ConcatDataset::new(all).expect("datasets of one style"));
    }
    if said["subset"].is_array() {
        let chosen: Vec<i64> = numbers(&said["subset"])
            .into_iter()
            .map(|i| i as i64)
            .collect();
        dataset = Arc::new(Subset::new(dataset, chosen));
    }
    dataset
}

/// A sampler, whose epoch may be set, and the generator that it was given.
struct Chosen {
    sampler: Arc<dyn Sampler>,
    distributed: Option<Arc<DistributedSampler>>,
    own: Option<SharedGenerator>,
}

fn chosen(said: &Json, len: usize, default: &SharedGenerator) -> Result<Chosen, EngineError> {
    let name = said["name"].as_str().expect("a name");
    let own = said["seed"].as_u64().filter(|_| name != "distributed");
    let own = own.map(shared_generator);
    let source = || match &own {
        Some(own) => RandomSource::Generator(Arc::clone(own)),
        None => RandomSource::Default(Arc::clone(default)),
    };
    let mut distributed = None;
    let sampler: Arc<dyn Sampler> = match name {
        "sequential" => Arc::new(SequentialSampler::new(len)),
        "random" => {
            let replacement = said["replacement"].as_bool().expect("a flag");
            let count = said["num_samples"].as_i64();
            Arc::new(RandomSampler::new(len, replacement, count, source())?)
        }
        "subset" => Arc::new(SubsetRandomSampler::new(
            numbers(&said["indices"]),
            source(),
        )),
        "weighted" => {
            let weights = said["weights"].as_array().expect("weights").iter();
            let weights: Vec<f64> = weights.filter_map(Json::as_f64).collect();
            let count = said["num_samples"].as_i64().expect("a number");
            Arc::new(WeightedRandomSampler::new(weights, count, true, source())?)
        }
        "distributed" => {
            let (world, rank) = (number(&said["world"]) as i64, number(&said["rank"]) as i64);
            let sampler = DistributedSampler::new(len, world, rank)?
                .seed(number(&said["seed"]) as u64)
                .shuffle(said["shuffle"].as_bool().expect("a flag"))
                .drop_last(said["drop_last"].as_bool().expect("a flag"));
            let sampler = Arc::new(sampler);
            if said["set_epoch"] == true {
                distributed = Some(Arc::clone(&sampler));
            }
            sampler
        }
        _ => Arc::new(numbers(&said["indices"])),
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

/// What is looked at beside the loader.
struct Beside {
    batched: bool,
    stops: Vec<Option<usize>>,
    epochs: Vec<Arc<DistributedSampler>>,
    /// The loader's, the samplers', the default one; `None`: none was given, the default one is looked at.
    generators: Vec<Option<SharedGenerator>>,
    default: SharedGenerator,
}

fn one_epoch<F: Fetch<Batch = Rows>>(
    loader: &mut DataLoader<F>,
    batched: bool,
    most: Option<usize>,
) -> Json {
    let mut iter = match loader.iter() {
        Ok(iter) => iter,
        Err(e) => return json!({"error": e.exception_kind().as_str()}),
    };
    let mut came = Vec::new();
    for _ in 0..MOST_CALLS {
        if most.is_some_and(|most| came.len() >= most) {
            break;
        }
        came.push(match iter.next() {
            None => break,
            Some(Err(e)) => json!({"error": e.exception_kind().as_str()}),
            Some(Ok(rows)) => {
                let Row { worker, seed, .. } = rows[0];
                let base = (worker >= 0).then(|| seed.wrapping_sub(worker));
                let all = indices(&rows, batched);
                let all = if batched { all } else { json!([all]) };
                json!([all, worker, base])
            }
        });
    }
    json!(came)
}

fn run<F: Fetch<Batch = Rows>>(mut loader: DataLoader<F>, beside: &Beside) -> Json {
    let len = match loader.len() {
        Ok(len) => json!(len),
        Err(e) => json!(e.exception_kind().as_str()),
    };
    let mut epochs = Vec::new();
    for (number, most) in beside.stops.iter().enumerate() {
        for sampler in &beside.epochs {
            sampler.set_epoch(number as u64);
        }
        epochs.push(one_epoch(&mut loader, beside.batched, *most));
    }
    let generators = beside.generators.iter().map(Option::as_ref).chain([None]);
    let drawn = generators.map(|one| lock_generator(one.unwrap_or(&beside.default)).random_i64());
    let drawn: Vec<i64> = drawn.collect();
    json!({"len": len, "epochs": epochs, "next_i64": drawn})
}

/// What was given is checked as PyTorch checks it, in its order.
fn check_arguments(program: &Json, iterable: bool) -> Result<(), EngineError> {
    let mut given = arguments(&program["args"], iterable);
    for (name, field) in [
        ("sampler", &mut given.sampler),
        ("batch_sampler", &mut given.batch_sampler),
    ] {
        if program.get(name).is_some() {
            *field = PyArg::Other("object".to_owned());
        }
    }
    given.check()
}

/// How many batches are taken of each epoch.
fn stops(program: &Json) -> Vec<Option<usize>> {
    let stops = program["stops"].as_array().expect("epochs").iter();
    stops
        .map(|stop| stop.as_u64().map(|most| most as usize))
        .collect()
}

fn answer(program: &Json) -> Result<Json, EngineError> {
    let (said, args) = (&program["dataset"], &program["args"]);
    let seed = program["seed"].as_u64().expect("a seed");
    let (default, own) = match program["rng"].as_str() {
        Some("default") => (shared_generator(seed), None),
        _ => (shared_generator(999), Some(shared_generator(seed))),
    };
    let is_map = said["kind"] == "map";
    let dataset = is_map.then(|| map_dataset(said));
    let len = dataset.as_ref().map_or(0, |dataset| dataset.len());
    let mut beside = Beside {
        batched: args.get("batch_size").is_none_or(|size| !size.is_null())
            || program["batch_sampler"].is_object(),
        stops: stops(program),
        epochs: Vec::new(),
        generators: vec![own.clone()],
        default: Arc::clone(&default),
    };
    let mut take = |name: &str| -> Result<Option<Arc<dyn Sampler>>, EngineError> {
        let Some(said) = program.get(name) else {
            return Ok(None);
        };
        let chosen = chosen(said, len, &default)?;
        beside.generators.push(chosen.own);
        beside.epochs.extend(chosen.distributed);
        Ok(Some(chosen.sampler))
    };
    let sampler = take("sampler")?;
    let batch_sampler: Option<Arc<dyn BatchSource>> = match take("batch_sampler")? {
        None => None,
        Some(sampler) => {
            let said = &program["batch_sampler"];
            let drop_last = said["drop_last"].as_bool().expect("a flag");
            let made = BatchSampler::new(sampler, number(&said["batch_size"]) as i64, drop_last)?;
            Some(Arc::new(made))
        }
    };
    check_arguments(program, !is_map)?;
    /// The rest, which is the same for both styles.
    macro_rules! finished {
        ($builder:expr) => {{
            let mut builder = $builder.default_generator(Arc::clone(&beside.default));
            if let Some(own) = own {
                builder = builder.generator(own);
            }
            configure(builder, args)
        }};
    }
    match dataset {
        Some(dataset) => {
            let mut builder = finished!(LoaderBuilder::new(dataset));
            if let Some(sampler) = sampler {
                builder = builder.sampler(sampler);
            }
            if let Some(batches) = batch_sampler {
                builder = builder.batch_sampler(batches);
            }
            if beside.batched {
                Ok(run(builder.collate_fn(list).build()?, &beside))
            } else {
                Ok(run(builder.collate_fn(Convert(alone)).build()?, &beside))
            }
        }
        None => {
            let stream = Counted {
                len: number(&said["n"]),
                strided: said["kind"] == "strided",
                fails: said["fails"].as_u64().map(|at| at as usize),
            };
            let builder = finished!(LoaderBuilder::iterable(Arc::new(stream)));
            if beside.batched {
                Ok(run(builder.collate_fn(list).build()?, &beside))
            } else {
                Ok(run(builder.collate_fn(Convert(alone)).build()?, &beside))
            }
        }
    }
}

pub fn check(case: &Case<'_>) -> Verdict {
    match answer(case.input) {
        Ok(out) => case.returns(&out),
        Err(e) => case.raises(e.exception_kind().as_str(), &e.python_message()),
    }
}
