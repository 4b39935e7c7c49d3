//! Text form of a sampler.

use std::str::FromStr;

use crate::error::LoaderError;
use loadscope_words::say;

/// Sampler that [`RunOptions::sampler`] names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SamplerSpec {
    /// Random or sequential, as `shuffle` determines.
    ByShuffle,
    Sequential,
    Random,
    /// File of indices.
    Subset(String),
    /// File of weights, one per sample.
    Weighted(String),
    Distributed,
    /// Weights that draw all classes equally often.
    Balanced,
    /// File of labels.
    Equi(String),
    /// Labels of the dataset.
    EquiLabels,
    /// Distinct values of a column in each batch.
    Group(String),
    /// Samples of similar length in each batch.
    Bucket,
}

impl FromStr for SamplerSpec {
    type Err = LoaderError;

    fn from_str(text: &str) -> Result<Self, LoaderError> {
        let (kind, path) = match text.split_once(':') {
            Some((kind, path)) => (kind, Some(path.to_owned())),
            None => (text, None),
        };
        Ok(match (kind, path) {
            ("", None) => Self::ByShuffle,
            ("sequential", None) => Self::Sequential,
            ("random", None) => Self::Random,
            ("distributed", None) => Self::Distributed,
            ("subset", Some(path)) if !path.is_empty() => Self::Subset(path),
            ("weighted", Some(path)) if path == "balanced" => Self::Balanced,
            ("equi", Some(path)) if path == "labels" => Self::EquiLabels,
            ("bucket", Some(path)) if path == "len" => Self::Bucket,
            ("group", Some(column)) if !column.is_empty() => Self::Group(column),
            ("weighted", Some(path)) if !path.is_empty() => Self::Weighted(path),
            ("equi", Some(path)) if !path.is_empty() => Self::Equi(path),
            ("subset", _) => return Err(needs("subset", say!("a file: subset:PATH"))),
            ("weighted", _) => {
                return Err(needs(
                    "weighted",
                    say!("a file, or the classes: weighted:PATH or weighted:balanced"),
                ));
            }
            ("equi", _) => {
                return Err(needs(
                    "equi",
                    say!("a file, or the classes: equi:PATH or equi:labels"),
                ));
            }
            ("group", _) => return Err(needs("group", say!("a column: group:COLUMN"))),
            ("bucket", _) => return Err(needs("bucket", say!("the lengths: bucket:len"))),
            _ => {
                return Err(LoaderError::Spec(say!(
                    "unknown sampler {text:?}. Valid: sequential, random, subset:FILE, weighted:FILE, weighted:balanced, distributed, equi:FILE, equi:labels, group:COLUMN and bucket:len."
                )));
            }
        })
    }
}

fn needs(kind: &str, what: &str) -> LoaderError {
    LoaderError::Spec(say!("the sampler {kind} needs {what}"))
}

impl SamplerSpec {
    /// Returns true if the sampler creates batches. Its batch size is its own argument.
    pub(super) fn makes_batches(&self) -> bool {
        match self {
            Self::Equi(_) | Self::EquiLabels | Self::Group(_) | Self::Bucket => true,
            Self::ByShuffle
            | Self::Sequential
            | Self::Random
            | Self::Subset(_)
            | Self::Weighted(_)
            | Self::Balanced
            | Self::Distributed => false,
        }
    }

    /// Returns true if the sampler splits the samples among ranks.
    pub(super) fn shares(&self) -> bool {
        self.makes_batches()
            || matches!(self, Self::Distributed | Self::Weighted(_) | Self::Balanced)
    }
}
