//! Rows of a table that is decoded in chunks.

use crate::cell::Cell;
use crate::columns::{Block, Blocks, Columns, Decoded, labels, lengths, values};
use crate::error::{FormatError, Place};
use crate::rows::Rows;
use crate::slices::out_of_range;
use crate::stages::Stages;

/// Table in chunks. Sample i is a `dict` of row i.
#[derive(Debug)]
pub struct Table<B> {
    columns: Columns,
    blocks: Blocks<B>,
    place: Place,
    notes: Vec<String>,
}

impl<B: Block> Table<B> {
    /// Creates a table. `place` names it in messages.
    pub(crate) fn new(
        columns: Columns,
        blocks: impl IntoIterator<Item = B>,
        place: Place,
        notes: Vec<String>,
    ) -> Self {
        Self {
            columns,
            blocks: Blocks::new(blocks),
            place,
            notes,
        }
    }

    fn find(&self, index: usize) -> Result<(usize, usize), FormatError> {
        let found = self.blocks.find(index);
        found.ok_or_else(|| out_of_range(&self.place, index, self.blocks.len()))
    }

    /// Returns row `row` of chunk `at`, which is row `index` of the table.
    fn sample(
        &self,
        (at, row): (usize, usize),
        decoded: &Decoded,
        index: usize,
    ) -> Result<Cell, FormatError> {
        let block = self.blocks.block(at);
        let place = block.map_or(&self.place, Block::place);
        self.columns.row(&decoded.batch, row, place, index)
    }

    /// Decodes each chunk only once, even if the cache is full.
    fn batch(&self, indices: &[usize]) -> Result<Vec<Cell>, FormatError> {
        let mut wanted: Vec<(usize, usize, usize)> = Vec::with_capacity(indices.len());
        for (place, &index) in indices.iter().enumerate() {
            let (at, row) = self.find(index)?;
            wanted.push((at, row, place));
        }
        wanted.sort_unstable();
        let mut cells = vec![Cell::Null; indices.len()];
        for same in wanted.chunk_by(|a, b| a.0 == b.0) {
            let Some(&(at, ..)) = same.first() else {
                continue;
            };
            let Some(decoded) = self.blocks.get(at)? else {
                continue;
            };
            for &(_, row, place) in same {
                let index = indices.get(place).copied().unwrap_or(0);
                let cell = self.sample((at, row), &decoded, index)?;
                if let Some(to) = cells.get_mut(place) {
                    *to = cell;
                }
            }
        }
        Ok(cells)
    }
}

impl<B: Block> Rows for Table<B> {
    fn len(&self) -> usize {
        self.blocks.len()
    }

    fn row(&self, index: usize, stages: &mut dyn Stages) -> Result<Cell, FormatError> {
        stages.enter("read");
        let (at, row) = self.find(index)?;
        let decoded = match self.blocks.cached(at) {
            Some(decoded) => Some(decoded),
            None => {
                stages.enter("decode");
                self.blocks.get(at)?
            }
        };
        match decoded {
            Some(decoded) => self.sample((at, row), &decoded, index),
            None => Err(out_of_range(&self.place, index, self.len())),
        }
    }

    fn rows(
        &self,
        indices: &[usize],
        stages: &mut dyn Stages,
    ) -> Option<Result<Vec<Cell>, FormatError>> {
        B::IS_LARGE.then(|| {
            stages.enter("decode");
            self.batch(indices)
        })
    }

    fn has_rows(&self) -> bool {
        B::IS_LARGE
    }

    fn classes(&self) -> &[String] {
        &self.columns.classes
    }

    fn labels(&self) -> Option<Vec<u32>> {
        labels(&self.blocks, self.columns.label?)
    }

    /// Reads one column chunk by chunk.
    fn column(&self, name: &str) -> Option<Result<Vec<Cell>, FormatError>> {
        let found = self.columns.find(name)?;
        Some(values(&self.blocks, found, name, &self.place))
    }

    fn lengths(&self) -> Option<Vec<u64>> {
        lengths(&self.blocks, self.columns.lists?)
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}
