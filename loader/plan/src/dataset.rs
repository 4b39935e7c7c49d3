//! Properties of datasets that are known without loading a sample: names, lengths, classes and simulated costs.

mod catalog;
mod cost;
mod spec;
mod stream;

pub use catalog::{Catalog, DIGITS, Entry, SyntheticCatalog};
pub use cost::{CostModel, Tail};
pub use spec::{
    ArrowSpec, AudioSpec, CocoSpec, CocoTask, CsvSpec, DataSpec, DatasetForm, DatasetSpec, Decode,
    Dialog, Format, JsonlSpec, LmdbSpec, NpySpec, NpzSpec, ParquetSpec, PictureSize,
    SafetensorsSpec, Separator, SqlSpec, TarSpec, TextSpec, TokenDtype, TokenSpec, VocSpec,
    VocTask, WebdatasetSpec, dataset_kind_of,
};
pub use stream::{Sharing, StreamModel};

use loadscope_trace::{Nanos, RunOptions};
use loadscope_words::say;

use crate::error::LoaderError;
use crate::keyvalue::{KeySet, KeyValue, KeyValueError};

/// Parses `text` as additional costs of a dataset of `len` samples.
///
/// # Errors
/// If the text is invalid, or sets the length or the shape. The dataset determines both.
pub fn extra_cost(text: &str, len: usize) -> Result<CostModel, LoaderError> {
    const OF_DATASET: [&str; 2] = ["len", "shape"];
    let key_set = KeySet::new(cost::KEYS);
    // The length allows a check of the indices.
    let base = CostModel {
        len: len.max(1),
        cost: Nanos::ZERO,
        ..CostModel::default()
    };
    let read = key_set.read(text).and_then(|all| {
        match all.iter().find(|given| OF_DATASET.contains(&given.key)) {
            Some(KeyValue { key, .. }) => Err(KeyValueError::Conflict(say!(
                "{key} cannot be set here: the dataset fixes it. Remove {key}."
            ))),
            None => base.with(&all),
        }
    });
    read.map_err(|mistake| {
        let possible = cost::KEYS.into_iter();
        let possible = KeySet::new(possible.filter(|key| !OF_DATASET.contains(&key.name)));
        LoaderError::Spec(say!("extra_cost={text}: {}", possible.sentence(&mistake)))
    })
}

/// Checks that the dataset of these options supports extra costs.
///
/// # Errors
/// If the dataset is iterable-style.
pub fn check_extra_cost(options: &RunOptions, spec: &DatasetSpec) -> Result<(), LoaderError> {
    match spec {
        DatasetSpec::Stream(_) if !options.extra_cost.is_empty() => Err(LoaderError::Spec(
            say!("extra_cost is for map-style datasets. Write the costs of an iterable-style dataset in its own text, as in stream:cost_ms=10.")
                .to_owned(),
        )),
        _ => Ok(()),
    }
}
