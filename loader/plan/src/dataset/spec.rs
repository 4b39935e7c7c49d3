//! Text form of a dataset: `digits`, `folder:PATH`, `tokens:PATH`, `voc:DIR`, `synthetic:len=24,cost_ms=50`, `stream:len=24`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use loadscope_trace::without_password;
use loadscope_words::say;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{CostModel, StreamModel};
use crate::error::LoaderError;
use crate::keyvalue::nearest;

mod data;
mod format;
mod media;
mod option;
mod tables;
mod tokens;

pub use data::{DataSpec, dataset_kind_of};
pub use format::{DatasetForm, Dialog, Format};
pub use media::{AudioSpec, CocoSpec, LmdbSpec, TarSpec, VocSpec, WebdatasetSpec};
pub use option::{CocoTask, Decode, PictureSize, Separator, VocTask};
pub use tables::{
    ArrowSpec, CsvSpec, JsonlSpec, NpySpec, NpzSpec, ParquetSpec, SafetensorsSpec, SqlSpec,
    TextSpec,
};
pub use tokens::{TokenDtype, TokenSpec};

/// Dataset to load. Its text form is also its serde form.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum DatasetSpec {
    /// Built-in handwritten digits.
    #[default]
    Digits,
    /// Folder of images with one subfolder per class.
    Folder {
        /// Path of the folder.
        path: PathBuf,
    },
    /// Windows of a file of tokens.
    Tokens(TokenSpec),
    /// Data in a common format: `voc:DIR`, `csv:FILE`, `sql:URL,query=…` and others.
    Data(Box<DataSpec>),
    /// Synthetic map-style dataset with given costs and failures.
    Synthetic(CostModel),
    /// Synthetic iterable-style dataset.
    Stream(StreamModel),
}

impl DatasetSpec {
    /// Returns true if the dataset is iterable-style.
    pub fn is_stream(&self) -> bool {
        match self {
            Self::Stream(_) => true,
            Self::Data(data) => data.is_stream(),
            Self::Digits | Self::Folder { .. } | Self::Tokens(_) | Self::Synthetic(_) => false,
        }
    }

    /// Returns the size of a sample's tensors, bytes. 0: unknown before loading.
    pub fn sample_bytes(&self, image_size: u32) -> u64 {
        match self {
            Self::Digits => 64 * 4,
            Self::Folder { .. } => 3 * u64::from(image_size).pow(2),
            Self::Tokens(tokens) => {
                let token = match tokens.dtype {
                    TokenDtype::Int64 => 8,
                    TokenDtype::UInt16 => 2,
                };
                (tokens.block as u64).saturating_mul(token)
            }
            Self::Data(data) => match data.size() {
                Some(PictureSize::Square) => 3 * u64::from(image_size).pow(2),
                Some(PictureSize::Original) | None => 0,
            },
            Self::Synthetic(model) => model.bytes(),
            Self::Stream(model) => model.cost.bytes(),
        }
    }
}

impl FromStr for DatasetSpec {
    type Err = LoaderError;

    fn from_str(text: &str) -> Result<Self, LoaderError> {
        // A path may begin or end with blanks. Other parts may not.
        if let Some(path) = text.trim_start().strip_prefix("folder:") {
            if path.is_empty() {
                return Err(LoaderError::Spec(
                    say!("folder: needs the path of a folder of images, for example folder:/data/flowers")
                        .to_owned(),
                ));
            }
            return Ok(Self::Folder { path: path.into() });
        }
        if let Some(options) = text.trim_start().strip_prefix("tokens:") {
            return Ok(Self::Tokens(options.parse()?));
        }
        if let Some(data) = DataSpec::parse(text) {
            return data.map(|data| Self::Data(Box::new(data)));
        }
        match text.trim().split_once(':') {
            Some(("synthetic", options)) => Ok(Self::Synthetic(options.parse()?)),
            Some(("stream", options)) => Ok(Self::Stream(options.parse()?)),
            None if text.trim() == "stream" => Ok(Self::Stream(StreamModel::default())),
            None if text.trim() == "synthetic" => Ok(Self::Synthetic(CostModel::default())),
            None if text.trim() == "digits" => Ok(Self::Digits),
            _ => {
                let hint = if Path::new(text.trim()).is_dir() {
                    say!(" For this folder, write folder:{}.", text.trim())
                } else {
                    String::new()
                };
                Err(LoaderError::Spec(unknown(text) + &hint))
            }
        }
    }
}

impl fmt::Display for DatasetSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Digits => f.write_str("digits"),
            Self::Folder { path } => write!(f, "folder:{}", path.display()),
            Self::Tokens(tokens) => write!(f, "tokens:{tokens}"),
            Self::Data(data) => data.fmt(f),
            Self::Synthetic(model) => write!(f, "synthetic:{model}"),
            Self::Stream(model) => write!(f, "stream:{model}"),
        }
    }
}

impl Serialize for DatasetSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for DatasetSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests;

/// Returns the error for an unknown dataset: its name, the most similar one, and all names.
fn unknown(text: &str) -> String {
    let mut names = vec!["digits", "folder", "tokens"];
    names.extend(DataSpec::FORMATS.iter().map(|format| format.word));
    names.extend(["synthetic", "stream"]);
    let typed = text.split(':').next().unwrap_or_default();
    let valid = names.join(", ");
    let text = without_password(text);
    match nearest(typed.trim(), names) {
        Some(like) => say!(
            "unknown dataset '{text}'. Did you mean {like}? Valid: {valid}. docs/DATASETS.md has examples."
        ),
        None => say!("unknown dataset '{text}'. Valid: {valid}. docs/DATASETS.md has examples."),
    }
}
