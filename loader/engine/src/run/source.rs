//! Dataset and loader of a run.

use std::sync::Arc;

use loadscope_plan::dataset::check_extra_cost;
use loadscope_trace::RunOptions;

use super::collate::ValueCollate;
use super::lenient::{LeftOut, Lenient};
use crate::dataset::{
    AnyDataset, Dataset, DatasetSpec, IterableDataset, OpenDataset as _, SlowMotion, Slowed,
    SlowedStream, StreamPlace, data_len, sample_table,
};
use crate::error::LoaderError;
use crate::fetch::{Fetch, Fetcher, MapFetcher, StreamFetcher};
use crate::limits::Epoch;
use crate::loader::{DataLoader, DatasetInfo, LoaderParts};
use crate::order::{Streams, epoch_of_streams, indices};
use crate::plan::{Plan, RequiredColumn};
use crate::value::Value;

/// Fetch function for batches of values, from a dataset of either style.
pub(super) enum ValueFetch {
    Map(MapFetcher<dyn Dataset<Sample = Value>, ValueCollate>),
    Stream(StreamFetcher<dyn IterableDataset<Sample = Value>, ValueCollate>),
}

impl Fetch for ValueFetch {
    type Batch = Value;

    fn start(&self) -> Result<Box<dyn Fetcher<Batch = Value>>, LoaderError> {
        match self {
            Self::Map(fetch) => fetch.start(),
            Self::Stream(fetch) => fetch.start(),
        }
    }
}

/// Opens the dataset, with the requested extra cost.
pub(crate) fn open(options: &RunOptions, spec: &DatasetSpec) -> Result<AnyDataset, LoaderError> {
    let place = StreamPlace {
        rank: options.rank,
        world_size: options.world_size,
        seed: options.seed.or(options.global_seed).unwrap_or_default(),
    };
    match spec.open_at(options.image_size, place)? {
        dataset if options.extra_cost.is_empty() => Ok(dataset),
        AnyDataset::Map(dataset) => Ok(AnyDataset::map(Slowed::new(dataset, &options.extra_cost)?)),
        AnyDataset::Iterable(dataset) => {
            check_extra_cost(options, spec)?;
            let slowed = SlowedStream::new(dataset, &options.extra_cost)?;
            Ok(AnyDataset::iterable(slowed))
        }
    }
}

/// Returns the dataset in slow motion: each sample takes `factor` times as long.
pub(crate) fn in_slow_motion(dataset: AnyDataset, factor: u32) -> AnyDataset {
    match dataset {
        dataset if factor <= 1 => dataset,
        AnyDataset::Map(dataset) => AnyDataset::map(SlowMotion::new(dataset, factor)),
        AnyDataset::Iterable(dataset) => AnyDataset::iterable(SlowMotion::new(dataset, factor)),
    }
}

pub(super) fn plan(options: &RunOptions, dataset: &AnyDataset) -> Result<Plan, LoaderError> {
    match dataset {
        AnyDataset::Map(map) => match RequiredColumn::for_sampler(options)? {
            None => Plan::of(options, data_len(map)),
            Some(needed) => {
                Plan::of_table(options, data_len(map), &sample_table(dataset, &needed)?)
            }
        },
        AnyDataset::Iterable(_) => Plan::of_stream(options),
    }
}

/// Returns the batches and samples of an epoch.
pub(super) fn epoch(options: &RunOptions, plan: &Plan, spec: &DatasetSpec) -> Epoch {
    match spec {
        DatasetSpec::Stream(model) => epoch_of_streams(options, Streams::Made(model.clone())),
        // The number of samples per worker is unknown.
        spec if spec.is_stream() => Epoch::default(),
        _ => Epoch {
            batches: plan.index.len() as u64,
            samples: indices(&plan.index, options),
        },
    }
}

/// Builds the loader of the plan. With `left_out`, failed samples are skipped and counted.
pub(super) fn loader(
    options: &RunOptions,
    plan: &Plan,
    dataset: &AnyDataset,
    left_out: Option<&Arc<LeftOut>>,
) -> Result<DataLoader<ValueFetch>, LoaderError> {
    let drop_last = options.drop_last;
    let collate = ValueCollate::new(options);
    let (fetch, name) = match dataset {
        AnyDataset::Map(dataset) => {
            let dataset: Arc<dyn Dataset<Sample = Value>> = match left_out {
                Some(left_out) => Arc::new(Lenient::new(Arc::clone(dataset), left_out)),
                None => Arc::clone(dataset),
            };
            let fetch = MapFetcher::new(dataset, collate);
            (ValueFetch::Map(fetch), "Dataset".to_owned())
        }
        AnyDataset::Iterable(dataset) => {
            let name = dataset.type_name().to_owned();
            let dataset: Arc<dyn IterableDataset<Sample = Value>> = match left_out {
                Some(left_out) => Arc::new(Lenient::new(Arc::clone(dataset), left_out)),
                None => Arc::clone(dataset),
            };
            let fetch = StreamFetcher::new(dataset, collate, drop_last);
            (ValueFetch::Stream(fetch), name)
        }
    };
    let len = dataset.clone();
    let dataset_info = DatasetInfo {
        len: Arc::new(move || len.len()),
        name,
    };
    let parts = LoaderParts {
        options: options.into(),
        generator: plan.generator.clone(),
        default_generator: Some(Arc::clone(&plan.default_generator)),
        ..LoaderParts::default()
    };
    parts.assemble(fetch, plan.index.clone(), dataset_info)
}
