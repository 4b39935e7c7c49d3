//! Properties of data that are known from their text: style, image size, files, and a description.

use std::path::{Path, PathBuf};

use loadscope_trace::without_password;

use super::{DataSpec, SqlSpec};
use crate::dataset::spec::option::PictureSize;

impl DataSpec {
    /// Returns true if the dataset is iterable-style.
    pub fn is_stream(&self) -> bool {
        match self {
            Self::Webdataset(_) | Self::Tar(_) => true,
            Self::Sql(sql) => sql.index.is_none(),
            Self::Voc(_)
            | Self::Coco(_)
            | Self::Csv(_)
            | Self::Parquet(_)
            | Self::Arrow(_)
            | Self::Jsonl(_)
            | Self::Npy(_)
            | Self::Npz(_)
            | Self::Safetensors(_)
            | Self::Lmdb(_)
            | Self::Audio(_)
            | Self::Text(_) => false,
        }
    }

    /// Returns the resizing of the images. Returns `None` if the data cannot contain images.
    pub fn size(&self) -> Option<PictureSize> {
        Some(match self {
            Self::Voc(spec) => spec.size,
            Self::Coco(spec) => spec.size,
            Self::Sql(spec) => spec.size,
            Self::Csv(spec) => spec.size,
            Self::Parquet(spec) => spec.size,
            Self::Arrow(spec) => spec.size,
            Self::Jsonl(spec) => spec.size,
            Self::Webdataset(spec) => spec.size,
            Self::Tar(spec) => spec.size,
            Self::Lmdb(spec) => spec.size,
            Self::Npy(_) | Self::Npz(_) | Self::Safetensors(_) | Self::Audio(_) | Self::Text(_) => {
                return None;
            }
        })
    }

    /// Returns a short description without passwords: `rows of train.csv`.
    pub(crate) fn describe(&self, len: Option<usize>) -> String {
        let count = |noun: &str, nouns: &str| match len {
            Some(1) => format!("1 {noun}"),
            Some(len) => format!("{len} {nouns}"),
            None => nouns.to_owned(),
        };
        let what = match self {
            Self::Voc(_) | Self::Coco(_) => count("annotated image", "annotated images"),
            Self::Sql(_) | Self::Csv(_) | Self::Parquet(_) | Self::Arrow(_) => count("row", "rows"),
            Self::Jsonl(_) | Self::Text(_) => count("line", "lines"),
            Self::Npy(_) | Self::Npz(_) | Self::Safetensors(_) => count("slice", "slices"),
            Self::Webdataset(_) | Self::Tar(_) => count("sample", "samples"),
            Self::Lmdb(_) => count("entry", "entries"),
            Self::Audio(_) => count("sound", "sounds"),
        };
        let place = self.positional().first().copied().unwrap_or_default();
        let style = if self.is_stream() {
            ", iterable-style"
        } else {
            ""
        };
        format!("{what} of {}{style}", without_password(place))
    }

    /// Returns the named regular files. Output must not overwrite them.
    pub fn files(&self) -> Vec<PathBuf> {
        let positional = self.positional().into_iter().map(PathBuf::from);
        let database = match self {
            Self::Sql(sql) => sql.file().map(Path::to_owned),
            _ => None,
        };
        positional
            .chain(database)
            .filter(|path| path.is_file())
            .collect()
    }
}

impl SqlSpec {
    /// Returns the file of an SQLite database. Returns `None` for a server.
    pub fn file(&self) -> Option<&Path> {
        self.url.strip_prefix("sqlite:").map(Path::new)
    }
}
