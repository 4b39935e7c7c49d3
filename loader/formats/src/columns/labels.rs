//! The class of each row, out of the one column that has them.

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Schema};

use super::cells::cell;
use super::meaning::Meaning;
use super::{Block, Blocks};
use crate::cell::Cell;
use crate::error::Place;
use crate::slices::LABELS;

/// The column that has the classes: the one that was named, else the only one of whole numbers that is named so.
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

/// The classes of all rows, read part by part, and nothing but their column; `None`: one is missing, negative, or cannot be read.
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
        match cell(column, row, &Meaning::Plain, &Place::default) {
            Ok(Cell::Int(label)) => labels.push(u32::try_from(label).ok()?),
            _ => return None,
        }
    }
    Some(())
}
