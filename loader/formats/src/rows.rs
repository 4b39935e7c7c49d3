//! Samples by index.

use crate::cell::Cell;
use crate::error::FormatError;
use crate::in_memory::InMemory;
use crate::stages::Stages;

/// What can be asked for by index: PyTorch's map-style `Dataset`. Shared by all workers; a connection or a handle that must not be
/// shared is opened by the thread that first needs it, and kept for that thread.
pub trait Rows: Send + Sync {
    /// Number of rows.
    fn len(&self) -> usize;

    /// True if there are no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Row `index`, below [`len`](Self::len).
    ///
    /// # Errors
    /// What is wrong with the row, with its place.
    fn row(&self, index: usize, stages: &mut dyn Stages) -> Result<Cell, FormatError>;

    /// Several rows at once, in the order asked for, where that is faster than one by one (a query, a column); `None` = it is not.
    /// An answer has as many rows as indices.
    fn rows(
        &self,
        _indices: &[usize],
        _stages: &mut dyn Stages,
    ) -> Option<Result<Vec<Cell>, FormatError>> {
        None
    }

    /// Whether [`rows`](Self::rows) answers.
    fn has_rows(&self) -> bool {
        false
    }

    /// All rows, where they are arrays that lie in memory.
    fn in_memory(&self) -> Option<InMemory<'_>> {
        None
    }

    /// Names of the classes, if labels have names.
    fn classes(&self) -> &[String] {
        &[]
    }

    /// The class of each row, where it is known without reading them all.
    fn labels(&self) -> Option<Vec<u32>> {
        None
    }

    /// The values of a column in all rows, where they are known without reading everything else: what samplers group by. `None`: there
    /// is no such column, or no such way.
    fn column(&self, _name: &str) -> Option<Result<Vec<Cell>, FormatError>> {
        None
    }

    /// The length of each row (frames, words, elements of a list), where it is known without reading everything else. `None`: rows have
    /// no lengths, or only reading them all would tell.
    fn lengths(&self) -> Option<Vec<u64>> {
        None
    }

    /// What the person who chose the data should know: what was left out, what was guessed. Sentences.
    fn notes(&self) -> &[String] {
        &[]
    }
}

impl<R: Rows + ?Sized> Rows for Box<R> {
    fn len(&self) -> usize {
        (**self).len()
    }

    fn row(&self, index: usize, stages: &mut dyn Stages) -> Result<Cell, FormatError> {
        (**self).row(index, stages)
    }

    fn rows(
        &self,
        indices: &[usize],
        stages: &mut dyn Stages,
    ) -> Option<Result<Vec<Cell>, FormatError>> {
        (**self).rows(indices, stages)
    }

    fn has_rows(&self) -> bool {
        (**self).has_rows()
    }

    fn in_memory(&self) -> Option<InMemory<'_>> {
        (**self).in_memory()
    }

    fn classes(&self) -> &[String] {
        (**self).classes()
    }

    fn labels(&self) -> Option<Vec<u32>> {
        (**self).labels()
    }

    fn column(&self, name: &str) -> Option<Result<Vec<Cell>, FormatError>> {
        (**self).column(name)
    }

    fn lengths(&self) -> Option<Vec<u64>> {
        (**self).lengths()
    }

    fn notes(&self) -> &[String] {
        (**self).notes()
    }
}
