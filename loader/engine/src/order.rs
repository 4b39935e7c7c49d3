//! Which batches a loader will yield, of datasets that are opened here.

use loadscope_trace::RunOptions;

pub use loadscope_plan::order::*;

use crate::dataset::Opening;
use crate::error::LoaderError;

/// The order of the dataset that the options name. Only its length is looked at.
///
/// # Errors
/// As [`order`]; and if the dataset cannot be opened.
pub fn order_of_dataset(options: &RunOptions) -> Result<Order, LoaderError> {
    loadscope_plan::order::order_of_dataset(options, &Opening)
}

/// The samples of the dataset that the options name. Only its length is looked at.
///
/// # Errors
/// If the dataset cannot be opened.
pub fn samples_of_dataset(options: &RunOptions) -> Result<Samples, LoaderError> {
    loadscope_plan::order::samples_of_dataset(options, &Opening)
}

/// What is known of the samples of the dataset that the options name.
///
/// # Errors
/// If the dataset cannot be opened, or the file of weights cannot be read.
pub fn knowledge(options: &RunOptions) -> Result<Knowledge, LoaderError> {
    loadscope_plan::order::knowledge(options, &Opening)
}
