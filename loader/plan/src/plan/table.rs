//! Data of the samples of a dataset for samplers.

use std::sync::Arc;

use loadscope_trace::RunOptions;
use loadscope_words::say;

use super::spec::SamplerSpec;
use crate::error::LoaderError;

/// Data that a sampler needs of each sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequiredColumn {
    /// Class of the sample.
    Classes,
    /// Value of the sample in this column.
    Groups(String),
    /// Length of the sample, such as its number of tokens.
    Lengths,
}

impl RequiredColumn {
    /// Name of the column of classes: `group:label`.
    pub const LABEL: &str = "label";

    /// Returns the data that the sampler of these options needs, or `None` if it needs none.
    ///
    /// # Errors
    /// If the sampler is unknown.
    pub fn for_sampler(options: &RunOptions) -> Result<Option<Self>, LoaderError> {
        Ok(match options.sampler.parse()? {
            SamplerSpec::Balanced | SamplerSpec::EquiLabels => Some(Self::Classes),
            SamplerSpec::Group(column) => Some(Self::Groups(column)),
            SamplerSpec::Bucket => Some(Self::Lengths),
            SamplerSpec::ByShuffle
            | SamplerSpec::Sequential
            | SamplerSpec::Random
            | SamplerSpec::Subset(_)
            | SamplerSpec::Weighted(_)
            | SamplerSpec::Distributed
            | SamplerSpec::Equi(_) => None,
        })
    }

    /// Returns the error for missing data.
    pub fn missing(&self) -> LoaderError {
        let what = match self {
            Self::Classes => say!("this sampler needs the class of each sample, which is known only after loading. Name a column of classes (label=COLUMN) or a file of labels.")
                .to_owned(),
            Self::Groups(column) => say!(
                "group:{column} needs the values of {column}, which are known only after loading. Choose a column of a table, or group:label for the classes."
            ),
            Self::Lengths => say!("bucket:len needs the length of each sample, which is known only after loading. Choose a dataset of text or audio.")
                .to_owned(),
        };
        LoaderError::Dataset(what)
    }
}

/// Known data of the samples of a dataset. `None`: unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SampleTable {
    /// Number of samples.
    pub len: usize,
    /// Class of each sample.
    pub classes: Option<Arc<[u32]>>,
    /// Group of each sample. Samples with the same value of the column have the same number.
    pub groups: Option<Arc<[u32]>>,
    /// Length of each sample.
    pub lengths: Option<Arc<[u64]>>,
}

impl SampleTable {
    /// Returns a table with only the number of samples.
    pub fn of_len(len: usize) -> Self {
        Self {
            len,
            ..Self::default()
        }
    }

    pub(super) fn classes(&self) -> Result<&[u32], LoaderError> {
        self.whole(self.classes.as_deref(), RequiredColumn::Classes)
    }

    pub(super) fn groups(&self, column: &str) -> Result<&[u32], LoaderError> {
        self.whole(
            self.groups.as_deref(),
            RequiredColumn::Groups(column.to_owned()),
        )
    }

    pub(super) fn lengths(&self) -> Result<&[u64], LoaderError> {
        self.whole(self.lengths.as_deref(), RequiredColumn::Lengths)
    }

    /// Returns a column that has a value for each sample.
    fn whole<'a, T>(
        &self,
        column: Option<&'a [T]>,
        what: RequiredColumn,
    ) -> Result<&'a [T], LoaderError> {
        column
            .filter(|column| column.len() == self.len)
            .ok_or_else(|| what.missing())
    }
}
