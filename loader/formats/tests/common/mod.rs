//! Helpers that several tests share.
#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]
#![allow(dead_code, reason = "each test uses a part of it")]

pub mod damage;
pub mod plain;

use std::path::{Path, PathBuf};

use loadscope_formats::arrow::SavedDataset;
use loadscope_formats::audio::Sounds;
use loadscope_formats::coco::Coco;
use loadscope_formats::csv::Csv;
use loadscope_formats::jsonl::JsonLines;
use loadscope_formats::npy::{Npy, Window};
use loadscope_formats::parquet::Parquet;
use loadscope_formats::text::Text;
use loadscope_formats::voc::Voc;
use loadscope_formats::webdataset::{self, WebDataset};
use loadscope_formats::{
    Cell, FormatError, Rows, Share, Stages, StreamSource, Untimed, npz, safetensors,
};
use loadscope_plan::dataset::{CocoSpec, VocSpec};
use serde_json::Value;

/// Opens the data of a case of `make_data.py`.
pub fn opened(case: &Value) -> Result<Box<dyn Rows>, FormatError> {
    let texts = |value: &Value| -> Vec<String> {
        let texts = value.as_array().into_iter().flatten();
        texts
            .map(|text| text.as_str().expect("a text").to_owned())
            .collect()
    };
    let paths: Vec<PathBuf> = texts(&case["paths"]).iter().map(PathBuf::from).collect();
    let options = &case["options"];
    let number = |name: &str| options[name].as_u64().map(|n| n as usize);
    open(
        case["format"].as_str().expect("a format"),
        &paths,
        &Options {
            names: texts(&options["names"]),
            window: number("length").zip(number("stride")),
            vocabulary: options["vocab"].as_str().map(PathBuf::from),
            separator: options["separator"].as_str().map(|s| s.as_bytes()[0]),
        },
    )
}

#[derive(Default)]
pub struct Options {
    pub names: Vec<String>,
    pub window: Option<(usize, usize)>,
    pub separator: Option<u8>,
    pub vocabulary: Option<PathBuf>,
}

/// Opens files in a format.
pub fn open(
    format: &str,
    paths: &[PathBuf],
    options: &Options,
) -> Result<Box<dyn Rows>, FormatError> {
    let path: &Path = &paths[0];
    let window = options
        .window
        .map(|(length, stride)| Window { length, stride });
    Ok(match format {
        "npy" => Box::new(Npy::open(path, window)?),
        "npz" => Box::new(npz::open(path, &options.names)?),
        "arrow" => Box::new(SavedDataset::open(path)?),
        "audio" => Box::new(Sounds::open(path)?),
        "parquet" => Box::new(Parquet::open(paths)?),
        "text" => Box::new(Text::open(path, options.vocabulary.as_deref())?),
        "coco" => Box::new(Coco::open(&CocoSpec::new(text(path), text(&paths[1])))?),
        "csv" => Box::new(Csv::open(path, options.separator)?),
        "voc" => Box::new(Voc::open(&VocSpec::new(text(path)))?),
        "webdataset" => Box::new(Samples::read(path, &options.names)?),
        "jsonl" => Box::new(JsonLines::open(path)?),
        "safetensors" => Box::new(safetensors::open(path, &options.names)?),
        other => panic!("no format {other}"),
    })
}

/// All samples of an archive.
#[derive(Debug)]
struct Samples(Vec<Cell>);

impl Samples {
    fn read(path: &Path, fields: &[String]) -> Result<Self, FormatError> {
        let data = WebDataset::open(webdataset::Options {
            fields: fields.to_vec(),
            empty_check: false,
            ..webdataset::Options::new(path.display().to_string())
        })?;
        let mut stream = data.open(&Share::default())?;
        let samples = std::iter::from_fn(|| stream.next(&mut Untimed));
        samples.collect::<Result<_, _>>().map(Self)
    }
}

impl Rows for Samples {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn row(&self, index: usize, _: &mut dyn Stages) -> Result<Cell, FormatError> {
        let place = loadscope_formats::Place::named("samples").row(index as u64);
        let beyond =
            || FormatError::new(loadscope_formats::Fault::OutOfRange, place, "none", "None");
        self.0.get(index).cloned().ok_or_else(beyond)
    }
}

/// Returns a path as the text of a dataset.
pub fn text(path: &Path) -> String {
    path.display().to_string()
}

pub fn row(data: &dyn Rows, index: usize) -> Result<Cell, FormatError> {
    data.row(index, &mut Untimed)
}

/// Reads rows in a batch, or one by one if the format has no batch read.
pub fn all(data: &dyn Rows, indices: &[usize]) -> Result<Vec<Cell>, FormatError> {
    assert_eq!(data.has_rows(), data.rows(&[], &mut Untimed).is_some());
    match data.rows(indices, &mut Untimed) {
        Some(rows) => rows,
        None => indices.iter().map(|&index| row(data, index)).collect(),
    }
}

pub fn write(path: &Path, bytes: &[u8]) {
    #[allow(clippy::disallowed_methods, reason = "a file of a test")]
    std::fs::write(path, bytes).expect("room for a file");
}
