//! Opening of the data that a text names.

use std::path::{Path, PathBuf};

use loadscope_plan::dataset::{DataSpec, Separator, SqlSpec};
use loadscope_words::say;

use crate::error::{FormatError, Place};
use crate::rows::Rows;
use crate::selection::{Selected, Selection};
use crate::stream::Opened;
use crate::webdataset::{self, Shuffling, WebDataset};
use crate::{arrow, audio, coco, csv, jsonl, lmdb, npy, npz, parquet, safetensors, sql, text, voc};

/// Opens the columns of a table that the options select.
macro_rules! table {
    ($rows:expr, $path:expr, $spec:ident) => {{
        let path: &Path = $path;
        let selection = Selection {
            columns: $spec.columns.clone(),
            image: $spec.image.clone(),
            label: $spec.label.clone(),
            folder: path.parent().map(Path::to_owned).unwrap_or_default(),
            table: path.display().to_string(),
        };
        rows(Selected::new($rows, selection)?)
    }};
}

/// Opens data.
///
/// # Errors
/// The problem in the data, with its place and the remedy.
pub fn open(data: &DataSpec) -> Result<Opened, FormatError> {
    Ok(match data {
        DataSpec::Voc(spec) => rows(voc::Voc::open(spec)?),
        DataSpec::Coco(spec) => rows(coco::Coco::open(spec)?),
        DataSpec::Npy(spec) => {
            let window = spec.window.map(|length| npy::Window {
                length,
                stride: spec.stride.unwrap_or(length),
            });
            rows(npy::Npy::open(spec.file.as_ref(), window)?)
        }
        DataSpec::Npz(spec) => rows(npz::open(spec.file.as_ref(), &spec.keys)?),
        DataSpec::Safetensors(spec) => rows(safetensors::open(spec.file.as_ref(), &spec.keys)?),
        DataSpec::Csv(spec) => {
            let path = Path::new(&spec.file);
            let rows = csv::Csv::open(path, spec.sep.map(Separator::byte))?;
            let rows = non_empty(rows, path, say!("it has a header but no rows"))?;
            table!(rows, path, spec)
        }
        DataSpec::Jsonl(spec) => {
            let path = Path::new(&spec.file);
            let rows = non_empty(jsonl::JsonLines::open(path)?, path, say!("it has no rows"))?;
            table!(rows, path, spec)
        }
        DataSpec::Sql(spec) => return query(spec),
        DataSpec::Parquet(spec) => {
            let path = Path::new(&spec.files);
            let rows = parquet::Parquet::named(&spec.files)?;
            table!(non_empty(rows, path, say!("it has no rows"))?, path, spec)
        }
        DataSpec::Arrow(spec) => {
            let mut path = PathBuf::from(&spec.dir);
            path.extend(&spec.split);
            let rows = arrow::SavedDataset::open(&path)?;
            table!(non_empty(rows, &path, say!("it has no rows"))?, &path, spec)
        }
        DataSpec::Webdataset(spec) => stream(webdataset::Options {
            // The window of 100 shards is that of the webdataset package.
            shardshuffle: spec.shuffle_shards.then(|| Shuffling::of(100)),
            shuffle: (spec.shuffle > 0).then(|| Shuffling::of(spec.shuffle)),
            fields: spec.fields.clone(),
            ..webdataset::Options::new(&spec.shards)
        })?,
        DataSpec::Tar(spec) => stream(webdataset::Options {
            shuffle: (spec.shuffle > 0).then(|| Shuffling::of(spec.shuffle)),
            fields: spec.fields.clone(),
            ..webdataset::Options::new(&spec.file)
        })?,
        DataSpec::Lmdb(spec) => {
            let options = lmdb::Options {
                decode: spec.decode,
                database: None,
            };
            rows(lmdb::Lmdb::open(spec.dir.as_ref(), options)?)
        }
        DataSpec::Audio(spec) => rows(audio::Sounds::open(spec.dir.as_ref())?),
        DataSpec::Text(spec) => {
            let vocabulary = spec.vocab.as_deref().map(Path::new);
            rows(text::Text::open(spec.file.as_ref(), vocabulary)?)
        }
    })
}

fn rows(rows: impl Rows + 'static) -> Opened {
    Opened::Rows(Box::new(rows))
}

fn stream(options: webdataset::Options) -> Result<Opened, FormatError> {
    Ok(Opened::Stream(Box::new(WebDataset::open(options)?)))
}

fn query(spec: &SqlSpec) -> Result<Opened, FormatError> {
    let query = sql::Query {
        index: spec.index.clone(),
        image: spec.image.clone(),
        text_column: spec.text.clone(),
        label: spec.label.clone(),
        ..sql::Query::new(&spec.query)
    };
    sql::open(&sql::Source::parse(&spec.url)?, &query)
}

/// Returns the table, or an error if it has no rows.
fn non_empty<R: Rows>(rows: R, path: &Path, reason: &'static str) -> Result<R, FormatError> {
    if !rows.is_empty() {
        return Ok(rows);
    }
    let remedy = say!("Add rows, or choose another file");
    Err(fault!(Damaged, Place::file(path), reason; remedy))
}
