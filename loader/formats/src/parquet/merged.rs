//! One table from files with different columns. The table has the columns of the first file, as in pyarrow's datasets.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    Array as _, ArrayRef, DictionaryArray, Int32Array, RecordBatch, RecordBatchOptions,
    StringArray, new_null_array,
};
use arrow_schema::{DataType, Field, Schema};
use loadscope_words::say;

use super::cast::{cast, fits};
use super::folder::PartitionedFile;
use crate::error::{FormatError, Place};

/// Columns of the table.
#[derive(Debug)]
pub(super) struct Merged {
    pub(super) schema: Schema,
    /// Number of columns that are not partitions.
    stored: usize,
}

/// Source of a table column in one file.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// Index of a column in the file, and the type for a cast if the table's type differs.
    Stored(usize, Option<DataType>),
    /// Nulls of this type.
    Missing(DataType),
    /// One value for all rows.
    Number(Option<i32>),
    Text(Option<String>),
}

impl Merged {
    /// Creates the columns: those of `first`, then the partitions of all files.
    ///
    /// # Errors
    /// If a partition has the name of a column, or no value.
    pub(super) fn new(
        first: &Schema,
        files: &[PartitionedFile],
        place: &Place,
    ) -> Result<Self, FormatError> {
        let mut keys: Vec<&str> = Vec::new();
        for (key, _) in files.iter().flat_map(|file| &file.partitions) {
            if !keys.contains(&key.as_str()) {
                keys.push(key);
            }
        }
        let mut fields: Vec<Arc<Field>> = first.fields().iter().cloned().collect();
        for key in keys {
            let wrong = |reason: &str, remedy: &str| {
                Err(fault!(WrongType, place.clone().key(key), reason; remedy))
            };
            if first.fields().find(key).is_some() {
                return wrong(
                    say!("the files have a column with the name of this partition"),
                    say!("Rename the column, or the folders KEY=VALUE"),
                );
            }
            let values = files.iter().flat_map(|file| &file.partitions);
            let values = values.filter(|(own, _)| own == key);
            let mut values = values.filter_map(|(_, value)| value.as_deref()).peekable();
            if values.peek().is_none() {
                return wrong(
                    say!("all folders of this partition mean null"),
                    say!("Rename the folders KEY=VALUE"),
                );
            }
            let of = match values.all(|value| number(value).is_some()) {
                true => DataType::Int32,
                false => DataType::Utf8,
            };
            fields.push(Arc::new(Field::new(key, of, true)));
        }
        Ok(Self {
            schema: Schema::new_with_metadata(fields, first.metadata().clone()),
            stored: first.fields().len(),
        })
    }

    /// Returns the sources of the columns in a file, and the names of file columns that the table lacks.
    ///
    /// # Errors
    /// If a column has a type that cannot be cast to that of the table.
    pub(super) fn sources(
        &self,
        schema: &Schema,
        file: &PartitionedFile,
        place: &Place,
    ) -> Result<(Vec<Source>, BTreeSet<String>), FormatError> {
        let mut sources = Vec::with_capacity(self.schema.fields().len());
        for (at, field) in self.schema.fields().iter().enumerate() {
            let own = schema.fields().find(field.name());
            sources.push(match own {
                _ if at >= self.stored => {
                    let found = file.partitions.iter().find(|(key, _)| key == field.name());
                    let value = found.and_then(|(_, value)| value.clone());
                    match field.data_type() {
                        DataType::Int32 => Source::Number(value.and_then(|value| number(&value))),
                        _ => Source::Text(value),
                    }
                }
                Some((own, found)) => {
                    let (from, to) = (found.data_type(), field.data_type());
                    if !fits(from, to) {
                        bail!(WrongType, place.clone().key(field.name().as_str()), say!("its type is {from}, but {to} in the first file");
                            say!("Save the files with the same types"));
                    }
                    let other = (from != to).then(|| to.clone());
                    Source::Stored(own, other)
                }
                None => Source::Missing(field.data_type().clone()),
            });
        }
        let names = schema.fields().iter().map(|field| field.name());
        let unknown = names.filter(|name| self.schema.fields().find(name).is_none());
        Ok((sources, unknown.cloned().collect()))
    }

    /// Converts a batch of a file to the columns of the table, or to one of them.
    ///
    /// # Errors
    /// If a value does not fit the type of the table.
    pub(super) fn batch(
        &self,
        stored: &RecordBatch,
        sources: &[Source],
        column: Option<usize>,
        place: &Place,
    ) -> Result<RecordBatch, FormatError> {
        let rows = stored.num_rows();
        let (mut fields, mut arrays): (Vec<Field>, Vec<ArrayRef>) = Default::default();
        for (at, (source, field)) in sources.iter().zip(self.schema.fields()).enumerate() {
            if column.is_some_and(|column| column != at) {
                continue;
            }
            let array = match source {
                Source::Stored(own, to) => {
                    // A single column was read alone, at index 0.
                    let own = if column.is_some() { 0 } else { *own };
                    let array = stored.columns().get(own).cloned();
                    let array = array.unwrap_or_else(|| new_null_array(field.data_type(), rows));
                    match to {
                        Some(to) => cast(&array, to, &place.clone().key(field.name().as_str()))?,
                        None => array,
                    }
                }
                Source::Missing(of) => new_null_array(of, rows),
                Source::Number(value) => Arc::new(Int32Array::from(vec![*value; rows])),
                Source::Text(value) => repeated(value.as_deref(), rows),
            };
            fields.push(Field::new(field.name(), array.data_type().clone(), true));
            arrays.push(array);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)
            .map_err(|_| damaged(place))
    }
}

fn damaged(place: &Place) -> FormatError {
    fault!(Damaged, place.clone(), say!("its columns differ in length"); say!("It is damaged: save it again"))
}

/// Creates a dictionary array with the same text in each row.
fn repeated(value: Option<&str>, rows: usize) -> ArrayRef {
    let keys = Int32Array::from(vec![value.map(|_| 0); rows]);
    let values = Arc::new(StringArray::from(vec![value.unwrap_or_default()]));
    match DictionaryArray::<Int32Type>::try_new(keys, values) {
        Ok(array) => Arc::new(array),
        Err(_) => new_null_array(&DataType::Utf8, rows),
    }
}

/// Parses the number of a partition with Arrow's rules.
fn number(text: &str) -> Option<i32> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}
