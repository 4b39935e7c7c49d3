//! Measures one piece of work and prints a line of JSON, for comparisons with other programs.
//!
//! `measure work=w1 workers=2 recording=off seconds=1 data=FOLDER share=1`
//!
//! The answer is `{"value", "unit", "sum", "order"}`. `sum` is the sum of all labels (or tokens, or indices) of an
//! epoch. `order` is the sum of each times its position, from 1. Both are modulo 2^64, and show that two programs did
//! the same work. With `recording` there are also `events`, `lost` and `log_bytes`, and the results of [`work::cost`].
//! `share` makes the work smaller.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it prints what it measures"
)]

mod work;

use std::collections::HashMap;
use std::hint::black_box;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use loadscope_engine::dataset::{Dataset, Gather};
use loadscope_engine::fetch::Fetch;
use loadscope_engine::value::Value;
use loadscope_engine::{DataLoader, DefaultCollate, LoaderError, Probe};
use loadscope_trace::{BatchId, Stage};
use serde_json::{Value as Json, json};

use work::bare;
use work::cost;
use work::data::{self, Pairs, Pictures, Repeated};
use work::engine::{Setup, epoch, first_batch, gathering, loader};
use work::formats::{self, Loader};
use work::recording::{Observer, Recording};
use work::samplers;

/// Same allocator as in `app/program/src/allocator.rs`, which explains the reason.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Arguments of the command line.
struct Job {
    work: String,
    workers: usize,
    recording: Recording,
    /// Minimum measuring time, seconds.
    seconds: f64,
    data: PathBuf,
    /// Share of the work to do, 1 for all.
    share: f64,
}

impl Job {
    /// Parses `name=value` arguments. Returns `None` if no work is named, as when cargo runs all benchmarks.
    fn from_arguments() -> Result<Option<Self>, Failure> {
        let given: HashMap<String, String> = std::env::args()
            .skip(1)
            .filter_map(|argument| {
                let (name, value) = argument.split_once('=')?;
                Some((name.to_owned(), value.to_owned()))
            })
            .collect();
        let get = |name: &str, default: &str| given.get(name).map_or(default, |v| v).to_owned();
        let Some(work) = given.get("work").cloned() else {
            return Ok(None);
        };
        Ok(Some(Self {
            work,
            workers: get("workers", "0").parse()?,
            recording: match get("recording", "off").as_str() {
                "off" => Recording::Off,
                "events" => Recording::Events,
                "log" => Recording::Log,
                other => return Err(format!("recording is off, events or log, not {other}").into()),
            },
            seconds: get("seconds", "1").parse()?,
            data: get("data", ".").into(),
            share: get("share", "1").parse()?,
        }))
    }

    fn part(&self, whole: usize) -> usize {
        ((whole as f64 * self.share) as usize).max(1)
    }

    fn setup(&self, batch_size: usize, shuffle: bool) -> Setup {
        Setup {
            batch_size,
            shuffle,
            num_workers: self.workers,
            persistent_workers: self.workers > 0,
        }
    }
}

/// Sum and weighted sum of a sequence.
#[derive(Default)]
struct Check {
    sum: u64,
    order: u64,
    count: u64,
}

impl Check {
    fn add(&mut self, value: u64) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(value);
        self.order = self.order.wrapping_add(value.wrapping_mul(self.count));
    }

    fn all(&mut self, values: Vec<u64>) {
        values.into_iter().for_each(|value| self.add(value));
    }
}

fn main() -> Result<(), Failure> {
    let Some(job) = Job::from_arguments()? else {
        return Ok(());
    };
    println!("{}", measure(&job)?);
    Ok(())
}

/// Runs the work that the job names.
fn measure(job: &Job) -> Result<Json, Failure> {
    match job.work.as_str() {
        "w1" => {
            let (items, setup) = (job.part(4096), job.setup(64, true));
            let dataset = data::pictures(items)?;
            gathered(job, dataset, items, setup, data::labels_of)
        }
        "w1-samples" => collated(job, Pictures::new(job.part(4096)), job.setup(64, true)),
        "w2" => {
            let items = job.part(1_000_000);
            gathered(
                job,
                data::tensors(items)?,
                items,
                job.setup(256, false),
                data::labels_of,
            )
        }
        "w2-samples" => pairs(job, job.part(1_000_000), job.setup(256, false)),
        "w3" => {
            let dataset = Repeated::open(&job.data.join("pictures"), job.part(2))?;
            collated(job, dataset, job.setup(32, false))
        }
        "w6" => {
            let dataset = data::tokens(&job.data.join("tokens.u16"))?;
            let (items, setup) = (job.part(262_144), job.setup(32, true));
            gathered(job, dataset, items, setup, data::first_tokens)
        }
        "w4-random" => indices(job, job.part(10_000_000), samplers::random),
        "w4-distributed" => indices(job, job.part(10_000_000), |n| samplers::distributed(n, 8)),
        "w4-weighted" => weighted(job, false),
        "w4-replacement" => weighted(job, true),
        "w4-memory" => memory(job.part(10_000_000)),
        "w5-fresh" => first(job, false),
        "w5-persistent" => first(job, true),
        "w5-round-trip" | "w5-round-trip-main" => round_trips(job),
        "event" => event_cost(),
        bare if bare::NAMES.contains(&bare) => {
            let rate = bare::rate(
                bare,
                &job.data,
                |whole| job.part(whole),
                job.workers,
                job.seconds,
            )?;
            Ok(json!({"value": rate, "unit": "items/s"}))
        }
        name => of_format(job, name),
    }
}

/// Measures a dataset that makes whole batches. `seen` extracts the checked numbers.
fn gathered<D: Gather>(
    job: &Job,
    dataset: D,
    items: usize,
    setup: Setup,
    seen: impl Fn(&D::Batch) -> Vec<u64>,
) -> Result<Json, Failure> {
    let dataset = Arc::new(dataset);
    throughput(
        job,
        |probe| gathering(Arc::clone(&dataset), items, setup, probe),
        |batch, check| check.all(seen(batch)),
    )
}

/// Measures a dataset sample by sample, collated as in PyTorch.
fn collated<D: Dataset<Sample = Value>>(
    job: &Job,
    dataset: D,
    setup: Setup,
) -> Result<Json, Failure> {
    let dataset = Arc::new(dataset);
    throughput(
        job,
        |probe| loader(Arc::clone(&dataset), DefaultCollate, setup, probe),
        |batch, check| check.all(data::labels_of(batch)),
    )
}

/// Measures a dataset of user data. A stream restarts in each epoch.
fn of_format(job: &Job, name: &str) -> Result<Json, Failure> {
    let work = formats::work(name).ok_or_else(|| format!("there is no work called {name}"))?;
    let loader = work.loader(&job.data.join("formats"), job.workers, Probe::off())?;
    // One libtorch thread, as in the Python counterpart.
    tch::set_num_threads(1);
    let see = |batch: &Value, check: &mut Check| check.all(work.seen(batch));
    match loader {
        Loader::Map(loader) => alone(job, loader, see),
        Loader::Stream(loader) => alone(job, loader, see),
    }
}

/// Measures items per second over whole epochs.
///
/// With recording, also measures its cost: turns alternate with an unrecorded loader.
fn throughput<F: Fetch>(
    job: &Job,
    make: impl Fn(Probe) -> Result<DataLoader<F>, LoaderError>,
    see: impl Fn(&F::Batch, &mut Check),
) -> Result<Json, Failure> {
    if job.recording == Recording::Off {
        return alone(job, make(Probe::off())?, see);
    }
    let observer = Observer::start(job.recording);
    let (mut alone, mut recorded) = (make(Probe::off())?, make(observer.probe.clone())?);
    epoch(&mut alone, |_| {})?;
    let mut check = Check::default();
    let batches = epoch(&mut recorded, |batch| see(batch, &mut check))?;
    let mut answer = cost::cost(&mut alone, &mut recorded, &observer, job.seconds)?;
    drop((alone, recorded));
    let totals = observer.finish();
    let micros = answer["recorded_batch"].as_f64().unwrap_or(f64::NAN);
    answer["value"] = json!(check.count as f64 / batches as f64 * 1e6 / micros);
    for (name, number) in [
        ("sum", check.sum),
        ("order", check.order),
        ("events", totals.events),
        ("lost", totals.lost),
        ("log_bytes", totals.log_bytes),
    ] {
        answer[name] = json!(number);
    }
    Ok(answer)
}

/// Measures items per second of an unrecorded loader, after a checked epoch that fills caches.
fn alone<F: Fetch>(
    job: &Job,
    mut loader: DataLoader<F>,
    see: impl Fn(&F::Batch, &mut Check),
) -> Result<Json, Failure> {
    let mut check = Check::default();
    epoch(&mut loader, |batch| see(batch, &mut check))?;
    let (epochs, seconds) = repeat(&mut loader, job.seconds)?;
    let rate = check.count as f64 * f64::from(epochs) / seconds;
    Ok(json!({"value": rate, "unit": "items/s", "sum": check.sum, "order": check.order}))
}

fn repeat<F: Fetch>(loader: &mut DataLoader<F>, at_least: f64) -> Result<(u32, f64), LoaderError> {
    let start = Instant::now();
    let mut epochs = 0;
    loop {
        epoch(loader, |batch| {
            black_box(batch);
        })?;
        epochs += 1;
        let seconds = start.elapsed().as_secs_f64();
        if seconds >= at_least {
            return Ok((epochs, seconds));
        }
    }
}

/// Measures indices per second, including the time before the first one.
fn indices<I>(
    job: &Job,
    n: usize,
    begin: impl Fn(usize) -> Result<I, LoaderError>,
) -> Result<Json, Failure>
where
    I: Iterator<Item = Result<usize, LoaderError>>,
{
    let mut check = Check::default();
    for index in begin(n)? {
        check.add(index? as u64);
    }
    let (start, mut epochs) = (Instant::now(), 0.0);
    while start.elapsed().as_secs_f64() < job.seconds || epochs < 1.0 {
        for index in begin(n)? {
            black_box(index?);
        }
        epochs += 1.0;
    }
    let rate = check.count as f64 * epochs / start.elapsed().as_secs_f64();
    Ok(json!({"value": rate, "unit": "items/s", "sum": check.sum, "order": check.order}))
}

/// Measures w2, sample by sample.
fn pairs(job: &Job, count: usize, setup: Setup) -> Result<Json, Failure> {
    let dataset = Arc::new(Pairs::new(count));
    throughput(
        job,
        |probe| loader(Arc::clone(&dataset), data::stack_pairs, setup, probe),
        |batch, check| check.all(data::labels_of(batch)),
    )
}

fn weighted(job: &Job, replacement: bool) -> Result<Json, Failure> {
    let weights = samplers::weights(job.part(1_000_000));
    indices(job, weights.len(), |_| {
        samplers::weighted(Arc::clone(&weights), replacement)
    })
}

/// Measures the maximum memory growth of this process during an epoch of a RandomSampler.
fn memory(n: usize) -> Result<Json, Failure> {
    let before = peak_bytes()?;
    for index in samplers::random(n)? {
        black_box(index?);
    }
    let grown = peak_bytes()? - before;
    Ok(json!({"value": grown / 1e6, "unit": "MB"}))
}

/// Returns the peak size of this process, bytes.
fn peak_bytes() -> Result<f64, Failure> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = peak.and_then(|text| text.split_whitespace().next());
    let kilobytes: f64 = kilobytes
        .ok_or("the system does not tell the peak size")?
        .parse()?;
    Ok(kilobytes * 1024.0)
}

/// Measures the time from `iter(loader)` to the first batch with 2 workers: the median of many epochs.
fn first(job: &Job, persistent: bool) -> Result<Json, Failure> {
    let setup = Setup {
        batch_size: 1,
        shuffle: false,
        num_workers: 2,
        persistent_workers: persistent,
    };
    let mut times = Vec::new();
    let pairs = Arc::new(Pairs::new(64));
    let mut loader = loader(pairs, data::stack_pairs, setup, Probe::off())?;
    epoch(&mut loader, |_| {})?;
    for _ in 0..job.part(1000).max(20) {
        let start = Instant::now();
        let mut iter = loader.iter()?;
        iter.next().transpose()?;
        times.push(start.elapsed().as_secs_f64());
        for batch in iter {
            batch?;
        }
    }
    first_batch(&mut loader)?;
    let median = cost::median(&mut times);
    Ok(json!({"value": median * 1e3, "unit": "ms"}))
}

/// Measures batches of one sample per second through the queues of 2 workers.
fn round_trips(job: &Job) -> Result<Json, Failure> {
    pairs(job, job.part(20_000), job.setup(1, false))
}

/// Measures the cost of recording one event for its thread. The events are read between the bursts.
fn event_cost() -> Result<Json, Failure> {
    const BURST: u32 = 10_000;
    let (probe, events) = Probe::new(
        loadscope_engine::Clock::start(),
        loadscope_engine::ContentPolicy::Off,
        1 << 16,
    );
    let batch = BatchId { epoch: 0, idx: 0 };
    let mut times = Vec::new();
    for _ in 0..200 {
        let start = Instant::now();
        for _ in 0..BURST {
            probe.enter(batch, Stage::Fetching);
        }
        times.push(start.elapsed().as_secs_f64() * 1e9 / f64::from(BURST));
        events.try_iter().for_each(drop);
    }
    let median = cost::median(&mut times);
    Ok(json!({"value": median, "unit": "ns", "lost": probe.dropped()}))
}
