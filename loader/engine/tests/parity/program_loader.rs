//! Loaders of randomly drawn programs: their arguments, samplers and generators.

use std::sync::Arc;

use loadscope_engine::collate::CollateSite;
use loadscope_engine::rng::{SharedGenerator, shared_generator};
use loadscope_engine::sampler::{BatchSampler, BatchSource, DistributedSampler, PyArg, Sampler};
use loadscope_engine::value::Value;
use loadscope_engine::{Collate, DefaultCollate, LoaderBuilder, LoaderError};
use serde_json::{Value as Json, json};

use super::errors::arguments;
use super::loader::configure;
use super::program_parts::{chosen, draws_from_default, init};
use super::rows::number;

/// `collate_fn`: the program's own, which keeps rows unchanged, or the default one.
#[derive(Clone, Copy)]
pub enum ProgramCollate {
    Rows,
    Default,
}

impl Collate<Value> for ProgramCollate {
    type Batch = Value;

    fn collate(&self, samples: Vec<Value>, site: CollateSite) -> Result<Value, LoaderError> {
        match self {
            Self::Rows => Ok(Value::List(samples)),
            Self::Default => DefaultCollate.collate(samples, site),
        }
    }

    fn convert(&self, sample: Value, site: CollateSite) -> Result<Value, LoaderError> {
        match self {
            Self::Rows => Ok(Value::List(vec![sample])),
            Self::Default => DefaultCollate.convert(sample, site),
        }
    }
}

/// Checks the given arguments like PyTorch, in its order.
pub fn check_arguments(program: &Json, args: &Json, iterable: bool) -> Result<(), LoaderError> {
    let mut given = arguments(args, iterable);
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

/// Returns the arguments with another number of workers. Without workers, arguments that need workers are removed.
fn with_workers(args: &Json, workers: Option<usize>) -> Json {
    let mut args = args.clone();
    let Some(workers) = workers else { return args };
    let given = args.as_object_mut().expect("arguments");
    given.insert("num_workers".to_owned(), json!(workers));
    if workers == 0 {
        for name in [
            "prefetch_factor",
            "persistent_workers",
            "timeout",
            "multiprocessing_context",
        ] {
            given.remove(name);
        }
    }
    args
}

/// Parts of a loader except its dataset.
pub struct Parts {
    pub args: Json,
    own: Option<SharedGenerator>,
    pub default: SharedGenerator,
    pub sampler: Option<Arc<dyn Sampler>>,
    pub batch_sampler: Option<Arc<dyn BatchSource>>,
    /// Generators of the loader, then of the samplers. `None` if the program gave none.
    pub generators: Vec<Option<SharedGenerator>>,
    /// Samplers whose epochs are set.
    pub epochs: Vec<Arc<DistributedSampler>>,
}

impl Parts {
    pub fn of(
        program: &Json,
        len: usize,
        salt: u64,
        workers: Option<usize>,
    ) -> Result<Self, LoaderError> {
        let seed = program["seed"].as_u64().expect("a seed");
        let is_default = program["rng"] == "default";
        let draws = |name: &str| program.get(name).is_some_and(draws_from_default);
        let (default, own) = match is_default {
            true => (shared_generator(seed ^ salt), None),
            // A state contains the default generator only if something draws from it.
            false if draws("sampler") || draws("batch_sampler") => (
                shared_generator(999 ^ salt),
                Some(shared_generator(seed ^ salt)),
            ),
            false => (shared_generator(999), Some(shared_generator(seed ^ salt))),
        };
        let mut parts = Self {
            args: with_workers(&program["args"], workers),
            generators: vec![own.clone()],
            own,
            default,
            sampler: None,
            batch_sampler: None,
            epochs: Vec::new(),
        };
        parts.sampler = parts.take(program, "sampler", len, salt)?;
        if let Some(sampler) = parts.take(program, "batch_sampler", len, salt)? {
            let spec = &program["batch_sampler"];
            let drop_last = spec["drop_last"].as_bool().expect("a flag");
            let made = BatchSampler::new(sampler, number(&spec["batch_size"]) as i64, drop_last)?;
            parts.batch_sampler = Some(Arc::new(made));
        }
        Ok(parts)
    }

    fn take(
        &mut self,
        program: &Json,
        name: &str,
        len: usize,
        salt: u64,
    ) -> Result<Option<Arc<dyn Sampler>>, LoaderError> {
        let Some(spec) = program.get(name) else {
            return Ok(None);
        };
        let chosen = chosen(spec, len, &self.default, salt)?;
        self.generators.push(chosen.own);
        self.epochs.extend(chosen.distributed);
        Ok(Some(chosen.sampler))
    }

    /// Applies the arguments that both styles of datasets have in common.
    pub fn configured<K, D: ?Sized>(
        &self,
        builder: LoaderBuilder<K, D, DefaultCollate>,
        program: &Json,
    ) -> LoaderBuilder<K, D, ProgramCollate> {
        let mut builder =
            configure(builder, &self.args).default_generator(Arc::clone(&self.default));
        if let Some(own) = &self.own {
            builder = builder.generator(Arc::clone(own));
        }
        if let Some(seconds) = self.args["timeout"].as_f64() {
            builder = builder.timeout(seconds);
        }
        if let Some(method) = self.args["multiprocessing_context"].as_str() {
            builder = builder.multiprocessing_context(method);
        }
        if program["init"].is_object() {
            builder = builder.worker_init_fn(init(&program["init"]));
        }
        builder.collate_fn(match program["dataset"]["samples"].is_object() {
            true => ProgramCollate::Default,
            false => ProgramCollate::Rows,
        })
    }
}
