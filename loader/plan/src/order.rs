//! Batches that a loader will yield, without loading anything. The order is PyTorch's for the same options and seed.

mod orders;

use loadscope_trace::RunOptions;
use loadscope_words::say;
use serde::Serialize;

use crate::dataset::{Catalog, DatasetSpec};
use crate::error::LoaderError;
use crate::limits::grouped;
use crate::plan::{RequiredColumn, SampleTable, weights};

pub use orders::{EpochBatches, Orders, Samples, Streams, epoch_of_streams, indices};

/// Maximum number of indices of an epoch that is kept in memory.
const MAX_KEPT: u64 = 100_000_000;

/// Batches that a loader will yield.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Order {
    /// `len(loader)`: batches per epoch. `None`: unknown.
    pub len: Option<usize>,
    /// Indices of each batch of each epoch.
    pub epochs: Vec<Vec<Vec<u64>>>,
    /// Worker of each batch of each epoch. -1: the main process.
    pub workers: Vec<Vec<i64>>,
    /// Seed of each worker in each epoch.
    pub seeds: Vec<Vec<u64>>,
}

/// Returns the order for these options. With several workers it applies to `in_order=True`. With `in_order=False` the order depends
/// on timing.
///
/// # Errors
/// If the options contradict each other, or the sampler fails.
pub fn order(options: &RunOptions, samples: &Samples) -> Result<Order, LoaderError> {
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

/// Order of one epoch, with its batches concatenated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EpochOrder {
    /// Number of the epoch, from 0.
    pub epoch: u32,
    /// Indices in the order of the tasks.
    pub indices: Vec<u64>,
    /// End of each batch in `indices`.
    pub ends: Vec<usize>,
    /// Worker of each batch. -1: the main process.
    pub workers: Vec<i64>,
    /// Seed of each worker.
    pub seeds: Vec<u64>,
}

impl EpochOrder {
    /// Returns the indices of each batch.
    pub fn batches(&self) -> impl Iterator<Item = &[u64]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let batch = &self.indices[start..end];
            start = end;
            batch
        })
    }

    fn of(batches: &mut EpochBatches<'_>) -> Result<Self, LoaderError> {
        let mut order = Self {
            epoch: batches.epoch(),
            seeds: batches.seeds().collect(),
            ..Self::default()
        };
        for batch in batches {
            let (indices, worker) = batch?;
            order.indices.extend(indices);
            order.ends.push(order.indices.len());
            order.workers.push(worker);
        }
        Ok(order)
    }
}

/// Calls `each` with the epochs of these options in sequence until it returns false. Returns `len(loader)`, if known. Unlike
/// [`order`], it keeps only one epoch in memory.
///
/// # Errors
/// As [`order`], and if an epoch has too many indices for memory.
pub fn each_epoch(
    options: &RunOptions,
    samples: &Samples,
    each: &mut dyn FnMut(EpochOrder) -> bool,
) -> Result<Option<usize>, LoaderError> {
    let mut orders = Orders::of(options, samples)?;
    let count = orders.indices();
    if count > MAX_KEPT {
        return Err(LoaderError::Spec(say!(
            "an epoch of {} samples is too long to analyze: the limit is {}. Choose a smaller dataset.",
            grouped(count),
            grouped(MAX_KEPT)
        )));
    }
    orders.each(|batches| Ok::<_, LoaderError>(each(EpochOrder::of(batches)?)))?;
    Ok(orders.len())
}

/// Returns the order of the dataset that the options name. It opens the dataset only for its length and its sampler's data.
///
/// # Errors
/// As [`order`], and if the dataset cannot be opened.
pub fn order_of_dataset(options: &RunOptions, catalog: &dyn Catalog) -> Result<Order, LoaderError> {
    order(options, &samples_of_dataset(options, catalog)?)
}

/// Returns the samples of the dataset that the options name. It opens the dataset only for its length and its sampler's data.
///
/// # Errors
/// If the dataset cannot be opened.
pub fn samples_of_dataset(
    options: &RunOptions,
    catalog: &dyn Catalog,
) -> Result<Samples, LoaderError> {
    let spec: DatasetSpec = options.dataset.parse()?;
    Ok(match &spec {
        // Synthetic datasets need no lookup.
        DatasetSpec::Synthetic(model) => Samples::Map(model.len),
        DatasetSpec::Stream(model) => Samples::Streams(Streams::Made(model.clone())),
        DatasetSpec::Data(data) if data.is_stream() => {
            return Err(LoaderError::Spec(say!(
                "{}: the worker of each sample is known only after loading. Choose a dataset with an index.",
                data.format().word
            )));
        }
        DatasetSpec::Digits
        | DatasetSpec::Folder { .. }
        | DatasetSpec::Tokens(_)
        | DatasetSpec::Data(_) => match RequiredColumn::for_sampler(options)? {
            None => {
                let entry = catalog.look_up(&spec, options.image_size)?;
                Samples::Map(entry.len.unwrap_or_default())
            }
            Some(needed) => Samples::Known(catalog.table(&spec, options.image_size, &needed)?),
        },
    })
}

/// Properties of the samples of a dataset that are known without loading one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SampleMetadata {
    /// Class of each sample. `None`: unknown before loading.
    pub labels: Option<Vec<u32>>,
    /// Class names.
    pub classes: Vec<String>,
    /// Weight of each sample, if the sampler is a weighted one.
    pub weights: Option<Vec<f64>>,
}

/// Returns the known properties of the samples of the dataset that the options name.
///
/// # Errors
/// If the dataset cannot be opened, or the file of weights cannot be read.
pub fn sample_metadata(
    options: &RunOptions,
    catalog: &dyn Catalog,
) -> Result<SampleMetadata, LoaderError> {
    let spec: DatasetSpec = options.dataset.parse()?;
    let entry = catalog.look_up(&spec, options.image_size)?;
    let mut known = SampleMetadata {
        labels: entry.labels,
        classes: entry.classes,
        weights: None,
    };
    if !spec.is_stream() {
        let table = SampleTable {
            classes: known.labels.as_deref().map(Into::into),
            ..SampleTable::of_len(entry.len.unwrap_or_default())
        };
        known.weights = weights(options, &table)?;
    }
    Ok(known)
}
