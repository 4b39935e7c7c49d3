//! Decoding of a file in chunks: up to 32 MiB of rows of a row group.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use arrow_array::{RecordBatch, RecordBatchReader as _};
use arrow_select::concat::concat_batches;
use bytes::Bytes;
use loadscope_words::say;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowSelection,
    RowSelector,
};
use parquet::errors::ParquetError;

use super::merged::{Merged, Source};
use super::pages;
use crate::buffer::Buffer;
use crate::columns::{Block, Decoded, guarded};
use crate::error::{FormatError, Place};

/// Decompressed size of a chunk, bytes.
const PART: u64 = 32 << 20;

/// Maximum number of rows per chunk.
const MOST_ROWS: u64 = 1 << 20;

/// Maximum number of chunks per row group. More would be 32 TiB.
const MOST_PARTS: u64 = 1 << 20;

#[derive(Debug)]
pub(super) struct ParquetFile {
    bytes: Bytes,
    pub(super) metadata: ArrowReaderMetadata,
    pub(super) place: Place,
    /// Result of the page check of each row group.
    checked: Vec<OnceLock<Result<(), FormatError>>>,
}

/// Owner of the bytes of a mapped file.
struct Mapped(Buffer);

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl ParquetFile {
    pub(super) fn open(path: &Path) -> Result<Self, FormatError> {
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

    /// Adds the chunks of the file. Returns their approximate decompressed size, bytes.
    pub(super) fn parts(
        self: &Arc<Self>,
        columns: &Arc<FileColumns>,
        parts: &mut Vec<Part>,
    ) -> Result<u64, FormatError> {
        let mut bytes: u64 = 0;
        for (group, about) in self.metadata.metadata().row_groups().iter().enumerate() {
            let size = |size: i64| u64::try_from(size).ok();
            let chunks = about.columns().iter();
            let whole = chunks
                .map(|column| size(column.uncompressed_size()))
                .sum::<Option<u64>>();
            let (Some(rows), Some(whole)) = (size(about.num_rows()), whole) else {
                return Err(self.invalid_row_group(group));
            };
            bytes = bytes.saturating_add(whole);
            let each = (whole / rows.max(1)).max(1);
            let step = (PART / each).clamp(1, MOST_ROWS);
            if rows / step >= MOST_PARTS {
                return Err(self.invalid_row_group(group));
            }
            let mut begin = 0;
            while begin < rows {
                let count = step.min(rows - begin);
                parts.push(Part {
                    file: Arc::clone(self),
                    columns: Arc::clone(columns),
                    group,
                    begin: usize::try_from(begin).unwrap_or(usize::MAX),
                    rows: usize::try_from(count).unwrap_or(usize::MAX),
                });
                begin += count;
            }
        }
        Ok(bytes)
    }

    fn invalid_row_group(&self, group: usize) -> FormatError {
        fault!(Damaged, self.place.clone(), say!("row group {group} declares an impossible number of rows or bytes");
            say!("It is damaged: save it again"))
    }
}

/// Table columns and their sources in a file.
#[derive(Debug)]
pub(super) struct FileColumns {
    pub(super) table: Arc<Merged>,
    pub(super) sources: Vec<Source>,
}

/// A chunk: some rows of a row group.
#[derive(Debug)]
pub struct Part {
    file: Arc<ParquetFile>,
    columns: Arc<FileColumns>,
    group: usize,
    begin: usize,
    rows: usize,
}

impl Part {
    /// Decodes all columns of the chunk, or one.
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
                None => ProjectionMask::all(),
                Some(column) => match self.columns.sources.get(column) {
                    Some(Source::Stored(own, _)) => {
                        ProjectionMask::roots(builder.parquet_schema(), [*own])
                    }
                    _ => ProjectionMask::none(builder.parquet_schema().num_columns()),
                },
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
            bail!(Damaged, place.clone(),
                say!("row group {} has {} rows from row {}, not {}", self.group, batch.num_rows(), self.begin, self.rows);
                say!("It is damaged: save it again"));
        }
        let FileColumns { table, sources } = &*self.columns;
        table.batch(&batch, sources, column, place)
    }
}

impl Block for Part {
    const IS_LARGE: bool = true;

    fn place(&self) -> &Place {
        &self.file.place
    }

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
