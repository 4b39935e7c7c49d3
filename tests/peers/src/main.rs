//! Measures dataloader-rs with one workload. It prints one JSON line in the format of Loadscope's `measure`.
//!
//! `loadscope-peers work=w1 workers=2 seconds=1 data=FOLDER share=1`

mod work;

use std::collections::HashMap;
use std::error::Error;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use dataloader_rs::{Collator, DataLoader, Dataset, RandomSampler, Sampler, SequentialSampler};
use serde_json::{Value as Json, json};

use work::{Columns, FirstColumns, Pictures, Planes, Repeated, Scalars, Tokens, WINDOW, Windows};

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Failure = Box<dyn Error + Send + Sync>;

/// Parsed arguments.
struct Job {
    work: String,
    workers: usize,
    seconds: f64,
    data: PathBuf,
    share: f64,
}

impl Job {
    fn from_arguments() -> Result<Self, Failure> {
        let given: HashMap<String, String> = std::env::args()
            .skip(1)
            .filter_map(|argument| {
                let (name, value) = argument.split_once('=')?;
                Some((name.to_owned(), value.to_owned()))
            })
            .collect();
        let get = |name: &str, default: &str| given.get(name).map_or(default, |v| v).to_owned();
        Ok(Self {
            work: get("work", ""),
            workers: get("workers", "0").parse()?,
            seconds: get("seconds", "1").parse()?,
            data: get("data", ".").into(),
            share: get("share", "1").parse()?,
        })
    }

    fn part(&self, whole: usize) -> usize {
        ((whole as f64 * self.share) as usize).max(1)
    }
}

/// Sum of all values, and sum of each value times its position (from 1), modulo 2^64.
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
}

fn main() -> Result<(), Failure> {
    println!("{}", measure(&Job::from_arguments()?)?);
    Ok(())
}

fn measure(job: &Job) -> Result<Json, Failure> {
    let labels = |labels: &[i64], check: &mut Check| {
        labels.iter().for_each(|label| check.add(*label as u64));
    };
    let random = || RandomSampler::new(0);
    match job.work.as_str() {
        "w1" => {
            let dataset = Pictures::new(job.part(4096));
            throughput(job, dataset, random(), Planes, 64, |batch, check| {
                labels(&batch.1, check);
            })
        }
        "w2" => {
            let dataset = Scalars::new(job.part(1_000_000));
            throughput(
                job,
                dataset,
                SequentialSampler,
                FirstColumns,
                256,
                |batch: &Columns, check| {
                    labels(&batch.1, check);
                },
            )
        }
        "w3" => {
            let dataset = Repeated::open(&job.data.join("pictures"), job.part(2))?;
            throughput(
                job,
                dataset,
                SequentialSampler,
                Planes,
                32,
                |batch, check| {
                    labels(&batch.1, check);
                },
            )
        }
        "w6" => {
            let dataset = Tokens::open(&job.data.join("tokens.u16"), job.part(262_144))?;
            throughput(
                job,
                dataset,
                random(),
                Windows,
                32,
                |batch: &Vec<u8>, check| {
                    for window in batch.chunks_exact(WINDOW * 2) {
                        check.add(u64::from(u16::from_le_bytes([window[0], window[1]])));
                    }
                },
            )
        }
        "w5-fresh" => first(job, false),
        "w5-persistent" => first(job, true),
        "w5-round-trip" => {
            let job = Job {
                workers: 2,
                data: PathBuf::new(),
                work: String::new(),
                ..*job
            };
            let dataset = Scalars::new(job.part(20_000));
            throughput(
                &job,
                dataset,
                SequentialSampler,
                FirstColumns,
                1,
                |batch: &Columns, check| {
                    labels(&batch.1, check);
                },
            )
        }
        other => Err(format!("dataloader-rs is not measured at {other}").into()),
    }
}

/// Measures items per second over whole epochs, after one epoch that fills the caches and is checked.
fn throughput<D, S, C>(
    job: &Job,
    dataset: D,
    sampler: S,
    collator: C,
    batch_size: usize,
    see: impl Fn(&C::Batch, &mut Check),
) -> Result<Json, Failure>
where
    D: Dataset,
    S: Sampler,
    C: Collator<D::Item>,
{
    let mut loader = DataLoader::builder(dataset)
        .batch_size(batch_size)
        .sampler(sampler)
        .collator(collator)
        .num_workers(job.workers)
        // The depth allows 2 batches per worker in flight or waiting, as with PyTorch and Loadscope.
        .prefetch_depth(job.workers.max(1))
        .build();
    let mut check = Check::default();
    for batch in loader.iter() {
        see(&batch?, &mut check);
    }
    let (start, mut epochs) = (Instant::now(), 0.0);
    let seconds = loop {
        for batch in loader.iter() {
            black_box(&batch?);
        }
        epochs += 1.0;
        let seconds = start.elapsed().as_secs_f64();
        if seconds >= job.seconds {
            break seconds;
        }
    };
    Ok(json!({
        "value": check.count as f64 * epochs / seconds, "unit": "items/s",
        "sum": check.sum, "order": check.order,
    }))
}

/// Measures the time from `iter()` to the first batch with 2 workers, as the median of many epochs. The threads belong to the loader, so
/// new threads need a new loader.
fn first(job: &Job, persistent: bool) -> Result<Json, Failure> {
    let build = || {
        DataLoader::builder(Scalars::new(64))
            .batch_size(1)
            .collator(FirstColumns)
            .num_workers(2)
            .build()
    };
    let mut loader = build();
    let mut times = Vec::new();
    for _ in 0..job.part(1000).max(20) {
        let start = Instant::now();
        if !persistent {
            loader = build();
        }
        let mut iter = loader.iter();
        iter.next().transpose()?;
        times.push(start.elapsed().as_secs_f64());
        for batch in iter {
            batch?;
        }
    }
    times.sort_by(f64::total_cmp);
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    Ok(json!({"value": median * 1e3, "unit": "ms"}))
}
