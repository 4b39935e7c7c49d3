//! Tables by column, in one file or several.

mod pages;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use arrow_array::{RecordBatch, RecordBatchReader as _};
use arrow_select::concat::concat_batches;
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowSelection,
    RowSelector,
};

use loadscope_words::say;
use parquet::errors::ParquetError;

use crate::buffer::Buffer;
use crate::cell::Cell;
use crate::columns::{Block, Blocks, Columns, Decoded, ROOM, guarded, labels, lengths};
use crate::error::{Fault, FormatError, Place};
use crate::rows::Rows;
use crate::slices::out_of_range;
use crate::stages::Stages;

/// So many bytes of a row group are decoded at once.
const PART: u64 = 32 << 20;

/// No part has more rows.
const MOST_ROWS: u64 = 1 << 20;

/// No file has more parts: it would have 32 TB.
const MOST_PARTS: u64 = 1 << 20;

/// Tables by column, as `pyarrow.parquet.read_table(paths).to_pylist()` has them, but that lists of numbers are arrays of their
/// dtype, points in time are texts and decimals are floats. Sample i is a `dict` of row i, over all files in the order given. Row groups
/// are decoded when one of their rows is asked for, once for all workers, and kept as long as there is room.
#[derive(Debug)]
pub struct Parquet {
    columns: Columns,
    blocks: Blocks<Part>,
    place: Place,
    notes: Vec<String>,
}

impl Parquet {
    /// Opens files with the same columns; a folder stands for the `.parquet` files in it, by name.
    ///
    /// # Errors
    /// If one cannot be opened or is damaged, has other columns than the first, or types that no sample can hold.
    pub fn open(paths: &[PathBuf]) -> Result<Self, FormatError> {
        let mut files = Vec::new();
        for path in paths {
            files.extend(listed(path)?);
        }
        let Some(first) = files.first() else {
            let place = paths
                .first()
                .map_or_else(Place::default, |path| Place::file(path));
            return Err(FormatError::new(
                Fault::Missing,
                place,
                say!("there are no .parquet files"),
                say!("Give files, or a folder of files"),
            ));
        };
        let place = Place::file(first);
        let mut opened = Vec::with_capacity(files.len());
        let mut parts = Vec::new();
        let mut bytes: u64 = 0;
        for path in &files {
            let file = Arc::new(ParquetFile::open(path)?);
            bytes = bytes.saturating_add(file.parts(&mut parts)?);
            opened.push(file);
        }
        let columns = same_columns(&opened, &place)?;
        let mut notes = columns.notes.clone();
        if bytes > ROOM as u64 {
            notes.push(format!(
                "{place}: decoded it takes about {} MB, of which {} are kept. In random order parts are decoded again and again; smaller \
                 row groups help.",
                bytes >> 20,
                ROOM >> 20
            ));
        }
        Ok(Self {
            columns,
            blocks: Blocks::new(parts),
            place,
            notes,
        })
    }

    fn sample(
        &self,
        at: usize,
        row: usize,
        decoded: &Decoded,
        index: usize,
    ) -> Result<Cell, FormatError> {
        let place = self
            .blocks
            .block(at)
            .map_or(&self.place, |part| &part.file.place);
        self.columns.row(&decoded.batch, row, place, index)
    }
}

/// A file, or the files in a folder.
fn listed(path: &Path) -> Result<Vec<PathBuf>, FormatError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    crate::paths::in_folder(path, "parquet")
}

/// The columns of all files.
fn same_columns(files: &[Arc<ParquetFile>], place: &Place) -> Result<Columns, FormatError> {
    let Some((first, others)) = files.split_first() else {
        return Columns::new(&arrow_schema::Schema::empty(), None, place);
    };
    let schema = first.metadata.schema();
    for file in others {
        let same = file
            .metadata
            .schema()
            .fields()
            .iter()
            .map(|f| (f.name(), f.data_type()));
        if !same.eq(schema.fields().iter().map(|f| (f.name(), f.data_type()))) {
            return Err(FormatError::new(
                Fault::WrongType,
                file.place.clone(),
                say!("its columns differ from those of {place}"),
                say!("Open files with the same columns together"),
            ));
        }
    }
    Columns::new(schema, None, place)
}

#[derive(Debug)]
struct ParquetFile {
    bytes: Bytes,
    metadata: ArrowReaderMetadata,
    place: Place,
    /// Whether the pages of each row group are as long as they say.
    checked: Vec<OnceLock<Result<(), FormatError>>>,
}

/// What lends the bytes of a mapped file.
struct Mapped(Buffer);

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl ParquetFile {
    fn open(path: &Path) -> Result<Self, FormatError> {
        let place = Place::file(path);
        let file = Buffer::map(path).map_err(|e| FormatError::reading(path, &e))?;
        let bytes = Bytes::from_owner(Mapped(file));
        let metadata = guarded(&place, || {
            ArrowReaderMetadata::load(&bytes, ArrowReaderOptions::new())
        })?;
        let groups = metadata.metadata().num_row_groups();
        Ok(Self {
            bytes,
            metadata,
            place,
            checked: (0..groups).map(|_| OnceLock::new()).collect(),
        })
    }

    /// Adds its parts; returns how many bytes they take, about.
    fn parts(self: &Arc<Self>, parts: &mut Vec<Part>) -> Result<u64, FormatError> {
        let mut bytes: u64 = 0;
        for (group, about) in self.metadata.metadata().row_groups().iter().enumerate() {
            let size = |size: i64| u64::try_from(size).ok();
            let columns = about.columns().iter();
            let whole = columns
                .map(|column| size(column.uncompressed_size()))
                .sum::<Option<u64>>();
            let (Some(rows), Some(whole)) = (size(about.num_rows()), whole) else {
                return Err(self.absurd(group));
            };
            bytes = bytes.saturating_add(whole);
            let each = (whole / rows.max(1)).max(1);
            let step = (PART / each).clamp(1, MOST_ROWS);
            if rows / step >= MOST_PARTS {
                return Err(self.absurd(group));
            }
            let mut begin = 0;
            while begin < rows {
                let count = step.min(rows - begin);
                parts.push(Part {
                    file: Arc::clone(self),
                    group,
                    begin: usize::try_from(begin).unwrap_or(usize::MAX),
                    rows: usize::try_from(count).unwrap_or(usize::MAX),
                });
                begin += count;
            }
        }
        Ok(bytes)
    }

    fn absurd(&self, group: usize) -> FormatError {
        FormatError::new(
            Fault::Damaged,
            self.place.clone(),
            say!("row group {group} declares an impossible number of rows or bytes"),
            say!("It is damaged: save it again"),
        )
    }
}

/// Some rows of a row group.
#[derive(Debug)]
struct Part {
    file: Arc<ParquetFile>,
    group: usize,
    begin: usize,
    rows: usize,
}

impl Part {
    /// All columns of its rows, or one.
    fn read(&self, column: Option<usize>) -> Result<RecordBatch, FormatError> {
        let file = &self.file;
        let place = &file.place;
        if let Some(checked) = file.checked.get(self.group) {
            let check = || pages::check(&file.bytes, file.metadata.metadata(), self.group, place);
            checked.get_or_init(check).clone()?;
        }
        let (schema, batches) = guarded(place, || {
            let selection = RowSelection::from(vec![
                RowSelector::skip(self.begin),
                RowSelector::select(self.rows),
            ]);
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(
                file.bytes.clone(),
                file.metadata.clone(),
            );
            let columns = match column {
                Some(column) => ProjectionMask::roots(builder.parquet_schema(), [column]),
                None => ProjectionMask::all(),
            };
            let reader = builder
                .with_row_groups(vec![self.group])
                .with_row_selection(selection)
                .with_projection(columns)
                .with_batch_size(self.rows)
                .build()?;
            let schema = reader.schema();
            let batches = reader.collect::<Result<Vec<RecordBatch>, _>>()?;
            Ok::<_, ParquetError>((schema, batches))
        })?;
        let batch = match <[RecordBatch; 1]>::try_from(batches) {
            Ok([batch]) => batch,
            Err(batches) => guarded(place, || concat_batches(&schema, &batches))?,
        };
        if batch.num_rows() != self.rows {
            return Err(FormatError::new(
                Fault::Damaged,
                place.clone(),
                say!(
                    "row group {} has {} rows from row {}, not {}",
                    self.group,
                    batch.num_rows(),
                    self.begin,
                    self.rows
                ),
                say!("It is damaged: save it again"),
            ));
        }
        Ok(batch)
    }
}

impl Block for Part {
    fn rows(&self) -> usize {
        self.rows
    }

    fn decode(&self) -> Result<Decoded, FormatError> {
        let batch = self.read(None)?;
        Ok(Decoded {
            bytes: batch.get_array_memory_size(),
            batch,
        })
    }

    fn column(&self, index: usize) -> Result<RecordBatch, FormatError> {
        self.read(Some(index))
    }
}

impl Rows for Parquet {
    fn len(&self) -> usize {
        self.blocks.len()
    }

    fn row(&self, index: usize, stages: &mut dyn Stages) -> Result<Cell, FormatError> {
        stages.enter("read");
        let Some((at, row)) = self.blocks.find(index) else {
            return Err(out_of_range(&self.place, index, self.len()));
        };
        let decoded = match self.blocks.ready(at) {
            Some(decoded) => Some(decoded),
            None => {
                stages.enter("decode");
                self.blocks.get(at)?
            }
        };
        match decoded {
            Some(decoded) => self.sample(at, row, &decoded, index),
            None => Err(out_of_range(&self.place, index, self.len())),
        }
    }

    /// Each part once, also where there is no room to keep it.
    fn rows(
        &self,
        indices: &[usize],
        stages: &mut dyn Stages,
    ) -> Option<Result<Vec<Cell>, FormatError>> {
        stages.enter("decode");
        let mut wanted: Vec<(usize, usize, usize)> = Vec::with_capacity(indices.len());
        for (place, &index) in indices.iter().enumerate() {
            match self.blocks.find(index) {
                Some((at, row)) => wanted.push((at, row, place)),
                None => return Some(Err(out_of_range(&self.place, index, self.len()))),
            }
        }
        wanted.sort_unstable();
        let mut cells = vec![Cell::Null; indices.len()];
        for same in wanted.chunk_by(|a, b| a.0 == b.0) {
            let Some(&(at, ..)) = same.first() else {
                continue;
            };
            let decoded = match self.blocks.get(at) {
                Ok(Some(decoded)) => decoded,
                Ok(None) => continue,
                Err(error) => return Some(Err(error)),
            };
            for &(_, row, place) in same {
                let index = indices.get(place).copied().unwrap_or(0);
                match (self.sample(at, row, &decoded, index), cells.get_mut(place)) {
                    (Ok(cell), Some(to)) => *to = cell,
                    (Ok(_), None) => {}
                    (Err(error), _) => return Some(Err(error)),
                }
            }
        }
        Some(Ok(cells))
    }

    fn has_rows(&self) -> bool {
        true
    }

    fn classes(&self) -> &[String] {
        &self.columns.classes
    }

    fn labels(&self) -> Option<Vec<u32>> {
        labels(&self.blocks, self.columns.label?)
    }

    fn column(&self, name: &str) -> Option<Result<Vec<Cell>, FormatError>> {
        self.columns.values(&self.blocks, name, &self.place)
    }

    fn lengths(&self) -> Option<Vec<u64>> {
        lengths(&self.blocks, self.columns.lists?)
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}
