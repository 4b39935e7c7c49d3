//! A map-style dataset of rows.

use std::collections::HashMap;

use loadscope_formats::{Cell, InMemory, Rows};
use loadscope_words::say;

use super::sample::{Shaping, sample_error};
use crate::dataset::{Dataset, SampleClock, SampleError};
use crate::plan::RequiredColumn;
use crate::value::Value;

/// Rows with decoded images, and with arrays as tensors.
pub(super) struct RowsDataset {
    rows: Box<dyn Rows>,
    shaping: Shaping,
}

impl RowsDataset {
    pub fn new(rows: Box<dyn Rows>, shaping: Shaping) -> Self {
        Self { rows, shaping }
    }
}

impl Dataset for RowsDataset {
    type Sample = Value;

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn get(&self, index: usize, clock: &mut SampleClock) -> Result<Value, SampleError> {
        if index >= self.rows.len() {
            return Err(SampleError::out_of_range(index, self.rows.len()));
        }
        let row = self.rows.row(index, clock);
        clock.end_stage();
        self.shaping
            .sample(row.map_err(|e| sample_error(&e))?, clock)
    }

    /// Reads several rows. The time of a shared read counts for the last row.
    fn get_batch(
        &self,
        indices: &[usize],
        clock: &mut SampleClock,
    ) -> Option<Result<Vec<Value>, SampleError>> {
        if !self.rows.has_rows() {
            return None;
        }
        if let Some(&index) = indices.iter().find(|index| **index >= self.rows.len()) {
            return Some(Err(SampleError::out_of_range(index, self.rows.len())));
        }
        if indices.is_empty() {
            return Some(Ok(Vec::new()));
        }
        for _ in indices {
            clock.begin_sample();
        }
        let rows = self.rows.rows(indices, clock);
        clock.end_stage();
        match rows? {
            Ok(rows) => {
                let samples = rows.into_iter().map(|row| self.shaping.sample(row, clock));
                Some(samples.collect())
            }
            Err(error) => Some(Err(sample_error(&error))),
        }
    }

    fn has_get_batch(&self) -> bool {
        self.rows.has_rows()
    }

    fn in_memory(&self) -> Option<InMemory<'_>> {
        self.rows.in_memory()
    }

    fn classes(&self) -> &[String] {
        self.rows.classes()
    }

    fn labels(&self) -> Option<Vec<u32>> {
        self.rows.labels()
    }

    fn groups(&self, column: &str) -> Option<Result<Vec<u32>, SampleError>> {
        let Some(values) = self.rows.column(column) else {
            let labels = (column == RequiredColumn::LABEL).then(|| self.rows.labels());
            return labels.flatten().map(Ok);
        };
        Some(match values {
            Ok(values) => numbered(column, &values),
            Err(error) => Err(sample_error(&error)),
        })
    }

    fn lengths(&self) -> Option<Vec<u64>> {
        self.rows.lengths()
    }

    fn notes(&self) -> &[String] {
        self.rows.notes()
    }
}

/// Numbers the values. Equal values have equal numbers.
fn numbered(column: &str, values: &[Cell]) -> Result<Vec<u32>, SampleError> {
    let mut numbers = HashMap::new();
    let mut number = |value: &Cell| {
        let next = numbers.len() as u32;
        let value = compared(value)?;
        Some(*numbers.entry(value).or_insert(next))
    };
    let numbered = values.iter().map(&mut number).collect::<Option<_>>();
    numbered.ok_or_else(|| {
        let message = say!(
            "samples cannot be grouped by {column}: its values are neither numbers nor strings. Choose another column."
        );
        SampleError::new("TypeError", message)
    })
}

/// Returns a text that is equal for equal values. Returns `None` for an unsupported type.
fn compared(value: &Cell) -> Option<String> {
    Some(match value {
        Cell::Null => "null".to_owned(),
        Cell::Bool(truth) => truth.to_string(),
        Cell::Int(number) => number.to_string(),
        Cell::BigInt(number) => number.to_string(),
        Cell::Float(number) => format!("{number:?}"),
        Cell::Text(text) => format!("'{text}"),
        Cell::Scalar(scalar) => format!("{scalar:?}"),
        Cell::Bytes(_)
        | Cell::Picture(_)
        | Cell::Array(_)
        | Cell::List(_)
        | Cell::Tuple(_)
        | Cell::Map(_) => return None,
    })
}
