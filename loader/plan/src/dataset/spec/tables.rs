//! Formats of rows, lines and arrays.

use loadscope_words::{Text, say, text};

use super::format::{DatasetForm, Dialog, Format, SQUARE, Spec, data_format};
use super::option::{OptionValue, PictureSize, Separator};
use crate::keyvalue::{Key, KeyValue, KeyValueError, ValueError};

data_format! {
    /// Rows of a query to an SQLite file or a PostgreSQL server. Python's `sqlite3`, `psycopg`.
    SqlSpec {
        word: "sql",
        example: "sql:sqlite:FILE,query=SELECT … (or sql:postgresql://…)",
        nouns: ["row", "rows"],
        endings: &[],
        contents: &[],
        is_annotated: false,
        form: DatasetForm {
            name: text!("SQL database"),
            first: "sql:sqlite:",
            label: text!("database, query"),
            example: "sqlite:/data/a.db,query=\"SELECT a, b FROM t\",index=id",
            hint: text!("sqlite:FILE or postgresql://user@host/database (password in PGPASSWORD). Keys: query, index, image, text, label."),
            dialog: None,
        },
    }
    places {
        /// URL: `sqlite:FILE` or `postgresql://…`.
        url,
    }
    options {
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
        size: PictureSize = PictureSize::Square, SQUARE;
    }

    fn is_stream(&self) -> bool {
        self.index.is_none()
    }

    fn conflict(&self) -> Option<&'static str> {
        self.query.is_empty().then(|| say!("query is missing: query=\"SELECT … FROM …\""))
    }
}

data_format! {
    /// Table as text. `pandas.read_csv`.
    CsvSpec {
        word: "csv",
        example: "csv:FILE",
        nouns: ["row", "rows"],
        endings: &[".csv", ".tsv"],
        contents: &[],
        is_annotated: false,
        form: DatasetForm {
            name: text!("CSV table"),
            first: "csv:",
            label: text!("file"),
            example: "/data/table.csv,columns=a;b",
            hint: text!("Like pandas.read_csv. Keys: sep=tab, columns=a;b, image=COLUMN."),
            dialog: Some(Dialog::File),
        },
    }
    places {
        /// File of the table.
        file,
    }
    options {
        /// Field separator. `None`: a tab in `.tsv` files, otherwise a comma.
        sep: Option<Separator> = None, text!("sep=tab (or comma, semicolon, space)");
        /// Loaded columns. Empty: all.
        columns: Vec<String> = Vec::new(), Text::same("columns=a;b");
        /// Column of image files, relative to the table's folder.
        image: Option<String> = None, Text::same("image=COLUMN");
        /// Column of classes, for samplers: whole numbers, or texts that are numbered in their order.
        label: Option<String> = None, Text::same("label=COLUMN");
        /// Resizing of the images.
        size: PictureSize = PictureSize::Square, SQUARE;
    }
}

data_format! {
    /// Columnar tables. `pyarrow.parquet`.
    ParquetSpec {
        word: "parquet",
        example: "parquet:FILES",
        nouns: ["row", "rows"],
        endings: &[".parquet"],
        contents: &[],
        is_annotated: false,
        form: DatasetForm {
            name: text!("Parquet table"),
            first: "parquet:",
            label: text!("files"),
            example: "/data/train-*.parquet,columns=a;b",
            hint: text!("Like pyarrow.parquet: a file, folder or pattern. Keys: columns=a;b, image=COLUMN."),
            dialog: Some(Dialog::File),
        },
    }
    places {
        /// File, folder, or pattern.
        files,
    }
    options {
        /// Loaded columns. Empty: all.
        columns: Vec<String> = Vec::new(), Text::same("columns=a;b");
        /// Column of images.
        image: Option<String> = None, Text::same("image=COLUMN");
        /// Column of classes, for samplers: whole numbers, or texts that are numbered in their order.
        label: Option<String> = None, Text::same("label=COLUMN");
        /// Resizing of the images.
        size: PictureSize = PictureSize::Square, SQUARE;
    }
}

data_format! {
    /// Saved Hugging Face dataset. `datasets.load_from_disk`.
    ArrowSpec {
        word: "arrow",
        example: "arrow:DIR",
        nouns: ["row", "rows"],
        endings: &[],
        contents: &["dataset_info.json", "dataset_dict.json"],
        is_annotated: false,
        form: DatasetForm {
            name: text!("Hugging Face dataset"),
            first: "arrow:",
            label: text!("folder"),
            example: "/data/saved,split=train",
            hint: text!("Like datasets.load_from_disk. Keys: split, columns=a;b, image=COLUMN."),
            dialog: Some(Dialog::Folder),
        },
    }
    places {
        /// Folder of the dataset.
        dir,
    }
    options {
        /// Split, if there are several.
        split: Option<String> = None, Text::same("split=train");
        /// Loaded columns. Empty: all.
        columns: Vec<String> = Vec::new(), Text::same("columns=a;b");
        /// Column of images.
        image: Option<String> = None, Text::same("image=COLUMN");
        /// Column of classes, for samplers: whole numbers, or texts that are numbered in their order.
        label: Option<String> = None, Text::same("label=COLUMN");
        /// Resizing of the images.
        size: PictureSize = PictureSize::Square, SQUARE;
    }
}

data_format! {
    /// One JSON value per line. `datasets`, `json`.
    JsonlSpec {
        word: "jsonl",
        example: "jsonl:FILE",
        nouns: ["line", "lines"],
        endings: &[".jsonl", ".ndjson"],
        contents: &[],
        is_annotated: false,
        form: DatasetForm {
            name: text!("JSON lines"),
            first: "jsonl:",
            label: text!("file"),
            example: "/data/train.jsonl",
            hint: text!("One JSON value per line. Keys: columns=a;b, image=COLUMN."),
            dialog: Some(Dialog::File),
        },
    }
    places {
        /// File of JSON lines.
        file,
    }
    options {
        /// Loaded columns. Empty: all.
        columns: Vec<String> = Vec::new(), Text::same("columns=a;b");
        /// Column of image files, relative to the file's folder.
        image: Option<String> = None, Text::same("image=COLUMN");
        /// Column of classes, for samplers: whole numbers, or texts that are numbered in their order.
        label: Option<String> = None, Text::same("label=COLUMN");
        /// Resizing of the images.
        size: PictureSize = PictureSize::Square, SQUARE;
    }
}

data_format! {
    /// Lines of words, as ids. `pad_sequence`.
    TextSpec {
        word: "text",
        example: "text:FILE,vocab=FILE",
        nouns: ["line", "lines"],
        endings: &[],
        contents: &[],
        is_annotated: false,
        form: DatasetForm {
            name: text!("Lines of text"),
            first: "text:",
            label: text!("file"),
            example: "/data/train.txt,vocab=/data/vocab.txt",
            hint: text!("Word ids of unequal length, or plain lines without vocab. Keys: vocab."),
            dialog: Some(Dialog::File),
        },
    }
    places {
        /// File of the lines.
        file,
    }
    options {
        /// File with one word per line, whose line number is its id, or a JSON object of ids. `None`: lines are texts.
        vocab: Option<String> = None, Text::same("vocab=FILE");
    }
}

data_format! {
    /// One array, indexed by its first axis. `numpy.load(…, mmap_mode="r")`.
    NpySpec {
        word: "npy",
        example: "npy:FILE",
        nouns: ["slice", "slices"],
        endings: &[".npy"],
        contents: &[],
        is_annotated: false,
        form: DatasetForm {
            name: text!("NumPy array"),
            first: "npy:",
            label: text!("file"),
            example: "/data/x.npy,window=128",
            hint: text!("Entries or windows of the first axis, memory-mapped. Keys: window, stride."),
            dialog: Some(Dialog::File),
        },
    }
    places {
        /// File of the array.
        file,
    }
    options {
        /// Entries of the first axis per sample. `None`: one entry, without the axis.
        window: Option<usize> = None, text!("window=128 (entries of the first axis per sample)");
        /// Distance between the starts of two windows, in entries. `None`: the window's length.
        stride: Option<usize> = None, Text::same("stride=64");
    }

    fn conflict(&self) -> Option<&'static str> {
        if self.stride.is_some() && self.window.is_none() {
            return Some(say!("stride needs window"));
        }
        let is_zero = self.window == Some(0) || self.stride == Some(0);
        is_zero.then(|| say!("window and stride must be at least 1"))
    }
}

data_format! {
    /// Several arrays of one length, indexed by their first axis. `numpy.load`.
    NpzSpec {
        word: "npz",
        example: "npz:FILE",
        nouns: ["slice", "slices"],
        endings: &[".npz"],
        contents: &[],
        is_annotated: false,
        form: DatasetForm {
            name: text!("NumPy archive"),
            first: "npz:",
            label: text!("file"),
            example: "/data/train.npz,keys=x;y",
            hint: text!("Entries of the first axis of each array. Keys: keys=x;y."),
            dialog: Some(Dialog::File),
        },
    }
    places {
        /// File of the arrays.
        file,
    }
    options {
        /// Loaded arrays. Empty: all.
        keys: Vec<String> = Vec::new(), Text::same("keys=x;y");
    }
}

data_format! {
    /// Named tensors, indexed by their first axis. `safetensors`.
    SafetensorsSpec {
        word: "safetensors",
        example: "safetensors:FILE",
        nouns: ["slice", "slices"],
        endings: &[".safetensors"],
        contents: &[],
        is_annotated: false,
        form: DatasetForm {
            name: Text::same("Safetensors"),
            first: "safetensors:",
            label: text!("file"),
            example: "/data/train.safetensors,keys=x;y",
            hint: text!("Entries of the first axis of each tensor, memory-mapped. Keys: keys=x;y."),
            dialog: Some(Dialog::File),
        },
    }
    places {
        /// File of the tensors.
        file,
    }
    options {
        /// Loaded tensors. Empty: all.
        keys: Vec<String> = Vec::new(), Text::same("keys=x;y");
    }
}
