//! Opening user data.

use std::path::{Path, PathBuf};

use loadscope_formats::webdataset::Shuffling;
use loadscope_formats::{
    Fault, FormatError, Place, Rows, Selected, Selection, StreamSource, arrow, audio, coco, csv,
    jsonl, lmdb, npy, npz, parquet, safetensors, sql, text, voc, webdataset,
};
use loadscope_plan::dataset::{
    CocoSpec, CocoTask, DataSpec, Decode, LmdbSpec, PictureSize, Separator, SqlSpec, TarSpec,
    VocSpec, VocTask, WebdatasetSpec,
};
use loadscope_words::say;

use super::rows::RowsDataset;
use super::sample::Shaping;
use super::stream::{StreamDataset, StreamPlace};
use crate::dataset::AnyDataset;
use crate::error::LoaderError;

/// Builds the selection of columns from the options of a table.
macro_rules! selection {
    ($spec:ident) => {
        Selection {
            columns: $spec.columns.clone(),
            image: $spec.image.clone(),
            label: $spec.label.clone(),
            ..Selection::default()
        }
    };
}

/// Opens `data`. `image_size` is the side of the square to which images are resized, if requested.
///
/// # Errors
/// The problem in the data, with its place and the remedy.
pub(in crate::dataset) fn open(
    data: &DataSpec,
    image_size: u32,
    place: StreamPlace,
) -> Result<AnyDataset, LoaderError> {
    let shaping = Shaping {
        side: match data.size() {
            Some(PictureSize::Square) => Some(image_size),
            Some(PictureSize::Original) | None => None,
        },
        is_annotated: matches!(data, DataSpec::Voc(_) | DataSpec::Coco(_)),
    };
    let opener = Opener { shaping, place };
    match data {
        DataSpec::Voc(spec) => opener.rows(open_voc(spec)),
        DataSpec::Coco(spec) => opener.rows(open_coco(spec)),
        DataSpec::Npy(spec) => {
            let window = spec.window.map(|length| npy::Window {
                length,
                stride: spec.stride.unwrap_or(length),
            });
            opener.rows(npy::Npy::open(spec.file.as_ref(), window))
        }
        DataSpec::Npz(spec) => opener.rows(npz::Npz::open(spec.file.as_ref(), &spec.keys)),
        DataSpec::Safetensors(spec) => {
            opener.rows(safetensors::Tensors::open(spec.file.as_ref(), &spec.keys))
        }
        DataSpec::Csv(spec) => {
            let path = Path::new(&spec.file);
            let rows = csv::Csv::open(path, spec.sep.map(Separator::byte));
            let rows =
                rows.and_then(|rows| non_empty(rows, path, say!("it has a header but no rows")));
            opener.table(rows, path, selection!(spec))
        }
        DataSpec::Jsonl(spec) => {
            let path = Path::new(&spec.file);
            let rows = jsonl::JsonLines::open(path);
            let rows = rows.and_then(|rows| non_empty(rows, path, say!("it has no rows")));
            opener.table(rows, path, selection!(spec))
        }
        DataSpec::Sql(spec) => opener.query(spec),
        DataSpec::Parquet(spec) => {
            let path = Path::new(&spec.files);
            let rows = parquet::Parquet::named(&spec.files);
            let rows = rows.and_then(|rows| non_empty(rows, path, say!("it has no rows")));
            opener.table(rows, path, selection!(spec))
        }
        DataSpec::Arrow(spec) => {
            let mut path = PathBuf::from(&spec.dir);
            path.extend(&spec.split);
            let rows = arrow::SavedDataset::open(&path);
            let rows = rows.and_then(|rows| non_empty(rows, &path, say!("it has no rows")));
            opener.table(rows, &path, selection!(spec))
        }
        DataSpec::Webdataset(spec) => opener.stream(open_shards(spec)),
        DataSpec::Tar(spec) => opener.stream(open_archive(spec)),
        DataSpec::Lmdb(spec) => opener.rows(open_lmdb(spec)),
        DataSpec::Audio(spec) => opener.rows(audio::Sounds::open(spec.dir.as_ref())),
        DataSpec::Text(spec) => {
            let vocabulary = spec.vocab.as_deref().map(Path::new);
            opener.rows(text::Text::open(spec.file.as_ref(), vocabulary))
        }
    }
}

fn opening(error: FormatError) -> LoaderError {
    LoaderError::Dataset(error.to_string())
}

/// Returns the table, or an error if it has no rows.
fn non_empty<R: Rows>(rows: R, path: &Path, reason: &'static str) -> Result<R, FormatError> {
    if !rows.is_empty() {
        return Ok(rows);
    }
    let remedy = say!("Add rows, or choose another file");
    Err(FormatError::new(
        Fault::Damaged,
        Place::file(path),
        reason,
        remedy,
    ))
}

struct Opener {
    shaping: Shaping,
    place: StreamPlace,
}

impl Opener {
    fn rows<R: Rows + 'static>(
        &self,
        rows: Result<R, FormatError>,
    ) -> Result<AnyDataset, LoaderError> {
        Ok(AnyDataset::map(RowsDataset::new(
            rows.map_err(opening)?,
            self.shaping,
        )))
    }

    fn stream<S: StreamSource + 'static>(
        &self,
        source: Result<S, FormatError>,
    ) -> Result<AnyDataset, LoaderError> {
        let stream = StreamDataset::new(source.map_err(opening)?, self.shaping, self.place);
        Ok(AnyDataset::iterable(stream))
    }
}

impl Opener {
    /// Opens selected columns of a table.
    fn table<R: Rows + 'static>(
        &self,
        rows: Result<R, FormatError>,
        path: &Path,
        chosen: Selection,
    ) -> Result<AnyDataset, LoaderError> {
        let of = Selection {
            folder: path.parent().map(Path::to_owned).unwrap_or_default(),
            table: path.display().to_string(),
            ..chosen
        };
        self.rows(rows.and_then(|rows| Selected::new(rows, of)))
    }

    fn query(&self, spec: &SqlSpec) -> Result<AnyDataset, LoaderError> {
        let query = sql::Query {
            index: spec.index.clone(),
            image: spec.image.clone(),
            text_column: spec.text.clone(),
            label: spec.label.clone(),
            ..sql::Query::new(&spec.query)
        };
        let source = sql::Source::parse(&spec.url).map_err(opening)?;
        match sql::open(&source, &query).map_err(opening)? {
            sql::Opened::Rows(rows) => self.rows(Ok(rows)),
            sql::Opened::Stream(stream) => self.stream(Ok(stream)),
        }
    }
}

fn open_voc(spec: &VocSpec) -> Result<voc::Voc, FormatError> {
    let options = voc::Options {
        set: spec.set.clone(),
        year: spec.year.clone(),
        has_masks: spec.task == VocTask::Segmentation,
        classes: spec.classes.clone(),
    };
    voc::Voc::open(spec.dir.as_ref(), &options)
}

fn open_coco(spec: &CocoSpec) -> Result<coco::Coco, FormatError> {
    let options = coco::Options {
        task: match spec.task {
            CocoTask::Auto => None,
            CocoTask::Instances => Some(coco::Task::Instances),
            CocoTask::Captions => Some(coco::Task::Captions),
            CocoTask::Keypoints => Some(coco::Task::Keypoints),
        },
        has_masks: spec.masks,
    };
    coco::Coco::open(spec.images.as_ref(), spec.annotations.as_ref(), &options)
}

fn open_shards(spec: &WebdatasetSpec) -> Result<webdataset::WebDataset, FormatError> {
    webdataset::WebDataset::open(webdataset::Options {
        // The window of 100 shards is that of the webdataset package.
        shardshuffle: spec.shuffle_shards.then(|| Shuffling::of(100)),
        shuffle: (spec.shuffle > 0).then(|| Shuffling::of(spec.shuffle)),
        fields: spec.fields.clone(),
        ..webdataset::Options::new(&spec.shards)
    })
}

fn open_archive(spec: &TarSpec) -> Result<webdataset::WebDataset, FormatError> {
    webdataset::WebDataset::open(webdataset::Options {
        shuffle: (spec.shuffle > 0).then(|| Shuffling::of(spec.shuffle)),
        fields: spec.fields.clone(),
        ..webdataset::Options::new(&spec.file)
    })
}

fn open_lmdb(spec: &LmdbSpec) -> Result<lmdb::Lmdb, FormatError> {
    let decode = match spec.decode {
        Decode::Auto => lmdb::Decode::Auto,
        Decode::Picture => lmdb::Decode::Picture,
        Decode::Npy => lmdb::Decode::Npy,
        Decode::Text => lmdb::Decode::Text,
        Decode::Bytes => lmdb::Decode::Bytes,
    };
    let options = lmdb::Options {
        decode,
        database: None,
    };
    lmdb::Lmdb::open(spec.dir.as_ref(), options)
}
