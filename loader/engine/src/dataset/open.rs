//! Opening of the dataset that a text names.

use std::sync::Arc;

use loadscope_words::say;

use super::{
    AnyDataset, Catalog, Dataset, DatasetSpec, Digits, Entry, ImageFolder, StreamPlace, Synthetic,
    SyntheticStream, TokenWindows, formats, sample_table,
};
use crate::error::LoaderError;
use crate::plan::{RequiredColumn, SampleTable};
use crate::value::Value;

/// Dataset specification that this crate can open.
pub trait OpenDataset {
    /// Opens a map-style dataset.
    ///
    /// `image_size` is the side of the square to which a folder's images are resized. Other datasets have their own sizes.
    ///
    /// # Errors
    /// If the file or folder is missing, cannot be read or contains nothing useful, or if the dataset is iterable.
    fn open(&self, image_size: u32) -> Result<Arc<dyn Dataset<Sample = Value>>, LoaderError>;

    /// Opens a dataset of either style. `image_size` as for [`open`](Self::open).
    ///
    /// # Errors
    /// If the file or folder is missing, cannot be read or contains nothing useful.
    fn open_any(&self, image_size: u32) -> Result<AnyDataset, LoaderError> {
        self.open_at(image_size, StreamPlace::default())
    }

    /// Opens a dataset like [`open_any`](Self::open_any), in a process that loads its share of a stream.
    ///
    /// # Errors
    /// As [`open_any`](Self::open_any).
    fn open_at(&self, image_size: u32, place: StreamPlace) -> Result<AnyDataset, LoaderError>;
}

impl OpenDataset for DatasetSpec {
    fn open(&self, image_size: u32) -> Result<Arc<dyn Dataset<Sample = Value>>, LoaderError> {
        match self.open_any(image_size)? {
            AnyDataset::Map(dataset) => Ok(dataset),
            AnyDataset::Iterable(_) => Err(LoaderError::Spec(say!(
                "{self} is an iterable-style dataset: its samples have no indices. Choose another dataset."
            ))),
        }
    }

    fn open_at(&self, image_size: u32, place: StreamPlace) -> Result<AnyDataset, LoaderError> {
        Ok(match self {
            Self::Digits => AnyDataset::map(Digits::new()?),
            Self::Folder { path } => AnyDataset::map(ImageFolder::open(path, image_size)?),
            Self::Tokens(tokens) => AnyDataset::map(TokenWindows::open(
                &tokens.path,
                tokens.block,
                Some(tokens.stride),
                tokens.dtype,
            )?),
            Self::Data(data) => formats::open(data, image_size, place)?,
            Self::Synthetic(model) => AnyDataset::map(Synthetic::new(model.clone())),
            Self::Stream(model) => AnyDataset::iterable(SyntheticStream::new(model.clone())),
        })
    }
}

/// Catalog that looks up every dataset by opening it.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpeningCatalog;

impl Catalog for OpeningCatalog {
    fn look_up(&self, spec: &DatasetSpec, image_size: u32) -> Result<Entry, LoaderError> {
        let of = |len, classes: &[String], labels| Entry {
            len,
            classes: classes.to_vec(),
            labels,
        };
        Ok(match spec {
            DatasetSpec::Digits => {
                let digits = Digits::new()?;
                let labels = digits.labels().map(u32::from).collect();
                of(Some(digits.len()), digits.classes(), Some(labels))
            }
            DatasetSpec::Folder { path } => {
                let folder = ImageFolder::open(path, image_size)?;
                let labels = folder.files().iter().map(|(_, class)| *class).collect();
                of(Some(folder.len()), folder.classes(), Some(labels))
            }
            DatasetSpec::Tokens(_)
            | DatasetSpec::Data(_)
            | DatasetSpec::Synthetic(_)
            | DatasetSpec::Stream(_) => {
                let dataset = spec.open_any(image_size)?;
                // Labels come first, because their look-up may also find the class names of a column.
                let labels = dataset.labels();
                of(dataset.len(), dataset.classes(), labels)
            }
        })
    }

    fn table(
        &self,
        spec: &DatasetSpec,
        image_size: u32,
        needed: &RequiredColumn,
    ) -> Result<SampleTable, LoaderError> {
        sample_table(&spec.open_any(image_size)?, needed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::SyntheticCatalog;

    #[test]
    fn map_style_specs_open_and_missing_folders_fail() {
        let digits = DatasetSpec::default().open(224).unwrap();
        assert_eq!(digits.len(), 1797);
        let synthetic: DatasetSpec = "synthetic:len=3".parse().unwrap();
        assert_eq!(synthetic.open(224).unwrap().len(), 3);
        let missing = DatasetSpec::Folder {
            path: "/no/such/folder".into(),
        };
        let error = missing.open(224).err().unwrap().to_string();
        assert!(
            error.contains("/no/such/folder: not found. Check the path."),
            "{error}"
        );
    }

    #[test]
    fn streams_open_and_missing_token_files_fail() {
        let stream: DatasetSpec = "stream:len=24,cost_ms=5,shard=true".parse().unwrap();
        assert_eq!(stream.open_any(224).unwrap().len(), Some(24));
        let error = stream.open(224).err().unwrap().to_string();
        assert!(error.contains("is an iterable-style dataset"), "{error}");
        let missing: DatasetSpec = "tokens:/no/such,file,block=8".parse().unwrap();
        let error = missing.open(224).err().unwrap().to_string();
        assert!(
            error.contains("/no/such,file: not found. Check the path."),
            "{error}"
        );
    }

    #[test]
    fn opened_and_made_up_datasets_agree() {
        for text in [
            "digits",
            "synthetic:len=7",
            "stream:len=9,shard=true",
            "stream:shards=3/4",
        ] {
            let spec: DatasetSpec = text.parse().unwrap();
            let opened = OpeningCatalog.look_up(&spec, 224).unwrap();
            let made_up = SyntheticCatalog.look_up(&spec, 224).unwrap();
            assert_eq!(
                (opened.len, &opened.classes),
                (made_up.len, &made_up.classes),
                "{text}"
            );
        }
    }
}
