//! Datasets of data files: `voc:DIR,set=train`, `csv:FILE,sep=tab`, `sql:URL,query=…`.

use std::fmt;
use std::path::{Path, PathBuf};

use loadscope_trace::without_password;

use super::format::{Format, Spec, quote_part};
use super::media::{AudioSpec, CocoSpec, LmdbSpec, TarSpec, VocSpec, WebdatasetSpec};
use super::option::PictureSize;
use super::tables::{
    ArrowSpec, CsvSpec, JsonlSpec, NpySpec, NpzSpec, ParquetSpec, SafetensorsSpec, SqlSpec,
    TextSpec,
};
use crate::error::LoaderError;

/// Registers the formats in the order of the options form.
macro_rules! formats {
    ($($name:ident($spec:ident)),+ $(,)?) => {
        /// Data in a common format.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum DataSpec {
            $(#[doc = concat!("[`", stringify!($spec), "`].")] $name($spec),)+
        }

        impl DataSpec {
            /// All formats.
            pub const FORMATS: &'static [Format] = &[$($spec::FORMAT),+];

            /// Parses the text after the word. Returns `None` for an unknown word.
            fn read(word: &str, text: &str) -> Option<Result<Self, LoaderError>> {
                $(if word == $spec::FORMAT.word {
                    return Some($spec::FORMAT.read(text, $spec::read).map(Self::$name));
                })+
                None
            }

            fn spec(&self) -> &dyn Spec {
                match self {
                    $(Self::$name(spec) => spec,)+
                }
            }
        }
    };
}

formats! {
    Voc(VocSpec),
    Coco(CocoSpec),
    Sql(SqlSpec),
    Csv(CsvSpec),
    Parquet(ParquetSpec),
    Arrow(ArrowSpec),
    Jsonl(JsonlSpec),
    Npy(NpySpec),
    Npz(NpzSpec),
    Safetensors(SafetensorsSpec),
    Webdataset(WebdatasetSpec),
    Tar(TarSpec),
    Lmdb(LmdbSpec),
    Audio(AudioSpec),
    Text(TextSpec),
}

impl DataSpec {
    /// Parses `WORD:…`. Returns `None` for an unknown word.
    pub(super) fn parse(text: &str) -> Option<Result<Self, LoaderError>> {
        let (word, rest) = text.trim_start().split_once(':')?;
        Some(
            Self::read(word, rest)?.and_then(|data| match data.spec().conflict() {
                Some(reason) => Err(data.format().error(rest, reason)),
                None => Ok(data),
            }),
        )
    }

    /// Returns the format with this word.
    pub fn format_of(word: &str) -> Option<&'static Format> {
        Self::FORMATS.iter().find(|format| format.word == word)
    }

    /// Returns the format of the data.
    pub fn format(&self) -> &'static Format {
        self.spec().format()
    }

    /// Returns true if the dataset is iterable-style.
    pub fn is_stream(&self) -> bool {
        self.spec().is_stream()
    }

    /// Returns the resizing of the images. Returns `None` if the data cannot contain images.
    pub fn size(&self) -> Option<PictureSize> {
        self.spec().size()
    }

    /// Returns a short description without passwords: `rows of train.csv`.
    pub(crate) fn describe(&self, len: Option<usize>) -> String {
        let [noun, nouns] = self.format().nouns;
        let count = match len {
            Some(1) => format!("1 {noun}"),
            Some(len) => format!("{len} {nouns}"),
            None => nouns.to_owned(),
        };
        let place = self.spec().places().first().copied().unwrap_or_default();
        let style = if self.is_stream() {
            ", iterable-style"
        } else {
            ""
        };
        format!("{count} of {}{style}", without_password(place))
    }

    /// Returns the named regular files. Output must not overwrite them.
    pub fn files(&self) -> Vec<PathBuf> {
        let places = self.spec().places();
        let databases = places
            .iter()
            .filter_map(|place| place.strip_prefix("sqlite:"));
        let paths = places.iter().copied().chain(databases).map(PathBuf::from);
        paths.filter(|path| path.is_file()).collect()
    }
}

impl fmt::Display for DataSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.format().word)?;
        for (at, place) in self.spec().places().into_iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            // Places are recognized by position, so one that looks like an option is not ambiguous.
            write!(f, "{comma}{}", quote_part(place))?;
        }
        for (name, value) in self.spec().options() {
            write!(f, ",{name}={}", quote_part(&value))?;
        }
        Ok(())
    }
}

/// Returns the word of the dataset that `path` most likely contains. Returns `None` if the kind is unknown.
pub fn dataset_kind_of(path: &Path) -> Option<&'static str> {
    let mut formats = DataSpec::FORMATS.iter();
    let found = if path.is_dir() {
        formats.find(|format| format.contents.iter().any(|name| path.join(name).exists()))
    } else {
        let name = path.file_name()?.to_string_lossy().to_lowercase();
        formats.find(|format| format.endings.iter().any(|ending| name.ends_with(ending)))
    };
    found.map(|format| format.word)
}
