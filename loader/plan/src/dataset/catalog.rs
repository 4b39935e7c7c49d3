//! Properties of a dataset that are known without loading its samples.

use std::sync::Arc;

use loadscope_trace::without_password;
use loadscope_words::say;

use super::DatasetSpec;
use crate::error::LoaderError;
use crate::plan::{RequiredColumn, SampleTable};

/// Number of handwritten digits that the embedded engine contains.
pub const DIGITS: usize = 1797;

/// Known properties of a dataset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// `len(dataset)`. `None`: it has no length.
    pub len: Option<usize>,
    /// Class names.
    pub classes: Vec<String>,
    /// Class of each sample. `None`: unknown before loading.
    pub labels: Option<Vec<u32>>,
}

/// Lookup of datasets. Implementations that open files are in crates above this one.
pub trait Catalog {
    /// Returns the known properties of the dataset `spec`. `image_size` is the side of the square to which images are resized, pixels.
    ///
    /// # Errors
    /// If the dataset cannot be opened.
    fn look_up(&self, spec: &DatasetSpec, image_size: u32) -> Result<Entry, LoaderError>;

    /// Returns the data per sample that a sampler needs of the dataset `spec`. Unknown data are missing in the table.
    ///
    /// # Errors
    /// If the dataset cannot be opened.
    fn table(
        &self,
        spec: &DatasetSpec,
        image_size: u32,
        needed: &RequiredColumn,
    ) -> Result<SampleTable, LoaderError> {
        let entry = self.look_up(spec, image_size)?;
        let labels: Option<Arc<[u32]>> = entry.labels.map(Into::into);
        let table = SampleTable::of_len(entry.len.unwrap_or_default());
        Ok(match needed {
            RequiredColumn::Classes => SampleTable {
                classes: labels,
                ..table
            },
            RequiredColumn::Groups(column) if column == RequiredColumn::LABEL => SampleTable {
                groups: labels,
                ..table
            },
            RequiredColumn::Groups(_) | RequiredColumn::Lengths => table,
        })
    }
}

/// Catalog of the datasets that need no file: the synthetic ones, and the length of the digits.
#[derive(Clone, Copy, Debug, Default)]
pub struct SyntheticCatalog;

impl Catalog for SyntheticCatalog {
    fn look_up(&self, spec: &DatasetSpec, _: u32) -> Result<Entry, LoaderError> {
        let of_len = |len| Entry {
            len: Some(len),
            ..Entry::default()
        };
        match spec {
            DatasetSpec::Synthetic(model) => Ok(of_len(model.len)),
            DatasetSpec::Stream(model) => Ok(of_len(model.len())),
            DatasetSpec::Digits => Ok(Entry {
                classes: (0..10).map(|digit| digit.to_string()).collect(),
                ..of_len(DIGITS)
            }),
            DatasetSpec::Folder { .. } | DatasetSpec::Tokens(_) | DatasetSpec::Data(_) => {
                Err(LoaderError::Dataset(say!(
                    "this build has no embedded loader, so {} cannot be opened. Choose digits, synthetic or stream.",
                    without_password(&spec.to_string())
                )))
            }
        }
    }
}
