//! Arrow columns as cells, for `arrow` and `parquet`.

mod blocks;
mod cells;
mod dates;
mod feature;
mod files;
mod labels;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema};

use crate::cell::Cell;
use crate::error::{FormatError, Place};
use crate::slices::LABELS;

pub(crate) use blocks::{Block, Blocks, CACHE_BYTES, Decoded};
use feature::Feature;
pub(crate) use labels::{labels, lengths, values};
use loadscope_words::{say, strip_os_error_codes};

#[derive(Debug)]
pub(crate) struct Columns {
    columns: Vec<Column>,
    pub(crate) classes: Vec<String>,
    /// Index of the class column.
    pub(crate) label: Option<usize>,
    /// Index of the column with lists of the sample's length.
    pub(crate) lists: Option<usize>,
    pub(crate) notes: Vec<String>,
}

#[derive(Debug)]
struct Column {
    name: Arc<str>,
    feature: Feature,
}

impl Columns {
    /// Creates the columns of a schema. `features` are the features that `datasets` saved. Without them, the schema may contain some.
    ///
    /// # Errors
    /// If a column has a type that no sample supports.
    pub(crate) fn new(
        schema: &Schema,
        features: Option<&serde_json::Value>,
        place: &Place,
    ) -> Result<Self, FormatError> {
        let own = schema
            .metadata()
            .get("huggingface")
            .and_then(|said| feature::features(said));
        let features = features.or(own.as_ref());
        let mut columns: Vec<Column> = Vec::new();
        let mut notes = Vec::new();
        let mut classes: Vec<(&str, Vec<String>)> = Vec::new();
        for field in schema.fields() {
            readable(field, place)?;
            if columns.iter().any(|column| *column.name == **field.name()) {
                bail!(Damaged, place.clone().key(field.name().as_str()), say!("several columns have this name");
                    say!("Give each column a unique name"));
            }
            let feature = features
                .and_then(|features| features.get(field.name()))
                .map_or(Feature::Plain, Feature::read);
            if let Feature::Class(names) = &feature {
                classes.push((field.name(), names.clone()));
            }
            if let Some(what) = note(field.data_type()) {
                notes.push(format!("{place}: column '{}' has {what}.", field.name()));
            }
            columns.push(Column {
                name: field.name().as_str().into(),
                feature,
            });
        }
        // If several columns have classes, the name decides.
        let named = classes.iter().position(|(name, _)| LABELS.contains(name));
        let chosen = if classes.len() == 1 { Some(0) } else { named };
        let classes = chosen.and_then(|at| classes.into_iter().nth(at));
        let said = classes.as_ref().map(|(name, _)| *name);
        Ok(Self {
            columns,
            label: labels::column(schema, said),
            lists: labels::lists(schema),
            classes: classes.map(|(_, names)| names).unwrap_or_default(),
            notes,
        })
    }

    /// Returns the index and the meaning of a column.
    pub(crate) fn find(&self, name: &str) -> Option<(usize, &Feature)> {
        let at = self
            .columns
            .iter()
            .position(|column| *column.name == *name)?;
        Some((at, &self.columns.get(at)?.feature))
    }

    /// Returns row `row` of a record batch. `place` is the source of the batch, and `index` is the row in the table.
    ///
    /// # Errors
    /// If an image file cannot be read, or a value has no cell type.
    pub(crate) fn row(
        &self,
        batch: &RecordBatch,
        row: usize,
        place: &Place,
        index: usize,
    ) -> Result<Cell, FormatError> {
        let mut entries = Vec::with_capacity(self.columns.len());
        for (column, array) in self.columns.iter().zip(batch.columns()) {
            let here = || place.clone().row(index as u64).key(&*column.name);
            let cell = cells::cell(array, row, &column.feature, &here)?;
            entries.push((Arc::clone(&column.name), cell));
        }
        Ok(Cell::Map(entries))
    }
}

/// Refuses types that no sample supports.
fn readable(field: &Field, place: &Place) -> Result<(), FormatError> {
    fn all(field: &DataType) -> bool {
        match field {
            DataType::Union(..) | DataType::Interval(_) => false,
            DataType::RunEndEncoded(_, of) | DataType::List(of) | DataType::LargeList(of) => {
                all(of.data_type())
            }
            DataType::FixedSizeList(of, _) | DataType::Map(of, _) => all(of.data_type()),
            DataType::Dictionary(_, of) => all(of),
            DataType::Struct(of) => of.iter().all(|field| all(field.data_type())),
            DataType::ListView(_) | DataType::LargeListView(_) => false,
            _ => true,
        }
    }
    if all(field.data_type()) {
        return Ok(());
    }
    bail!(WrongType, place.clone().key(field.name().as_str()), say!("its type {} is not supported", field.data_type());
        say!("Remove the column, or save it as another type"))
}

/// Describes the values of types that samples contain in another type.
fn note(field: &DataType) -> Option<&'static str> {
    match field {
        DataType::Timestamp(_, Some(_)) => Some("points in time, which are texts here, in UTC"),
        DataType::Timestamp(_, None) => Some("points in time, which are texts here"),
        DataType::Date32 | DataType::Date64 => Some("dates, which are texts here"),
        DataType::Time32(_) | DataType::Time64(_) => Some("times, which are texts here"),
        DataType::Duration(_) => Some("durations, which are whole numbers of their unit here"),
        DataType::Decimal32(..)
        | DataType::Decimal64(..)
        | DataType::Decimal128(..)
        | DataType::Decimal256(..) => Some("decimals, which are floats here"),
        _ => None,
    }
}

/// Runs a third-party decoder and converts its panics to errors. No value that it changed is used again.
pub(crate) fn guarded<R, E: std::fmt::Display>(
    place: &Place,
    work: impl FnOnce() -> Result<R, E>,
) -> Result<R, FormatError> {
    let damaged = |what: String| {
        let what = strip_os_error_codes(what.lines().next().unwrap_or_default());
        let what = ["Parquet error: ", "Parser error: ", "External: "]
            .iter()
            .find_map(|begin| what.strip_prefix(begin))
            .unwrap_or(&what);
        let short: String = what.chars().take(200).collect();
        fault!(Damaged, place.clone(), say!("it cannot be decoded ({short})");
            say!("It is truncated, damaged or of another format: copy or save it again"))
    };
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(error)) => Err(damaged(error.to_string())),
        Err(_) => Err(damaged(
            say!("its header and its data contradict each other").to_owned(),
        )),
    }
}

/// Returns value `row` of an array, by its type only.
///
/// # Errors
/// If no cell type fits.
pub(crate) fn plain(array: &dyn arrow_array::Array, row: usize) -> Result<Cell, FormatError> {
    cells::cell(array, row, &Feature::Plain, &Place::default)
}
