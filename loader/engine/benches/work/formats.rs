//! Benchmarks of user data, through their datasets and the loader. The counterparts in Python are in `tests/peers/formats.py`.

use std::path::Path;

use loadscope_engine::collate::{CollateSite, collate_lists};
use loadscope_engine::dataset::{
    AnyDataset, Dataset, DatasetSpec, IterableDataset, OpenDataset as _,
};
use loadscope_engine::fetch::{Collate, DefaultCollate, MapFetcher, Stacking, StreamFetcher};
use loadscope_engine::rng::shared_generator;
use loadscope_engine::value::{Key, Value};
use loadscope_engine::{DataLoader, LoaderBuilder, LoaderError, Probe};
use tch::{Kind, Tensor};

use super::data::numbers;

type Rows = dyn Dataset<Sample = Value>;
type Samples = dyn IterableDataset<Sample = Value>;
/// Collate function, for equal shapes or for variable sizes.
#[derive(Clone, Copy)]
pub enum Together {
    /// `default_collate`.
    Stack,
    /// Lists for each field.
    Lists,
}

impl Collate<Value> for Together {
    type Batch = Value;

    fn collate(&self, samples: Vec<Value>, site: CollateSite) -> Result<Value, LoaderError> {
        match self {
            Self::Stack => DefaultCollate.collate(samples, site),
            Self::Lists => collate_lists(samples),
        }
    }

    fn stacking(&self) -> Option<Stacking<Value>> {
        match self {
            Self::Stack => Collate::<Value>::stacking(&DefaultCollate),
            Self::Lists => None,
        }
    }
}

/// Benchmark of one data format.
pub struct FormatWork {
    /// Dataset specification for the files in a folder.
    dataset: fn(&str) -> String,
    batch_size: usize,
    together: Together,
    /// Name of the field whose numbers are checked. Empty means the first number of each sample.
    pub field: &'static str,
}

const WORKS: &[(&str, FormatWork)] = &[
    (
        "formats-voc",
        FormatWork {
            dataset: |at| format!("voc:{at}/pictures/voc,year=2012"),
            batch_size: 8,
            together: Together::Lists,
            field: "labels",
        },
    ),
    (
        "formats-coco",
        FormatWork {
            dataset: |at| {
                format!(
                    "coco:{at}/pictures/coco/images,{at}/pictures/coco/instances.json,masks=false"
                )
            },
            batch_size: 8,
            together: Together::Lists,
            field: "labels",
        },
    ),
    (
        "formats-coco-masks",
        FormatWork {
            dataset: |at| {
                format!("coco:{at}/pictures/coco/images,{at}/pictures/coco/instances.json")
            },
            batch_size: 8,
            together: Together::Lists,
            field: "labels",
        },
    ),
    (
        "formats-webdataset",
        FormatWork {
            dataset: |at| {
                format!(
                    "webdataset:{at}/shards/pictures-{{000..003}}.tar,fields=jpg;cls,size=original"
                )
            },
            batch_size: 8,
            together: Together::Lists,
            field: "1",
        },
    ),
    (
        "formats-webdataset-small",
        FormatWork {
            dataset: |at| format!("webdataset:{at}/shards/small-{{000..003}}.tar,fields=npy;cls"),
            batch_size: 64,
            together: Together::Stack,
            field: "1",
        },
    ),
    (
        "formats-csv",
        FormatWork {
            dataset: |at| format!("csv:{at}/tables/rows.csv"),
            batch_size: 64,
            together: Together::Stack,
            field: "label",
        },
    ),
    (
        "formats-parquet",
        FormatWork {
            dataset: |at| format!("parquet:{at}/tables/rows.parquet"),
            batch_size: 64,
            together: Together::Stack,
            field: "label",
        },
    ),
    (
        "formats-arrow",
        FormatWork {
            dataset: |at| format!("arrow:{at}/tables/saved"),
            batch_size: 64,
            together: Together::Stack,
            field: "label",
        },
    ),
    (
        "formats-npy",
        FormatWork {
            dataset: |at| format!("npy:{at}/tables/windows.npy,window=64"),
            batch_size: 64,
            together: Together::Stack,
            field: "",
        },
    ),
    (
        "formats-sqlite",
        FormatWork {
            dataset: |at| {
                format!("sql:sqlite:{at}/tables/rows.sqlite,query=SELECT * FROM items,index=id")
            },
            batch_size: 64,
            together: Together::Stack,
            field: "label",
        },
    ),
];

/// Returns the work with that name.
pub fn work(name: &str) -> Option<&'static FormatWork> {
    WORKS
        .iter()
        .find(|(id, _)| *id == name)
        .map(|(_, work)| work)
}

/// A loader of either style.
pub enum Loader {
    Map(DataLoader<MapFetcher<Rows, Together>>),
    Stream(DataLoader<StreamFetcher<Samples, Together>>),
}

impl FormatWork {
    /// Returns the loader, with a generator of seed 0. Map-style datasets are shuffled.
    pub fn loader(
        &self,
        folder: &Path,
        workers: usize,
        probe: Probe,
    ) -> Result<Loader, LoaderError> {
        let folder = folder.display().to_string();
        let spec: DatasetSpec = (self.dataset)(&folder).parse()?;
        Ok(match spec.open_any(224)? {
            AnyDataset::Map(rows) => {
                let built = LoaderBuilder::new(rows)
                    .batch_size(self.batch_size)
                    .shuffle(true)
                    .num_workers(workers)
                    .generator(shared_generator(0))
                    .collate_fn(self.together)
                    .build()?;
                Loader::Map(built.observed(probe))
            }
            AnyDataset::Iterable(samples) => {
                let built = LoaderBuilder::iterable(samples)
                    .batch_size(self.batch_size)
                    .num_workers(workers)
                    .generator(shared_generator(0))
                    .collate_fn(self.together)
                    .build()?;
                Loader::Stream(built.observed(probe))
            }
        })
    }

    /// Returns a number for each sample of a batch.
    pub fn seen(&self, batch: &Value) -> Vec<u64> {
        let mut found = Vec::new();
        collect(batch, self.field, false, &mut found);
        found
    }
}

/// Collects the numbers of the fields with that name, summed per sample if each sample has its own.
///
/// In a batch without names, collects those at its position, or the first of each sample.
fn collect(value: &Value, field: &str, is_sample: bool, found: &mut Vec<u64>) {
    match value {
        Value::Map(fields) => {
            let wanted = fields
                .entries
                .iter()
                .filter(|(key, _)| *key == Key::from(field));
            let mut inside = Vec::new();
            wanted.for_each(|(_, value)| all(value, &mut inside));
            match is_sample {
                true => found.push(inside.iter().sum()),
                false => found.append(&mut inside),
            }
        }
        Value::Tensor(tensor) if field.is_empty() => {
            let first: Tensor = tensor.flatten(1, -1).select(1, 0);
            found.extend(numbers(&first.to_kind(Kind::Int64)));
        }
        Value::List(parts) | Value::Tuple(parts) => match field.parse::<usize>() {
            Ok(at) => parts
                .iter()
                .skip(at)
                .take(1)
                .for_each(|part| all(part, found)),
            Err(_) => parts
                .iter()
                .for_each(|part| collect(part, field, true, found)),
        },
        _ => {}
    }
}

/// Collects all whole numbers in a value.
fn all(value: &Value, found: &mut Vec<u64>) {
    match value {
        Value::Tensor(tensor) => found.extend(numbers(&tensor.to_kind(Kind::Int64))),
        Value::Int(number) => found.push(*number as u64),
        Value::List(parts) | Value::Tuple(parts) => parts.iter().for_each(|part| all(part, found)),
        _ => {}
    }
}
