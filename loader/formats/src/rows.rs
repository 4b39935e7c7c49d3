//! Samples by index.

use crate::cell::Cell;
use crate::error::FormatError;
use crate::in_memory::InMemory;
use crate::stages::Stages;

/// Samples by index, like PyTorch's map-style `Dataset`. All workers share the object. A connection or handle that cannot be shared is
/// opened by each thread on first use and kept for it.
pub trait Rows: Send + Sync {
    /// Returns the number of rows.
    fn len(&self) -> usize;

    /// Returns true if there are no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns row `index`, below [`len`](Self::len).
    ///
    /// # Errors
    /// If the row is invalid or unreadable. The error contains its place.
    fn row(&self, index: usize, stages: &mut dyn Stages) -> Result<Cell, FormatError>;

    /// Returns several rows in the given order, or `None` if a batch read (a query, a column) is not faster. The result has one row per
    /// index.
    fn rows(
        &self,
        _indices: &[usize],
        _stages: &mut dyn Stages,
    ) -> Option<Result<Vec<Cell>, FormatError>> {
        None
    }

    /// Returns true if [`rows`](Self::rows) returns rows.
    fn has_rows(&self) -> bool {
        false
    }

    /// Returns all rows, if they are arrays in memory.
    fn in_memory(&self) -> Option<InMemory<'_>> {
        None
    }

    /// Returns the names of the classes, or an empty slice if they have none.
    fn classes(&self) -> &[String] {
        &[]
    }

    /// Returns the class of each row, or `None` if this requires reading all rows.
    fn labels(&self) -> Option<Vec<u32>> {
        None
    }

    /// Returns the values of a column in all rows, for samplers that group by it. Returns `None` if the column does not exist, or this
    /// requires reading all other data.
    fn column(&self, _name: &str) -> Option<Result<Vec<Cell>, FormatError>> {
        None
    }

    /// Returns the length of each row (frames, words, elements of a list). Returns `None` if rows have no length, or this requires reading
    /// all other data.
    fn lengths(&self) -> Option<Vec<u64>> {
        None
    }

    /// Returns notes about omissions and guesses, for the user who chose the data.
    fn notes(&self) -> &[String] {
        &[]
    }
}
