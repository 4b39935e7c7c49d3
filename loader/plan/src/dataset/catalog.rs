//! What is known of a dataset without loading its samples.

use std::sync::Arc;

use loadscope_trace::without_password;
use loadscope_words::say;

use super::DatasetSpec;
use crate::error::LoaderError;
use crate::plan::{Needed, SampleTable};

/// The handwritten digits that are built into the embedded engine.
pub const DIGITS: usize = 1797;

/// What is known of a dataset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// `len(dataset)`, samples; `None`: it has no length.
    pub len: Option<usize>,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// The class of each sample; `None`: only loading them would tell.
    pub labels: Option<Vec<u32>>,
}

/// Looks datasets up. What opens files is above this crate.
pub trait Catalog {
    /// What is known of the dataset that `spec` names. `image_size` is the side of the square that pictures are resized to.
    ///
    /// # Errors
    /// If the dataset cannot be opened.
    fn look_up(&self, spec: &DatasetSpec, image_size: u32) -> Result<Entry, LoaderError>;

    /// What a sampler has to know of each sample of the dataset that `spec` names. What is not known is not in the table.
    ///
    /// # Errors
    /// If the dataset cannot be opened.
    fn table(
        &self,
        spec: &DatasetSpec,
        image_size: u32,
        needed: &Needed,
    ) -> Result<SampleTable, LoaderError> {
        let entry = self.look_up(spec, image_size)?;
        let labels: Option<Arc<[u32]>> = entry.labels.map(Into::into);
        let table = SampleTable::of_len(entry.len.unwrap_or_default());
        Ok(match needed {
            Needed::Classes => SampleTable {
                classes: labels,
                ..table
            },
            Needed::Groups(column) if column == Needed::LABEL => SampleTable {
                groups: labels,
                ..table
            },
            Needed::Groups(_) | Needed::Lengths => table,
        })
    }
}

/// The datasets that are known without opening anything: those that are made up, and the length of the digits.
#[derive(Clone, Copy, Debug, Default)]
pub struct MadeUp;

impl Catalog for MadeUp {
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
