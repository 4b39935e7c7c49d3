//! One column of all rows, from one scan of the file.

use super::Csv;
use super::kind::ColumnType;
use super::split::RowResult;
use crate::cell::Cell;
use crate::error::FormatError;
use crate::slices::LABELS;

impl Csv {
    /// Returns the values of a column, or `None` if it does not exist.
    pub(super) fn values(&self, name: &str) -> Option<Result<Vec<Cell>, FormatError>> {
        let column = self
            .columns
            .iter()
            .position(|(known, _)| **known == *name)?;
        Some(self.scan_column(column))
    }

    fn scan_column(&self, column: usize) -> Result<Vec<Cell>, FormatError> {
        let mut values = Vec::with_capacity(self.index.len());
        let Some((mut at, _)) = self.index.seek(0) else {
            return Ok(values);
        };
        self.splitter.with_reader(|reader| {
            while values.len() < self.index.len() {
                let next = match reader.read(&self.file, at) {
                    RowResult::Row(next) => {
                        values.push(self.field(&reader.record, column, at, values.len())?);
                        next
                    }
                    RowResult::Blank(next) => next,
                    RowResult::End | RowResult::Open | RowResult::TooLong => break,
                };
                at = next;
            }
            Ok(values)
        })
    }

    /// Returns the classes, if exactly one integer column has a label name.
    pub(super) fn classes_of_rows(&self) -> Option<Vec<u32>> {
        let is_label = |(name, kind): &&(_, ColumnType)| {
            let name: &std::sync::Arc<str> = name;
            LABELS.contains(&&**name) && *kind == ColumnType::Int
        };
        let mut named = self.columns.iter().filter(is_label);
        let (name, _) = named.next()?;
        if named.next().is_some() {
            return None;
        }
        let values = self.values(name)?.ok()?;
        let class = |value| match value {
            Cell::Int(class) => u32::try_from(class).ok(),
            _ => None,
        };
        values.into_iter().map(class).collect()
    }
}
