//! Classes of rows, values of a column, and lengths of its lists.

use arrow_array::cast::AsArray as _;
use arrow_array::{Array as _, RecordBatch};
use arrow_schema::{DataType, Schema};

use super::blocks::{Block, Blocks};
use super::cells::cell;
use super::feature::Feature;
use crate::cell::Cell;
use crate::error::{FormatError, Place};
use crate::slices::LABELS;

/// Returns the class column: the one in `said`, or else the only integer column with a label name.
pub(super) fn column(schema: &Schema, said: Option<&str>) -> Option<usize> {
    if let Some(said) = said {
        return schema.index_of(said).ok();
    }
    let whole = |of: &DataType| of.is_integer();
    let mut named = (schema.fields().iter().enumerate())
        .filter(|(_, field)| LABELS.contains(&field.name().as_str()) && whole(field.data_type()));
    let (at, _) = named.next()?;
    named.next().is_none().then_some(at)
}

/// Returns the classes of all rows. Only their column is read, chunk by chunk. Returns `None` if one is missing, negative or unreadable.
pub(crate) fn labels<B: Block>(blocks: &Blocks<B>, column: usize) -> Option<Vec<u32>> {
    let mut labels = Vec::with_capacity(blocks.len());
    for block in blocks.all() {
        add(&block.column(column).ok()?, &mut labels)?;
    }
    (labels.len() == blocks.len()).then_some(labels)
}

fn add(batch: &RecordBatch, labels: &mut Vec<u32>) -> Option<()> {
    let column = batch.columns().first()?;
    for row in 0..batch.num_rows() {
        match cell(column, row, &Feature::Plain, &Place::default) {
            Ok(Cell::Int(label)) => labels.push(u32::try_from(label).ok()?),
            _ => return None,
        }
    }
    Some(())
}

/// Names of columns with the tokens of texts.
const TOKENS: [&str; 2] = ["input_ids", "tokens"];

/// Returns the list column that defines the length of a row: the token column, or else the only list column.
pub(super) fn lists(schema: &Schema) -> Option<usize> {
    let is_list = |of: &DataType| matches!(of, DataType::List(_) | DataType::LargeList(_));
    let named = TOKENS.iter().find_map(|name| schema.index_of(name).ok());
    if let Some(at) = named.filter(|at| is_list(schema.field(*at).data_type())) {
        return Some(at);
    }
    let mut lists =
        (schema.fields().iter().enumerate()).filter(|(_, field)| is_list(field.data_type()));
    let (at, _) = lists.next()?;
    lists.next().is_none().then_some(at)
}

/// Returns the lengths of the lists of a column, which is read chunk by chunk. A null has length 0. Returns `None` if they cannot be read.
pub(crate) fn lengths<B: Block>(blocks: &Blocks<B>, column: usize) -> Option<Vec<u64>> {
    let mut lengths = Vec::with_capacity(blocks.len());
    for block in blocks.all() {
        let batch = block.column(column).ok()?;
        let lists = batch.columns().first()?;
        for row in 0..lists.len() {
            let length = match lists.as_list_opt::<i32>() {
                Some(lists) => lists.value_length(row) as u64,
                None => lists.as_list_opt::<i64>()?.value_length(row) as u64,
            };
            lengths.push(if lists.is_null(row) { 0 } else { length });
        }
    }
    (lengths.len() == blocks.len()).then_some(lengths)
}

/// Returns the values of one column, which is read chunk by chunk.
pub(crate) fn values<B: Block>(
    blocks: &Blocks<B>,
    (at, feature): (usize, &Feature),
    name: &str,
    place: &Place,
) -> Result<Vec<Cell>, FormatError> {
    let mut values = Vec::with_capacity(blocks.len());
    for block in blocks.all() {
        let batch = block.column(at)?;
        let Some(column) = batch.columns().first() else {
            continue;
        };
        for row in 0..batch.num_rows() {
            let here = || place.clone().row(values.len() as u64).key(name);
            let value = cell(column, row, feature, &here)?;
            values.push(value);
        }
    }
    Ok(values)
}
