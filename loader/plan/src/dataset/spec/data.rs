//! The texts that name data as people have them: `voc:DIR,set=train`, `csv:FILE,sep=tab`, `sql:URL,query=…`.

mod about;

use std::fmt;

use loadscope_trace::{parts, quote, without_password};
use loadscope_words::{Text, say, text};

use super::option::{CocoTask, Decode, OptionValue, PictureSize, Separator, VocTask};
use crate::error::LoaderError;
use crate::keyvalue::{Given, Key, KeySet, Mistake, Wrong};

/// A part as it is read again: white space at its begin stands in quotes, too.
fn written(text: &str) -> String {
    match text.starts_with(char::is_whitespace) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => quote(text),
    }
}

/// Defines the datasets: the word, where the data are, and the options with their usual values.
macro_rules! data {
    ($(
        $(#[$doc:meta])*
        $name:ident($spec:ident) = $word:literal, $example:literal, {
            $($(#[$place_doc:meta])* $place:ident,)+
        } {
            $($(#[$of:meta])* $field:ident: $type:ty = $usual:expr, $key_example:expr;)*
        }
    )+) => {
        /// Data in a layout that people have them in.
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

                /// Those of these places, with the usual options.
                pub fn new($($place: impl Into<String>),+) -> Self {
                    Self {
                        $($place: $place.into(),)+
                        $($field: $usual,)*
                    }
                }

                fn read(places: &[&str], given: &[Given<'_>]) -> Result<Self, Mistake> {
                    let mut places = places.iter().copied();
                    #[allow(unused_mut, reason = "a dataset may have no options")]
                    let mut spec = Self::new($({
                        let _ = stringify!($place);
                        places.next().unwrap_or_default()
                    }),+);
                    for option in given {
                        let set: Result<(), Wrong> = match option.key {
                            $(stringify!($field) => OptionValue::read(option.value).map(|value| spec.$field = value),)*
                            _ => Ok(()),
                        };
                        set.map_err(|wrong| option.mistake(wrong))?;
                    }
                    Ok(spec)
                }

                fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    let places = [$(self.$place.as_str()),+];
                    for (at, place) in places.into_iter().enumerate() {
                        let comma = if at > 0 { "," } else { "" };
                        // A place that looks like an option is none if it is not the first part; its position tells.
                        write!(f, "{comma}{}", written(place))?;
                    }
                    #[allow(unused, reason = "a dataset may have no options")]
                    let usual = Self::new($({ let _ = stringify!($place); String::new() }),+);
                    $(if self.$field != usual.$field && let Some(text) = self.$field.write() {
                        write!(f, ",{}={}", stringify!($field), written(&text))?;
                    })*
                    Ok(())
                }
            }
        )+

        impl DataSpec {
            /// The words, and how each is written.
            pub const WORDS: &'static [(&'static str, &'static str)] = &[$(($word, $example)),+];

            /// Its word.
            pub fn word(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => $word,)+
                }
            }

            /// Reads what stands behind the word; `None`: there is no such word.
            fn read(word: &str, text: &str) -> Option<Result<Self, LoaderError>> {
                match word {
                    $($word => Some({
                        let places = [$(stringify!($place)),+].len();
                        read(word, $example, text, $spec::KEYS, places, |places, given| {
                            $spec::read(places, given).map(Self::$name)
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

            /// Where the data are, as it was written.
            fn places(&self) -> Vec<&str> {
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
    /// PASCAL VOC: XML beside pictures. torchvision's `VOCDetection` and `VOCSegmentation`.
    Voc(VocSpec) = "voc", "voc:DIR,set=train", {
        /// The folder that holds `Annotations`, or `VOCdevkit`.
        dir,
    } {
        /// The list of names in `ImageSets`, without its ending; `all`: every annotation.
        set: String = "train".to_owned(), Text::same("set=train");
        /// The year, where there are several.
        year: Option<String> = None, Text::same("year=2012");
        /// What it is loaded for.
        task: VocTask = VocTask::Detection, text!("task=detection (or segmentation)");
        /// The classes, from label 1 on; none: those of VOC, or those that are found.
        classes: Vec<String> = Vec::new(), Text::same("classes=cat;dog");
        /// What is made of the pictures' sizes.
        size: PictureSize = PictureSize::Original, text!("size=original (or square, to image_size)");
    }
    /// COCO: instances, captions or keypoints in JSON. torchvision's `CocoDetection`, pycocotools.
    Coco(CocoSpec) = "coco", "coco:IMAGES,ANNOTATIONS", {
        /// The folder of pictures.
        images,
        /// The file of annotations.
        annotations,
    } {
        /// What it is loaded for.
        task: CocoTask = CocoTask::Auto, text!("task=auto (or instances, captions, keypoints)");
        /// Whether masks are drawn.
        masks: bool = true, Text::same("masks=true");
        /// What is made of the pictures' sizes.
        size: PictureSize = PictureSize::Original, text!("size=original (or square, to image_size)");
    }
    /// Rows of a query to an SQLite file or a PostgreSQL server. `sqlite3`, `psycopg`.
    Sql(SqlSpec) = "sql", "sql:sqlite:FILE,query=SELECT … (or sql:postgresql://…)", {
        /// `sqlite:FILE` or `postgresql://…`.
        url,
    } {
        /// The query.
        query: String = String::new(), Text::same("query=\"SELECT a, b FROM t\"");
        /// The column of unique numbers or texts by which rows are asked for; none: rows are streamed.
        index: Option<String> = None, text!("index=id (map-style by this column, otherwise iterable-style)");
        /// The column of pictures.
        image: Option<String> = None, Text::same("image=COLUMN");
        /// The column of texts.
        text: Option<String> = None, Text::same("text=COLUMN");
        /// The column of labels.
        label: Option<String> = None, Text::same("label=COLUMN");
        /// What is made of the pictures' sizes.
        size: PictureSize = PictureSize::Square, text!("size=square (to image_size, or original)");
    }
    /// A table as text. `pandas.read_csv`.
    Csv(CsvSpec) = "csv", "csv:FILE", {
        /// The file.
        file,
    } {
        /// What separates fields; none: a tab in files that end in `.tsv`, else a comma.
        sep: Option<Separator> = None, text!("sep=tab (or comma, semicolon, space)");
        /// The columns that are loaded; none: all.
        columns: Vec<String> = Vec::new(), Text::same("columns=a;b");
        /// The column of pictures: their files, as seen from the table's folder.
        image: Option<String> = None, Text::same("image=COLUMN");
        /// The column of classes, for samplers: whole numbers, or texts that are numbered in their order.
        label: Option<String> = None, Text::same("label=COLUMN");
        /// What is made of the pictures' sizes.
        size: PictureSize = PictureSize::Square, text!("size=square (to image_size, or original)");
    }
    /// Tables by column. `pyarrow.parquet`.
    Parquet(ParquetSpec) = "parquet", "parquet:FILES", {
        /// A file, a folder, or a pattern.
        files,
    } {
        /// The columns that are loaded; none: all.
        columns: Vec<String> = Vec::new(), Text::same("columns=a;b");
        /// The column of pictures.
        image: Option<String> = None, Text::same("image=COLUMN");
        /// The column of classes, for samplers: whole numbers, or texts that are numbered in their order.
        label: Option<String> = None, Text::same("label=COLUMN");
        /// What is made of the pictures' sizes.
        size: PictureSize = PictureSize::Square, text!("size=square (to image_size, or original)");
    }
    /// A saved Hugging Face dataset. `datasets.load_from_disk`.
    Arrow(ArrowSpec) = "arrow", "arrow:DIR", {
        /// The folder.
        dir,
    } {
        /// The split, where there are several.
        split: Option<String> = None, Text::same("split=train");
        /// The columns that are loaded; none: all.
        columns: Vec<String> = Vec::new(), Text::same("columns=a;b");
        /// The column of pictures.
        image: Option<String> = None, Text::same("image=COLUMN");
        /// The column of classes, for samplers: whole numbers, or texts that are numbered in their order.
        label: Option<String> = None, Text::same("label=COLUMN");
        /// What is made of the pictures' sizes.
        size: PictureSize = PictureSize::Square, text!("size=square (to image_size, or original)");
    }
    /// A JSON value a line. `datasets`, `json`.
    Jsonl(JsonlSpec) = "jsonl", "jsonl:FILE", {
        /// The file.
        file,
    } {
        /// The columns that are loaded; none: all.
        columns: Vec<String> = Vec::new(), Text::same("columns=a;b");
        /// The column of pictures: their files, as seen from the file's folder.
        image: Option<String> = None, Text::same("image=COLUMN");
        /// The column of classes, for samplers: whole numbers, or texts that are numbered in their order.
        label: Option<String> = None, Text::same("label=COLUMN");
        /// What is made of the pictures' sizes.
        size: PictureSize = PictureSize::Square, text!("size=square (to image_size, or original)");
    }
    /// One array, by its first axis. `numpy.load(…, mmap_mode="r")`.
    Npy(NpySpec) = "npy", "npy:FILE", {
        /// The file.
        file,
    } {
        /// Entries of the first axis that a sample has; none: one, without the axis.
        window: Option<usize> = None, text!("window=128 (entries of the first axis per sample)");
        /// Entries from the begin of a window to that of the next; none: as many as it has.
        stride: Option<usize> = None, Text::same("stride=64");
    }
    /// Several arrays of one length, by their first axis. `numpy.load`.
    Npz(NpzSpec) = "npz", "npz:FILE", {
        /// The file.
        file,
    } {
        /// The arrays that are loaded; none: all.
        keys: Vec<String> = Vec::new(), Text::same("keys=x;y");
    }
    /// Tensors by name, by their first axis. `safetensors`.
    Safetensors(SafetensorsSpec) = "safetensors", "safetensors:FILE", {
        /// The file.
        file,
    } {
        /// The tensors that are loaded; none: all.
        keys: Vec<String> = Vec::new(), Text::same("keys=x;y");
    }
    /// Shards of POSIX tar archives, iterable-style. `webdataset.WebDataset`.
    Webdataset(WebdatasetSpec) = "webdataset", "webdataset:SHARDS", {
        /// A pattern of files: `train-{000..127}.tar`.
        shards,
    } {
        /// The endings whose files make a sample, a tuple in this order; none: a dict of all.
        fields: Vec<String> = Vec::new(), Text::same("fields=jpg;cls");
        /// Samples of the shuffle buffer; 0: none.
        shuffle: usize = 0, Text::same("shuffle=1000");
        /// Whether the shards come in another order in each epoch.
        shuffle_shards: bool = false, Text::same("shuffle_shards=true");
        /// What is made of the pictures' sizes.
        size: PictureSize = PictureSize::Square, text!("size=square (to image_size, or original)");
    }
    /// One POSIX tar archive, iterable-style. `webdataset.WebDataset`.
    Tar(TarSpec) = "tar", "tar:FILE", {
        /// The file.
        file,
    } {
        /// The endings whose files make a sample, a tuple in this order; none: a dict of all.
        fields: Vec<String> = Vec::new(), Text::same("fields=jpg;cls");
        /// Samples of the shuffle buffer; 0: none.
        shuffle: usize = 0, Text::same("shuffle=1000");
        /// What is made of the pictures' sizes.
        size: PictureSize = PictureSize::Square, text!("size=square (to image_size, or original)");
    }
    /// Bytes by key. `lmdb`.
    Lmdb(LmdbSpec) = "lmdb", "lmdb:DIR", {
        /// The folder, or the file.
        dir,
    } {
        /// What the bytes are.
        decode: Decode = Decode::Auto, text!("decode=auto (or picture, npy, text, bytes)");
        /// What is made of the pictures' sizes.
        size: PictureSize = PictureSize::Square, text!("size=square (to image_size, or original)");
    }
    /// WAV, FLAC and OGG. `soundfile.read`.
    Audio(AudioSpec) = "audio", "audio:DIR", {
        /// The folder.
        dir,
    } {}
    /// Lines of words as ids. `pad_sequence`.
    Text(TextSpec) = "text", "text:FILE,vocab=FILE", {
        /// The file.
        file,
    } {
        /// A file with a word a line, whose number is its id, or a JSON object of ids; none: lines are texts.
        vocab: Option<String> = None, Text::same("vocab=FILE");
    }
}

impl DataSpec {
    /// Reads `WORD:…`; `None`: the word is not one of these.
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

    /// Its options: their names, and how each is written.
    pub fn keys(word: &str) -> Option<&'static [Key]> {
        Self::keys_of(word)
    }
}

/// Reads places and options.
fn read<T>(
    word: &str,
    example: &str,
    text: &str,
    keys: &[Key],
    places: usize,
    make: impl FnOnce(&[&str], &[Given<'_>]) -> Result<T, Mistake>,
) -> Result<T, LoaderError> {
    let shown = without_password(text);
    let fail = |what: &str| LoaderError::Spec(format!("{word}:{shown}: {what}"));
    let Some(all) = parts(text) else {
        return Err(fail(say!(
            "a quote is not closed. Inside quotes, write two quotes for one."
        )));
    };
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let (at, options) = all.split_at(places.min(all.len()));
    if at.len() < places || at.iter().any(|place| place.is_empty()) {
        return Err(fail(&say!("expected {example}")));
    }
    let key_set = KeySet::new(keys.iter().copied());
    let made = key_set
        .read_all(options.iter().copied())
        .and_then(|given| make(at, &given));
    made.map_err(|mistake| {
        let mistake = match mistake {
            Mistake::Form(part) => Mistake::Together(say!(
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
