//! Text forms of data in common formats: `voc:DIR,set=train`, `csv:FILE,sep=tab`, `sql:URL,query=…`.

mod about;

use std::fmt;

use loadscope_trace::{parts, quote, without_password};
use loadscope_words::{Text, say, text};

use super::option::{CocoTask, Decode, OptionValue, PictureSize, Separator, VocTask};
use crate::error::LoaderError;
use crate::keyvalue::{Key, KeySet, KeyValue, KeyValueError, ValueError};

/// Quotes a part so that it parses to the same text. Leading white space is quoted, too.
fn quote_part(text: &str) -> String {
    match text.starts_with(char::is_whitespace) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => quote(text),
    }
}

/// Defines the datasets: word, places and options with their defaults.
macro_rules! data {
    ($(
        $(#[$doc:meta])*
        $name:ident($spec:ident) = $word:literal, $example:literal, {
            $($(#[$place_doc:meta])* $place:ident,)+
        } {
            $($(#[$of:meta])* $field:ident: $type:ty = $usual:expr, $key_example:expr;)*
        }
    )+) => {
        /// Data in a common format.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum DataSpec {
            $($(#[$doc])* $name($spec),)+
        }

        $(
            $(#[$doc])*
            #[derive(Clone, Debug, PartialEq, Eq)]
            pub struct $spec {
                $($(#[$place_doc])* pub $place: String,)+
                $($(#[$of])* pub $field: $type,)*
            }

            impl $spec {
                const KEYS: &[Key] = &[$(Key::once(stringify!($field), $key_example)),*];

                /// Returns the dataset at these places, with the default options.
                pub fn new($($place: impl Into<String>),+) -> Self {
                    Self {
                        $($place: $place.into(),)+
                        $($field: $usual,)*
                    }
                }

                fn read(positional: &[&str], given: &[KeyValue<'_>]) -> Result<Self, KeyValueError> {
                    let mut positional = positional.iter().copied();
                    #[allow(unused_mut, reason = "a dataset may have no options")]
                    let mut spec = Self::new($({
                        let _ = stringify!($place);
                        positional.next().unwrap_or_default()
                    }),+);
                    for option in given {
                        let set: Result<(), ValueError> = match option.key {
                            $(stringify!($field) => OptionValue::read(option.value).map(|value| spec.$field = value),)*
                            _ => Ok(()),
                        };
                        set.map_err(|wrong| option.error(wrong))?;
                    }
                    Ok(spec)
                }

                fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    let positional = [$(self.$place.as_str()),+];
                    for (at, place) in positional.into_iter().enumerate() {
                        let comma = if at > 0 { "," } else { "" };
                        // Places are recognized by position, so one that looks like an option is not ambiguous.
                        write!(f, "{comma}{}", quote_part(place))?;
                    }
                    #[allow(unused, reason = "a dataset may have no options")]
                    let usual = Self::new($({ let _ = stringify!($place); String::new() }),+);
                    $(if self.$field != usual.$field && let Some(text) = self.$field.write() {
                        write!(f, ",{}={}", stringify!($field), quote_part(&text))?;
                    })*
                    Ok(())
                }
            }
        )+

        impl DataSpec {
            /// All words, each with an example.
            pub const WORDS: &'static [(&'static str, &'static str)] = &[$(($word, $example)),+];

            /// Returns the word of the format.
            pub fn word(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => $word,)+
                }
            }

            /// Parses the text after the word. Returns `None` for an unknown word.
            fn read(word: &str, text: &str) -> Option<Result<Self, LoaderError>> {
                match word {
                    $($word => Some({
                        let positional = [$(stringify!($place)),+].len();
                        read(word, $example, text, $spec::KEYS, positional, |positional, given| {
                            $spec::read(positional, given).map(Self::$name)
                        })
                    }),)+
                    _ => None,
                }
            }

            fn keys_of(word: &str) -> Option<&'static [Key]> {
                match word {
                    $($word => Some($spec::KEYS),)+
                    _ => None,
                }
            }

            /// Returns the places as written.
            fn positional(&self) -> Vec<&str> {
                match self {
                    $(Self::$name(spec) => vec![$(spec.$place.as_str()),+],)+
                }
            }
        }

        impl fmt::Display for DataSpec {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}:", self.word())?;
                match self {
                    $(Self::$name(spec) => spec.write(f),)+
                }
            }
        }
    };
}

data! {
    /// PASCAL VOC: XML files with images. torchvision's `VOCDetection` and `VOCSegmentation`.
    Voc(VocSpec) = "voc", "voc:DIR,set=train", {
        /// Folder that contains `Annotations`, or `VOCdevkit`.
        dir,
    } {
        /// List of names in `ImageSets`, without its ending. `all`: every annotation.
        set: String = "train".to_owned(), Text::same("set=train");
        /// Year, if the folder has several.
        year: Option<String> = None, Text::same("year=2012");
        /// Loaded annotations.
        task: VocTask = VocTask::Detection, text!("task=detection (or segmentation)");
        /// Class names from label 1 on. Empty: the names of VOC, or the names that are found.
        classes: Vec<String> = Vec::new(), Text::same("classes=cat;dog");
        /// Resizing of the images.
        size: PictureSize = PictureSize::Original, text!("size=original (or square, to image_size)");
    }
    /// COCO: instances, captions or keypoints in JSON. torchvision's `CocoDetection`, pycocotools.
    Coco(CocoSpec) = "coco", "coco:IMAGES,ANNOTATIONS", {
        /// Folder of images.
        images,
        /// File of annotations.
        annotations,
    } {
        /// Loaded annotations.
        task: CocoTask = CocoTask::Auto, text!("task=auto (or instances, captions, keypoints)");
        /// True to draw masks.
        masks: bool = true, Text::same("masks=true");
        /// Resizing of the images.
        size: PictureSize = PictureSize::Original, text!("size=original (or square, to image_size)");
    }
    /// Rows of a query to an SQLite file or a PostgreSQL server. Python's `sqlite3`, `psycopg`.
    Sql(SqlSpec) = "sql", "sql:sqlite:FILE,query=SELECT … (or sql:postgresql://…)", {
        /// URL: `sqlite:FILE` or `postgresql://…`.
        url,
    } {
        /// SQL query.
        query: String = String::new(), Text::same("query=\"SELECT a, b FROM t\"");
        /// Column of unique numbers or texts for lookups. `None`: rows are streamed.
        index: Option<String> = None, text!("index=id (map-style by this column, otherwise iterable-style)");
        /// Column of images.
        image: Option<String> = None, Text::same("image=COLUMN");
        /// Column of texts.
        text: Option<String> = None, Text::same("text=COLUMN");
        /// Column of labels.
        label: Option<String> = None, Text::same("label=COLUMN");
        /// Resizing of the images.
        size: PictureSize = PictureSize::Square, text!("size=square (to image_size, or original)");
    }
    /// Table as text. `pandas.read_csv`.
    Csv(CsvSpec) = "csv", "csv:FILE", {
        /// File of the table.
        file,
    } {
        /// Field separator. `None`: a tab in `.tsv` files, otherwise a comma.
        sep: Option<Separator> = None, text!("sep=tab (or comma, semicolon, space)");
        /// Loaded columns. Empty: all.
        columns: Vec<String> = Vec::new(), Text::same("columns=a;b");
        /// Column of image files, relative to the table's folder.
        image: Option<String> = None, Text::same("image=COLUMN");
        /// Column of classes, for samplers: whole numbers, or texts that are numbered in their order.
        label: Option<String> = None, Text::same("label=COLUMN");
        /// Resizing of the images.
        size: PictureSize = PictureSize::Square, text!("size=square (to image_size, or original)");
    }
    /// Columnar tables. `pyarrow.parquet`.
    Parquet(ParquetSpec) = "parquet", "parquet:FILES", {
        /// File, folder, or pattern.
        files,
    } {
        /// Loaded columns. Empty: all.
        columns: Vec<String> = Vec::new(), Text::same("columns=a;b");
        /// Column of images.
        image: Option<String> = None, Text::same("image=COLUMN");
        /// Column of classes, for samplers: whole numbers, or texts that are numbered in their order.
        label: Option<String> = None, Text::same("label=COLUMN");
        /// Resizing of the images.
        size: PictureSize = PictureSize::Square, text!("size=square (to image_size, or original)");
    }
    /// Saved Hugging Face dataset. `datasets.load_from_disk`.
    Arrow(ArrowSpec) = "arrow", "arrow:DIR", {
        /// Folder of the dataset.
        dir,
    } {
        /// Split, if there are several.
        split: Option<String> = None, Text::same("split=train");
        /// Loaded columns. Empty: all.
        columns: Vec<String> = Vec::new(), Text::same("columns=a;b");
        /// Column of images.
        image: Option<String> = None, Text::same("image=COLUMN");
        /// Column of classes, for samplers: whole numbers, or texts that are numbered in their order.
        label: Option<String> = None, Text::same("label=COLUMN");
        /// Resizing of the images.
        size: PictureSize = PictureSize::Square, text!("size=square (to image_size, or original)");
    }
    /// One JSON value per line. `datasets`, `json`.
    Jsonl(JsonlSpec) = "jsonl", "jsonl:FILE", {
        /// File of JSON lines.
        file,
    } {
        /// Loaded columns. Empty: all.
        columns: Vec<String> = Vec::new(), Text::same("columns=a;b");
        /// Column of image files, relative to the file's folder.
        image: Option<String> = None, Text::same("image=COLUMN");
        /// Column of classes, for samplers: whole numbers, or texts that are numbered in their order.
        label: Option<String> = None, Text::same("label=COLUMN");
        /// Resizing of the images.
        size: PictureSize = PictureSize::Square, text!("size=square (to image_size, or original)");
    }
    /// One array, indexed by its first axis. `numpy.load(…, mmap_mode="r")`.
    Npy(NpySpec) = "npy", "npy:FILE", {
        /// File of the array.
        file,
    } {
        /// Entries of the first axis per sample. `None`: one entry, without the axis.
        window: Option<usize> = None, text!("window=128 (entries of the first axis per sample)");
        /// Distance between the starts of two windows, in entries. `None`: the window's length.
        stride: Option<usize> = None, Text::same("stride=64");
    }
    /// Several arrays of one length, indexed by their first axis. `numpy.load`.
    Npz(NpzSpec) = "npz", "npz:FILE", {
        /// File of the arrays.
        file,
    } {
        /// Loaded arrays. Empty: all.
        keys: Vec<String> = Vec::new(), Text::same("keys=x;y");
    }
    /// Named tensors, indexed by their first axis. `safetensors`.
    Safetensors(SafetensorsSpec) = "safetensors", "safetensors:FILE", {
        /// File of the tensors.
        file,
    } {
        /// Loaded tensors. Empty: all.
        keys: Vec<String> = Vec::new(), Text::same("keys=x;y");
    }
    /// Shards of POSIX tar archives, iterable-style. `webdataset.WebDataset`.
    Webdataset(WebdatasetSpec) = "webdataset", "webdataset:SHARDS", {
        /// Pattern of files: `train-{000..127}.tar`.
        shards,
    } {
        /// File endings that form a sample, a tuple in this order. Empty: a dict of all files.
        fields: Vec<String> = Vec::new(), Text::same("fields=jpg;cls");
        /// Size of the shuffle buffer, samples. 0: no buffer.
        shuffle: usize = 0, Text::same("shuffle=1000");
        /// True to shuffle the shards in each epoch.
        shuffle_shards: bool = false, Text::same("shuffle_shards=true");
        /// Resizing of the images.
        size: PictureSize = PictureSize::Square, text!("size=square (to image_size, or original)");
    }
    /// One POSIX tar archive, iterable-style. `webdataset.WebDataset`.
    Tar(TarSpec) = "tar", "tar:FILE", {
        /// File of the archive.
        file,
    } {
        /// File endings that form a sample, a tuple in this order. Empty: a dict of all files.
        fields: Vec<String> = Vec::new(), Text::same("fields=jpg;cls");
        /// Size of the shuffle buffer, samples. 0: no buffer.
        shuffle: usize = 0, Text::same("shuffle=1000");
        /// Resizing of the images.
        size: PictureSize = PictureSize::Square, text!("size=square (to image_size, or original)");
    }
    /// Key-value database of bytes. `lmdb`.
    Lmdb(LmdbSpec) = "lmdb", "lmdb:DIR", {
        /// Folder or file of the database.
        dir,
    } {
        /// Content of the values.
        decode: Decode = Decode::Auto, text!("decode=auto (or picture, npy, text, bytes)");
        /// Resizing of the images.
        size: PictureSize = PictureSize::Square, text!("size=square (to image_size, or original)");
    }
    /// WAV, FLAC and OGG files. `soundfile.read`.
    Audio(AudioSpec) = "audio", "audio:DIR", {
        /// Folder of the files.
        dir,
    } {}
    /// Lines of words, as ids. `pad_sequence`.
    Text(TextSpec) = "text", "text:FILE,vocab=FILE", {
        /// File of the lines.
        file,
    } {
        /// File with one word per line, whose line number is its id, or a JSON object of ids. `None`: lines are texts.
        vocab: Option<String> = None, Text::same("vocab=FILE");
    }
}

impl DataSpec {
    /// Parses `WORD:…`. Returns `None` for an unknown word.
    pub(super) fn parse(text: &str) -> Option<Result<Self, LoaderError>> {
        let (word, rest) = text.trim_start().split_once(':')?;
        Some(Self::read(word, rest)?.and_then(|spec| spec.checked(rest)))
    }

    /// Refuses options that contradict each other.
    fn checked(self, text: &str) -> Result<Self, LoaderError> {
        let wrong = match &self {
            Self::Sql(sql) if sql.query.is_empty() => {
                say!("query is missing: query=\"SELECT … FROM …\"")
            }
            Self::Npy(npy) if npy.stride.is_some() && npy.window.is_none() => {
                say!("stride needs window")
            }
            Self::Npy(npy) if npy.window == Some(0) || npy.stride == Some(0) => {
                say!("window and stride must be at least 1")
            }
            _ => return Ok(self),
        };
        let (word, shown) = (self.word(), without_password(text));
        Err(LoaderError::Spec(format!("{word}:{shown}: {wrong}")))
    }

    /// Returns the options of `word`, or `None` if it is unknown.
    pub fn keys(word: &str) -> Option<&'static [Key]> {
        Self::keys_of(word)
    }
}

/// Parses places and options.
fn read<T>(
    word: &str,
    example: &str,
    text: &str,
    keys: &[Key],
    positional: usize,
    make: impl FnOnce(&[&str], &[KeyValue<'_>]) -> Result<T, KeyValueError>,
) -> Result<T, LoaderError> {
    let shown = without_password(text);
    let fail = |what: &str| LoaderError::Spec(format!("{word}:{shown}: {what}"));
    let Some(all) = parts(text) else {
        return Err(fail(say!(
            "a quote is not closed. Inside quotes, write two quotes for one."
        )));
    };
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let (at, options) = all.split_at(positional.min(all.len()));
    if at.len() < positional || at.iter().any(|place| place.is_empty()) {
        return Err(fail(&say!("expected {example}")));
    }
    let key_set = KeySet::new(keys.iter().copied());
    let made = key_set
        .read_all(options.iter().copied())
        .and_then(|given| make(at, &given));
    made.map_err(|mistake| {
        let mistake = match mistake {
            KeyValueError::Syntax(part) => KeyValueError::Conflict(say!(
                "'{}' is not of the form name=value. Put values that contain a comma in double quotes.",
                without_password(&part)
            )),
            other => other,
        };
        match keys {
            [] => {
                let mistake = mistake.to_string();
                let mistake = mistake.trim_end_matches(['.', '。']);
                fail(&say!("{mistake}. It has no options."))
            }
            _ => fail(&key_set.sentence(&mistake)),
        }
    })
}
