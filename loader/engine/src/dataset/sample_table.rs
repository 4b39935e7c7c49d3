//! Properties of samples that samplers need.

use super::AnyDataset;
use crate::error::LoaderError;
use crate::plan::{RequiredColumn, SampleTable};

/// Returns the needed property of each sample, without loading samples.
///
/// # Errors
/// If a column cannot be read.
pub(crate) fn sample_table(
    dataset: &AnyDataset,
    needed: &RequiredColumn,
) -> Result<SampleTable, LoaderError> {
    let mut table = SampleTable::of_len(dataset.len().unwrap_or_default());
    let AnyDataset::Map(dataset) = dataset else {
        return Ok(table);
    };
    match needed {
        RequiredColumn::Classes => table.classes = dataset.labels().map(Into::into),
        RequiredColumn::Groups(column) => {
            let groups = dataset.groups(column).transpose();
            let groups = groups.map_err(|e| LoaderError::Dataset(e.message))?;
            table.groups = groups.map(Into::into);
        }
        RequiredColumn::Lengths => table.lengths = dataset.lengths().map(Into::into),
    }
    Ok(table)
}
