//! Which batches a loader will yield, without loading anything: PyTorch's order for these options and this seed.

use loadscope_trace::RunOptions;
use serde::Serialize;

use crate::dataset::{Dataset as _, DatasetSpec, Digits, ImageFolder};
use crate::error::EngineError;
use crate::fetch::Request;
use crate::loader::Index;
use crate::plan::{Plan, weights};
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
    let mut order = Order {
        len: None,
        epochs: Vec::new(),
        workers: Vec::new(),
        seeds: Vec::new(),
    };
    order.len = each_epoch(options, samples, &mut |epoch| {
        order
            .epochs
            .push(epoch.batches().map(<[u64]>::to_vec).collect());
        order.workers.push(epoch.workers);
        order.seeds.push(epoch.seeds);
        true
    })?;
    Ok(order)
}

/// One epoch of an order, its batches one behind the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EpochOrder {
    /// Its number, from 0.
    pub epoch: u32,
    /// The indices in the order in which they are asked for.
    pub indices: Vec<u64>,
    /// For each batch, where in `indices` it ends.
    pub ends: Vec<usize>,
    /// The worker of each batch; -1: the main thread.
    pub workers: Vec<i64>,
    /// The seed of each worker.
    pub seeds: Vec<u64>,
}

impl EpochOrder {
    /// The indices of each batch.
    pub fn batches(&self) -> impl Iterator<Item = &[u64]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let batch = &self.indices[start..end];
            start = end;
            batch
        })
    }

    fn push(&mut self, batch: impl IntoIterator<Item = u64>, worker: i64) {
        self.indices.extend(batch);
        self.ends.push(self.indices.len());
        self.workers.push(worker);
    }
}

/// Hands the epochs of these options to `each`, one after the other, until it returns false; tells `len(loader)`, if anybody
/// knows it. As [`order`], without keeping what nobody wants to look at any more.
///
/// # Errors
/// As [`order`].
pub fn each_epoch(
    options: &RunOptions,
    samples: &Samples,
    each: &mut dyn FnMut(EpochOrder) -> bool,
) -> Result<Option<usize>, EngineError> {
    let plan = match samples {
        Samples::Map(len) => Plan::of(options, DataLen::from(*len))?,
        Samples::Streams(_) => Plan::of_stream(options)?,
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
        let mut order = match samples {
            Samples::Map(_) => of_map(options, &plan.index)?,
            Samples::Streams(streams) => of_streams(options, streams),
        };
        order.epoch = epoch;
        let ids = 0..options.num_workers as u64;
        order.seeds = ids.map(|id| seed.wrapping_add(id)).collect();
        if !each(order) {
            break;
        }
    }
    Ok(match samples {
        Samples::Map(_) => Some(plan.index.len()),
        Samples::Streams(_) => None,
    })
}

/// The order of the data set that the options name. Only its length is looked at.
///
/// # Errors
/// As [`order`]; and if the data set cannot be opened.
pub fn order_of_dataset(options: &RunOptions) -> Result<Order, EngineError> {
    order(options, &samples_of_dataset(options)?)
}

/// The samples of the data set that the options name. Only its length is looked at.
///
/// # Errors
/// If the data set cannot be opened.
pub fn samples_of_dataset(options: &RunOptions) -> Result<Samples, EngineError> {
    let spec: DatasetSpec = options.dataset.parse()?;
    Ok(match &spec {
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
    })
}

/// What is known of the samples of a data set without loading one, and what its sampler was asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Knowledge {
    /// The class of each sample; `None`: only loading them would tell.
    pub labels: Option<Vec<u32>>,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// The weight of each sample, if the sampler is a weighted one.
    pub weights: Option<Vec<f64>>,
}

/// What is known of the samples of the data set that the options name.
///
/// # Errors
/// If the data set cannot be opened, or the file of weights cannot be read.
pub fn knowledge(options: &RunOptions) -> Result<Knowledge, EngineError> {
    let spec: DatasetSpec = options.dataset.parse()?;
    let mut known = Knowledge::default();
    match &spec {
        DatasetSpec::Digits => {
            let digits = Digits::new()?;
            known.labels = Some(digits.labels().map(u32::from).collect());
            known.classes = digits.classes().to_vec();
        }
        DatasetSpec::Folder { path } => {
            let folder = ImageFolder::open(path, options.image_size)?;
            known.labels = Some(folder.files().iter().map(|(_, class)| *class).collect());
            known.classes = folder.classes().to_vec();
        }
        _ => {}
    }
    let len = match samples_of_dataset(options)? {
        Samples::Map(len) => len,
        Samples::Streams(_) => return Ok(known),
    };
    known.weights = weights(options, len)?;
    Ok(known)
}

/// Task `i` goes to worker `i % num_workers`, whatever the load.
fn of_map(options: &RunOptions, index: &Index) -> Result<EpochOrder, EngineError> {
    let mut order = EpochOrder::default();
    for (i, request) in index.iter().enumerate() {
        let request: Request = request?;
        let worker = match i.checked_rem(options.num_workers) {
            Some(worker) => worker as i64,
            None => -1,
        };
        order.push(request.indices().iter().map(|&i| i as u64), worker);
    }
    Ok(order)
}

/// In every round each worker whose stream has not ended yields one batch, by its number.
fn of_streams(options: &RunOptions, streams: &[Vec<u64>]) -> EpochOrder {
    let size = options.batch_size.unwrap_or(1).max(1);
    let mut parts: Vec<_> = streams
        .iter()
        .take(options.num_workers.max(1))
        .map(|stream| stream.chunks(size))
        .collect();
    let mut order = EpochOrder::default();
    let mut any = true;
    while any {
        any = false;
        for (worker, part) in parts.iter_mut().enumerate() {
            let full = |batch: &&[u64]| !options.drop_last || batch.len() == size;
            if let Some(batch) = part.next().filter(full) {
                any = true;
                let worker = if options.num_workers == 0 {
                    -1
                } else {
                    worker as i64
                };
                order.push(batch.iter().copied(), worker);
            }
        }
    }
    order
}
