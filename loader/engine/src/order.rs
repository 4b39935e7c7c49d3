//! Order of the batches that a loader will yield, with datasets opened by this crate.

use loadscope_trace::RunOptions;

pub use loadscope_plan::order::*;

use crate::dataset::OpeningCatalog;
use crate::error::LoaderError;

/// Returns the order for the dataset in the options. The order uses only the dataset's length.
///
/// # Errors
/// As [`order`], and if the dataset cannot be opened.
pub fn order_of_dataset(options: &RunOptions) -> Result<Order, LoaderError> {
    loadscope_plan::order::order_of_dataset(options, &OpeningCatalog)
}

/// Returns the samples of the dataset in the options. The result uses only the dataset's length.
///
/// # Errors
/// If the dataset cannot be opened.
pub fn samples_of_dataset(options: &RunOptions) -> Result<Samples, LoaderError> {
    loadscope_plan::order::samples_of_dataset(options, &OpeningCatalog)
}

/// Returns the known properties of the samples of the dataset in the options.
///
/// # Errors
/// If the dataset cannot be opened, or the file of weights cannot be read.
pub fn sample_metadata(options: &RunOptions) -> Result<SampleMetadata, LoaderError> {
    loadscope_plan::order::sample_metadata(options, &OpeningCatalog)
}
