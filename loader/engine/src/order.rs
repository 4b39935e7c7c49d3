//! Which batches a loader will yield, without loading anything: PyTorch's order for these options and this seed.

use loadscope_trace::RunOptions;
use serde::Serialize;

use crate::dataset::{Dataset as _, DatasetSpec};
use crate::error::EngineError;
use crate::fetch::Request;
use crate::loader::Index;
use crate::plan::Plan;
use crate::rng::lock_generator;
use crate::sampler::DataLen;

/// The samples of a data set, as far as an order depends on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Samples {
    /// A map-style data set of so many.
    Map(usize),
    /// What each worker's stream yields (without workers: the first one is the main thread's).
    Streams(Vec<Vec<u64>>),
}

/// What a loader will yield.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Order {
    /// `len(loader)`: batches in an epoch; `None` if nobody knows.
    pub len: Option<usize>,
    /// The indices of each batch of each epoch.
    pub epochs: Vec<Vec<Vec<u64>>>,
    /// The worker of each batch of each epoch; -1: the main thread.
    pub workers: Vec<Vec<i64>>,
    /// The seed of each worker in each epoch.
    pub seeds: Vec<Vec<u64>>,
}

/// The order of these options. With several workers it holds for `in_order=True`; without, the order depends on time.
///
/// # Errors
/// If the options contradict each other, or the sampler fails.
pub fn order(options: &RunOptions, samples: &Samples) -> Result<Order, EngineError> {
    let plan = match samples {
        Samples::Map(len) => Plan::of(options, DataLen::from(*len))?,
        Samples::Streams(_) => Plan::of_stream(options)?,
    };
    let mut order = Order {
        len: match samples {
            Samples::Map(_) => Some(plan.index.len()),
            Samples::Streams(_) => None,
        },
        epochs: Vec::new(),
        workers: Vec::new(),
        seeds: Vec::new(),
    };
    let mut base_seed = None;
    for epoch in 0..options.epochs {
        plan.set_epoch(u64::from(epoch));
        // As the loader does: the base seed first, unless the workers live on.
        let kept = base_seed.filter(|_| options.persistent_workers);
        let seed = match kept {
            Some(seed) => seed,
            None => {
                let generator = plan.generator.as_ref().unwrap_or(&plan.default_generator);
                lock_generator(generator).random_i64() as u64
            }
        };
        base_seed = Some(seed);
        let ids = 0..options.num_workers as u64;
        order
            .seeds
            .push(ids.map(|id| seed.wrapping_add(id)).collect());
        let (batches, workers) = match samples {
            Samples::Map(_) => of_map(options, &plan.index)?,
            Samples::Streams(streams) => of_streams(options, streams),
        };
        order.epochs.push(batches);
        order.workers.push(workers);
    }
    Ok(order)
}

/// The order of the data set that the options name. Only its length is looked at.
///
/// # Errors
/// As [`order`]; and if the data set cannot be opened.
pub fn order_of_dataset(options: &RunOptions) -> Result<Order, EngineError> {
    let spec: DatasetSpec = options.dataset.parse()?;
    let samples = match &spec {
        // Made-up samples need not be made.
        DatasetSpec::Synthetic(model) => Samples::Map(model.len),
        DatasetSpec::Stream(model) => {
            let workers = options.num_workers;
            let stream = |id: usize| {
                let worker = (workers > 0).then_some((id, workers));
                model.samples(worker).map(|i| i as u64).collect()
            };
            Samples::Streams((0..workers.max(1)).map(stream).collect())
        }
        _ => Samples::Map(spec.open(options.image_size)?.len()),
    };
    order(options, &samples)
}

type Epoch = (Vec<Vec<u64>>, Vec<i64>);

/// Task `i` goes to worker `i % num_workers`, whatever the load.
fn of_map(options: &RunOptions, index: &Index) -> Result<Epoch, EngineError> {
    let mut batches = Vec::new();
    for request in index.iter() {
        let request: Request = request?;
        let indices = request.indices().iter().map(|&i| i as u64);
        batches.push(indices.collect());
    }
    let worker = |i: usize| match i.checked_rem(options.num_workers) {
        Some(worker) => worker as i64,
        None => -1,
    };
    let workers = (0..batches.len()).map(worker).collect();
    Ok((batches, workers))
}

/// In every round each worker whose stream has not ended yields one batch, by its number.
fn of_streams(options: &RunOptions, streams: &[Vec<u64>]) -> Epoch {
    let size = options.batch_size.unwrap_or(1).max(1);
    let mut parts: Vec<_> = streams
        .iter()
        .take(options.num_workers.max(1))
        .map(|stream| stream.chunks(size))
        .collect();
    let (mut batches, mut workers) = (Vec::new(), Vec::new());
    let mut any = true;
    while any {
        any = false;
        for (worker, part) in parts.iter_mut().enumerate() {
            let full = |batch: &&[u64]| !options.drop_last || batch.len() == size;
            if let Some(batch) = part.next().filter(full) {
                any = true;
                batches.push(batch.to_vec());
                workers.push(if options.num_workers == 0 {
                    -1
                } else {
                    worker as i64
                });
            }
        }
    }
    (batches, workers)
}
