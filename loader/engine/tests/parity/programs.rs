//! Randomly drawn programs. `tests/reference/cases/drawn.py` defines them, and `programs.py` there runs them in PyTorch.
//!
//! At a `resume` of a program, the loader's state is saved as text and loaded into a completely new loader.

use std::sync::Arc;

use loadscope_engine::rng::{SharedGenerator, lock_generator};
use loadscope_engine::sampler::{DistributedSampler, Sampler as _};
use loadscope_engine::value::Value;
use loadscope_engine::{DataLoader, Fetch, LoaderBuilder, LoaderError, LoaderIter, LoaderState};
use serde_json::{Value as Json, json};

use super::collate::describe;
use super::program_loader::{Parts, check_arguments};
use super::program_parts::{Map, Streamed, map_dataset, stream};
use super::verdict::{Case, Verdict};

/// Maximum number of calls of `next`, as in the cases.
const MOST_CALLS: usize = 200;
/// Salt for the seeds of a loader that will get its generators from a state.
const OTHER_SEEDS: u64 = 0x5eed;

/// The engine's addition to Python's UnboundLocalError.
const ADDED: &str = ": the worker's start failed, see its first error";

/// A loader and its observed parts.
struct Made<F: Fetch> {
    loader: DataLoader<F>,
    epochs: Vec<Arc<DistributedSampler>>,
    /// Generators of the loader and the samplers, and the default one. `None` if none was given, which means the default one.
    generators: Vec<Option<SharedGenerator>>,
    default: SharedGenerator,
    /// Number of warnings that a stream's length was too short.
    warned: usize,
}

impl<F: Fetch> Made<F> {
    fn len(&self) -> Json {
        match self.loader.len() {
            Ok(len) => json!(len),
            Err(e) => json!(e.exception_kind().as_str()),
        }
    }

    fn begin_epoch(&self, number: usize) {
        for sampler in &self.epochs {
            sampler.set_epoch(number as u64);
        }
    }

    fn count_warnings(&mut self) {
        let warnings = self.loader.take_warnings();
        let of_length = |text: &&String| text.starts_with("Length of IterableDataset");
        self.warned += warnings.iter().filter(of_length).count();
    }

    /// Creates a new loader and loads the state into it as text.
    fn saved(&mut self, make: &Make<'_, F>, state: &LoaderState, workers: Option<usize>) {
        let text = serde_json::to_string(state).expect("a state is plain data");
        self.count_warnings();
        let mut new = make(OTHER_SEEDS, workers).expect("it was made before");
        new.len();
        let state: LoaderState = serde_json::from_str(&text).expect("it was just written");
        new.loader.load_state_dict(state).expect("it fits");
        new.warned = self.warned;
        *self = new;
    }
}

/// Makes a program's loader, with a salt for the seeds and possibly another number of workers.
type Make<'a, F> = dyn Fn(u64, Option<usize>) -> Result<Made<F>, LoaderError> + 'a;

/// The part of a program that is not in its loader.
struct Program<'a> {
    stops: Vec<Option<usize>>,
    resume: &'a [Json],
    /// True if batches are described in full.
    whole: bool,
    warned: bool,
}

impl<'a> Program<'a> {
    fn of(spec: &'a Json) -> Self {
        let stops = spec["stops"].as_array().expect("epochs").iter();
        // A state does not contain which of the yielded batches were errors, and PyTorch does not count these.
        let dataset = &spec["dataset"];
        let may_raise = dataset["fails"].is_u64()
            || dataset["samples"].is_object()
            || spec["init"]["fails"].is_u64();
        let is_resumed = spec["resume"].as_array().is_some_and(|all| !all.is_empty());
        Self {
            stops: stops
                .map(|stop| stop.as_u64().map(|most| most as usize))
                .collect(),
            resume: spec["resume"].as_array().map_or(&[], Vec::as_slice),
            whole: spec["dataset"]["samples"].is_object(),
            warned: spec["dataset"]["length"].is_u64() && !(is_resumed && may_raise),
        }
    }

    /// Returns the points of epoch `number` at which the loader is saved.
    fn points(&self, number: usize) -> impl Iterator<Item = &'a Json> {
        let here = move |point: &&Json| point["epoch"].as_u64() == Some(number as u64);
        self.resume.iter().filter(here)
    }

    fn run<F: Fetch<Batch = Value>>(&self, make: &Make<'_, F>) -> Result<Json, LoaderError> {
        let mut made = make(0, None)?;
        let len = made.len();
        let mut epochs = Vec::new();
        for (number, most) in self.stops.iter().enumerate() {
            made.begin_epoch(number);
            epochs.push(self.epoch(&mut made, make, number, most.unwrap_or(usize::MAX)));
            if let Some(point) = self.points(number).find(|point| point["after"].is_null()) {
                let state = made.loader.state_dict();
                made.saved(make, &state, workers(point));
            }
        }
        made.count_warnings();
        let generators = made.generators.iter().map(Option::as_ref).chain([None]);
        let drawn = generators.map(|one| lock_generator(one.unwrap_or(&made.default)).random_i64());
        let drawn: Vec<i64> = drawn.collect();
        let mut out = json!({"len": len, "epochs": epochs, "next_i64": drawn});
        if self.warned {
            out["warned"] = json!(made.warned);
        }
        Ok(out)
    }

    fn epoch<F: Fetch<Batch = Value>>(
        &self,
        made: &mut Made<F>,
        make: &Make<'_, F>,
        number: usize,
        most: usize,
    ) -> Json {
        let mut came = Vec::new();
        let mut points = self.points(number).filter(|point| point["after"].is_u64());
        loop {
            let point = points.next();
            let until = point.map_or(usize::MAX, |point| super::rows::number(&point["after"]));
            let state = match made.loader.iter() {
                Err(e) => return json!({"error": e.exception_kind().as_str()}),
                Ok(mut iter) => {
                    self.take(&mut iter, &mut came, most.min(until));
                    iter.state_dict()
                }
            };
            let Some(point) = point else {
                return json!(came);
            };
            made.saved(make, &state, workers(point));
            made.begin_epoch(number);
        }
    }

    /// Takes batches until there are `most`.
    fn take<F: Fetch<Batch = Value>>(
        &self,
        iter: &mut LoaderIter<'_, F>,
        came: &mut Vec<Json>,
        most: usize,
    ) {
        while came.len() < most.min(MOST_CALLS) {
            came.push(match iter.next() {
                None => return,
                Some(Err(e)) if self.whole => {
                    let text = cause(&e).to_string();
                    let line = text.lines().next_back().unwrap_or_default();
                    let line = line.strip_suffix(": ").unwrap_or(line);
                    let line = line.strip_suffix(ADDED).unwrap_or(line);
                    json!({"error": e.exception_kind().as_str(), "text": line})
                }
                Some(Err(e)) => json!({"error": e.exception_kind().as_str()}),
                Some(Ok(batch)) if self.whole => json!({"batch": describe(&batch)}),
                Some(Ok(batch)) => rows(&batch),
            });
        }
    }
}

/// Returns the number of workers from that point on, if it changes.
fn workers(point: &Json) -> Option<usize> {
    point["workers"].as_u64().map(|count| count as usize)
}

/// Returns the cause of a worker's error.
fn cause(error: &LoaderError) -> &LoaderError {
    match error {
        LoaderError::Worker { cause, .. } => cause,
        other => other,
    }
}

/// Returns `[indices, worker, base seed]`.
fn rows(batch: &Value) -> Json {
    let Value::List(rows) = batch else {
        panic!("a batch of rows is a list");
    };
    let part = |row: &Value, at: usize| match row {
        Value::Tuple(parts) => match parts[at] {
            Value::Int(part) => part,
            _ => panic!("parts of a row are numbers"),
        },
        _ => panic!("a row is a tuple"),
    };
    let indices: Vec<i64> = rows.iter().map(|row| part(row, 0)).collect();
    let (worker, seed) = (part(&rows[0], 1), part(&rows[0], 2));
    let base = (worker >= 0).then(|| seed.wrapping_sub(worker));
    json!([indices, worker, base])
}

fn with<F: Fetch>(parts: Parts, loader: DataLoader<F>) -> Made<F> {
    Made {
        loader,
        epochs: parts.epochs,
        generators: parts.generators,
        default: parts.default,
        warned: 0,
    }
}

fn of_map(
    program: &Json,
    dataset: &Map,
    salt: u64,
    workers: Option<usize>,
) -> Result<Made<impl Fetch<Batch = Value> + use<>>, LoaderError> {
    let parts = Parts::of(program, dataset.len(), salt, workers)?;
    check_arguments(program, &parts.args, false)?;
    let mut builder = parts.configured(LoaderBuilder::new(Arc::clone(dataset)), program);
    if let Some(sampler) = &parts.sampler {
        builder = builder.sampler(Arc::clone(sampler));
    }
    if let Some(batches) = &parts.batch_sampler {
        builder = builder.batch_sampler(Arc::clone(batches));
    }
    let loader = builder.build()?;
    Ok(with(parts, loader))
}

fn of_stream(
    program: &Json,
    stream: &Streamed,
    salt: u64,
    workers: Option<usize>,
) -> Result<Made<impl Fetch<Batch = Value> + use<>>, LoaderError> {
    let parts = Parts::of(program, 0, salt, workers)?;
    check_arguments(program, &parts.args, true)?;
    let builder = parts.configured(LoaderBuilder::iterable(Arc::clone(stream)), program);
    let loader = builder.build()?;
    Ok(with(parts, loader))
}

fn answer(spec: &Json) -> Result<Json, LoaderError> {
    let program = Program::of(spec);
    if spec["dataset"]["kind"] == "map" {
        let dataset = map_dataset(&spec["dataset"]);
        program.run(&|salt, workers| of_map(spec, &dataset, salt, workers))
    } else {
        let stream = stream(&spec["dataset"]);
        program.run(&|salt, workers| of_stream(spec, &stream, salt, workers))
    }
}

pub fn check(case: &Case<'_>) -> Verdict {
    match answer(case.input) {
        Ok(out) => case.returns(&out),
        Err(e) => case.raises(e.exception_kind().as_str(), &e.python_message()),
    }
}
