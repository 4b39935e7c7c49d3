//! What samplers have to know of the samples of a dataset.

use super::AnyDataset;
use crate::error::LoaderError;
use crate::plan::{Needed, SampleTable};

/// What is known of each sample without loading one.
///
/// # Errors
/// If a column cannot be read.
pub(crate) fn table(dataset: &AnyDataset, needed: &Needed) -> Result<SampleTable, LoaderError> {
    let mut table = SampleTable::of_len(dataset.len().unwrap_or_default());
    let AnyDataset::Map(dataset) = dataset else {
        return Ok(table);
    };
    match needed {
        Needed::Classes => table.classes = dataset.labels().map(Into::into),
        Needed::Groups(column) => {
            let groups = dataset.groups(column).transpose();
            let groups = groups.map_err(|e| LoaderError::Dataset(e.message))?;
            table.groups = groups.map(Into::into);
        }
        Needed::Lengths => table.lengths = dataset.lengths().map(Into::into),
    }
    Ok(table)
}
