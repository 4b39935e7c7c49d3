//! Cases of refused arguments, warnings, and failing samples as the consumer sees them.

use std::sync::Arc;
use std::time::Duration;

use loadscope_engine::dataset::{Dataset, IterableDataset, SampleClock, SampleError, SampleStream};
use loadscope_engine::error::ExceptionKind;
use loadscope_engine::loader::{Arguments, check_assignable, too_many_workers};
use loadscope_engine::sampler::PyArg;
use loadscope_engine::{
    Batch, Convert, DataLoader, Fetch, LoaderBuilder, LoaderError, exit_worker,
};
use loadscope_trace::PinMemory;
use serde_json::{Value as Json, json};

use super::loader::{batched, configure};
use super::rows::{Idx, Kind, Stream, list, number};
use super::sampler_ctor;
use super::verdict::{Case, Verdict};

/// Parses a Python argument of a case.
fn argument(json: &Json) -> PyArg {
    match json {
        Json::Null => PyArg::None,
        Json::Bool(v) => PyArg::Bool(*v),
        Json::Number(v) => match v.as_i64() {
            Some(v) => PyArg::Int(v),
            None => PyArg::Float(v.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(v) => PyArg::Str(v.clone()),
        Json::Array(items) => PyArg::List(items.iter().map(argument).collect()),
        Json::Object(_) => PyArg::Other("object".to_owned()),
    }
}

/// Parses the arguments of a case.
pub fn arguments(args: &Json, iterable: bool) -> Arguments {
    let mut all = Arguments {
        iterable,
        ..Arguments::default()
    };
    let given = args.as_object().cloned().unwrap_or_default();
    for (name, value) in &given {
        let field = match name.as_str() {
            "batch_size" => &mut all.batch_size,
            "shuffle" => &mut all.shuffle,
            "sampler" => &mut all.sampler,
            "batch_sampler" => &mut all.batch_sampler,
            "num_workers" => &mut all.num_workers,
            "drop_last" => &mut all.drop_last,
            "timeout" => &mut all.timeout,
            "multiprocessing_context" => &mut all.multiprocessing_context,
            "prefetch_factor" => &mut all.prefetch_factor,
            "persistent_workers" => &mut all.persistent_workers,
            "in_order" | "pin_memory" | "pin_memory_device" => continue,
            other => panic!("unknown argument {other}"),
        };
        *field = argument(value);
    }
    all
}

fn ok_or_raises(case: &Case<'_>, outcome: Result<(), LoaderError>) -> Verdict {
    match outcome {
        Ok(()) => case.returns(&json!("ok")),
        Err(e) => case.raises(e.exception_kind().as_str(), &e.python_message()),
    }
}

/// Checks the arguments of a case. Valid ones must also build a loader.
fn constructor(case: &Case<'_>) -> Verdict {
    let iterable = case.input["iterable"] == true;
    let args = &case.input["args"];
    let arguments = arguments(args, iterable);
    let outcome = arguments.check().and_then(|()| {
        let empty = case.input["empty_dataset"] == true;
        if iterable {
            let stream = Stream {
                kind: Kind::Naive(4),
                len: None,
                name: "Naive",
            };
            configure(LoaderBuilder::iterable(Arc::new(stream)), args)
                .collate_fn(list)
                .build()
                .map(drop)
        } else {
            let data = Idx::new(if empty { 0 } else { 4 });
            configure(LoaderBuilder::new(data), args)
                .collate_fn(list)
                .build()
                .map(drop)
        }
    });
    ok_or_raises(case, outcome)
}

fn runtime(case: &Case<'_>) -> Verdict {
    let what = case.input["what"].as_str().unwrap_or_default();
    if let Some(attribute) = what
        .strip_prefix("set ")
        .and_then(|rest| rest.strip_suffix(" after init"))
    {
        return ok_or_raises(case, check_assignable(attribute));
    }
    let args = &case.input["args"];
    let mut builder = configure(LoaderBuilder::new(Idx::new(4)), args);
    if let Some(seconds) = args["timeout"].as_f64() {
        builder = builder.timeout(seconds);
    }
    let mut loader = builder.collate_fn(list).build().expect("sound arguments");
    let outcome = loader.iter().map(drop);
    ok_or_raises(case, outcome)
}

fn warnings(case: &Case<'_>) -> Verdict {
    let args = &case.input["args"];
    if let Some(workers) = args["num_workers"].as_u64() {
        // The warning uses the CPU count of the case's host, not of this one.
        let warning = too_many_workers(workers as usize, number(&case.input["cpus"]));
        let said: Vec<String> = (warning.into_iter())
            .map(|text| format!("UserWarning: {text}"))
            .collect();
        return case.returns(&json!(said));
    }
    if args["pin_memory"] == true && tch::Cuda::is_available() {
        return Verdict::NotApplicable("this host has an accelerator");
    }
    let mut builder = LoaderBuilder::new(Idx::new(4));
    if args["pin_memory"] == true {
        builder = builder.pin_memory(PinMemory::On);
    }
    if let Some(device) = args["pin_memory_device"].as_str() {
        builder = builder.pin_memory_device(device);
    }
    let mut loader = builder.collate_fn(list).build().expect("sound arguments");
    assert!(loader.iter().expect("an epoch").all(|b| b.is_ok()));
    let mut said: Vec<String> = loader
        .take_warnings()
        .into_iter()
        .map(|text| format!("UserWarning: {text}"))
        .collect();
    said.sort();
    case.returns(&json!(said))
}

/// Returns the consumer's view of at most 40 steps, with the first line of every error in PyTorch's words.
fn walk<F: Fetch>(loader: &mut DataLoader<F>, show: impl Fn(&F::Batch) -> Json) -> Json {
    let mut iter = loader.iter().expect("an epoch");
    let mut seen = Vec::new();
    for _ in 0..40 {
        match iter.next() {
            None => {
                seen.push(json!({"stop": true}));
                break;
            }
            Some(Ok(batch)) => seen.push(json!({"batch": show(&batch)})),
            Some(Err(e)) => {
                let message = e.python_message();
                let line = message.lines().next().unwrap_or_default();
                let kind = e.exception_kind();
                seen.push(json!({"error": {"type": kind.as_str(), "message": line}}));
            }
        }
    }
    json!(seen)
}

/// Makes the exception named by `raise` in a case.
fn exception(name: &str) -> SampleError {
    match name {
        "ValueError" => SampleError::new(name, "boom"),
        "KeyError" => SampleError::new(name, "'k'"),
        "IndexError" => SampleError::new(name, "idx"),
        "StopIteration" => SampleError::new(name, "si"),
        "AssertionError" => SampleError::new(name, ""),
        "TwoArg" => SampleError::new(name, "(1, 2)").with_arguments(),
        other => panic!("unknown exception {other}"),
    }
}

/// Action of a sample.
enum Act {
    Raise(SampleError),
    Exit(i32),
    Sleep(Duration),
}

/// A dataset whose samples are their index. One performs an action.
struct Acting {
    n: usize,
    at: usize,
    act: Act,
}

impl Dataset for Acting {
    type Sample = usize;

    fn len(&self) -> usize {
        self.n
    }

    fn get(&self, index: usize, _: &mut SampleClock) -> Result<usize, SampleError> {
        if index == self.at {
            match &self.act {
                Act::Raise(error) => return Err(error.clone()),
                Act::Exit(code) => exit_worker(*code),
                Act::Sleep(time) => std::thread::sleep(*time),
            }
        }
        Ok(index)
    }
}

impl IterableDataset for Acting {
    type Sample = usize;

    fn iter(&self) -> Result<Box<dyn SampleStream<usize>>, SampleError> {
        let (n, at) = (self.n, self.at);
        let Act::Raise(error) = &self.act else {
            return Err(SampleError::new("RuntimeError", "streams only raise"));
        };
        let error = error.clone();
        Ok(Box::new((0..n).map(move |i| {
            if i == at { Err(error.clone()) } else { Ok(i) }
        })))
    }
}

fn plain(samples: Vec<usize>) -> Result<Vec<usize>, LoaderError> {
    Ok(samples)
}

fn single(sample: usize) -> Result<Vec<usize>, LoaderError> {
    Ok(vec![sample])
}

/// Returns the consumer's view of a map-style dataset.
fn acting(input: &Json, n: usize, at: usize, act: Act) -> Json {
    let data = Arc::new(Acting { n, at, act });
    let mut builder = configure(LoaderBuilder::new(data), input);
    if let Some(seconds) = input["timeout"].as_f64() {
        builder = builder.timeout(seconds);
    }
    if batched(input) {
        let mut loader = builder.collate_fn(plain).build().expect("a loader");
        walk(&mut loader, |batch| json!(batch))
    } else {
        let loader = builder.collate_fn(Convert(single)).build();
        walk(&mut loader.expect("a loader"), |batch| json!(batch[0]))
    }
}

fn worker_error(input: &Json) -> Json {
    let name = input["exception"].as_str().unwrap_or_default();
    let act = Act::Raise(exception(name));
    acting(input, number(&input["n"]), number(&input["bad_index"]), act)
}

fn iterable_error(input: &Json) -> Json {
    let data = Arc::new(Acting {
        n: number(&input["n"]),
        at: number(&input["bad_index"]),
        act: Act::Raise(exception("ValueError")),
    });
    let builder = configure(LoaderBuilder::iterable(data), input);
    let mut loader = builder.collate_fn(plain).build().expect("a loader");
    walk(&mut loader, |batch| json!(batch))
}

fn init_error(input: &Json) -> Json {
    let builder = configure(LoaderBuilder::new(Idx::new(number(&input["n"]))), input);
    let builder = builder.worker_init_fn(|_| Err(SampleError::new("RuntimeError", "init boom")));
    let mut loader = builder.collate_fn(list).build().expect("a loader");
    walk(&mut loader, |_| json!("a batch"))
}

/// A batch, `[tag, index]` in PyTorch.
struct Tagged(usize);

impl Batch for Tagged {}

/// A dataset of samples `[0, index]`, with an IndexError beyond the end.
struct Tag(usize);

impl Dataset for Tag {
    type Sample = usize;

    fn len(&self) -> usize {
        self.0
    }

    fn get(&self, index: usize, _: &mut SampleClock) -> Result<usize, SampleError> {
        if index >= self.0 {
            let text = format!("{index} out of {}", self.0);
            return Err(SampleError::new("IndexError", text));
        }
        Ok(index)
    }
}

fn out_of_range(input: &Json) -> Json {
    let tag = |index: usize| -> Result<Tagged, LoaderError> { Ok(Tagged(index)) };
    let data = Arc::new(Tag(number(&input["n"])));
    let sampler = super::rows::numbers(&input["sampler"]);
    let builder = configure(LoaderBuilder::new(data), input).sampler(Arc::new(sampler));
    let mut loader = builder.collate_fn(Convert(tag)).build().expect("a loader");
    walk(&mut loader, |batch| json!([0, batch.0]))
}

/// Masks process IDs, as the cases do.
fn masked(text: &str) -> String {
    let mut out = String::new();
    for (i, part) in text.split("(pid").enumerate() {
        if i == 0 {
            out.push_str(part);
            continue;
        }
        let end = part.rfind(')').unwrap_or(part.len());
        let (inside, rest) = part.split_at(end);
        let word = inside.trim_end_matches(|c: char| c.is_ascii_digit());
        out.push_str(&format!("(pid{word}PID{rest}"));
    }
    out
}

fn death(case: &Case<'_>) -> Verdict {
    if case.input["how"] != "exit" {
        return Verdict::NotApplicable("a thread cannot be killed by a signal");
    }
    // The script of the cases uses this exit code.
    let act = Act::Exit(3);
    let data = Arc::new(Acting {
        n: 8,
        at: number(&case.input["index"]),
        act,
    });
    let builder = configure(LoaderBuilder::new(data), case.input).batch_size(2);
    let mut loader = builder.collate_fn(plain).build().expect("a loader");
    let error = loader
        .iter()
        .expect("an epoch")
        .find_map(Result::err)
        .expect("a worker dies");
    let LoaderError::WorkerDied { cause, .. } = &error else {
        return Verdict::fail("a dead worker", &error.to_string());
    };
    let cause = json!({"type": ExceptionKind::RUNTIME_ERROR.as_str(), "message": masked(cause)});
    Verdict::all([
        case.raises(
            error.exception_kind().as_str(),
            &masked(&error.python_message()),
        ),
        Verdict::equal(&case.json["cause"], &cause),
    ])
}

pub fn check(case: &Case<'_>) -> Verdict {
    let input = case.input;
    match case.op {
        "DataLoader_ctor" => constructor(case),
        "DataLoader_runtime" => runtime(case),
        "DataLoader_warning" => warnings(case),
        "sampler_ctor" => sampler_ctor::check(case),
        "worker_error" => case.returns(&worker_error(input)),
        "worker_error_iterable" => case.returns(&iterable_error(input)),
        "worker_init_error" => case.returns(&init_error(input)),
        "index_error_out_of_range_sampler" => case.returns(&out_of_range(input)),
        "worker_death" => death(case),
        "timeout" => {
            let mut input = input.clone();
            input["batch_size"] = json!(1);
            let sleep = Duration::from_secs_f64(input["sleep_s"].as_f64().unwrap_or(0.0));
            let at = number(&input["slow_index"]);
            case.returns(&acting(&input, 4, at, Act::Sleep(sleep)))
        }
        _ => Verdict::fail("a check of this case", case.op),
    }
}
