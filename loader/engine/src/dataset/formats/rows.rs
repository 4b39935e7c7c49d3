//! A map-style dataset of rows.

use loadscope_formats::Rows;

use super::sample::{Shaping, sample_error};
use crate::dataset::{Dataset, SampleClock, SampleError};
use crate::value::Value;

/// Rows, whose pictures are decoded and whose arrays become tensors.
pub(super) struct RowsDataset<R> {
    rows: R,
    shaping: Shaping,
}

impl<R: Rows> RowsDataset<R> {
    pub fn new(rows: R, shaping: Shaping) -> Self {
        Self { rows, shaping }
    }
}

impl<R: Rows + 'static> Dataset for RowsDataset<R> {
    type Sample = Value;

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn get(&self, index: usize, clock: &mut SampleClock) -> Result<Value, SampleError> {
        if index >= self.rows.len() {
            return Err(SampleError::out_of_range(index, self.rows.len()));
        }
        let row = self.rows.row(index, clock);
        clock.leave();
        self.shaping
            .sample(row.map_err(|e| sample_error(&e))?, clock)
    }

    /// The time of what is read for all of them at once is that of the last one.
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
        clock.leave();
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

    fn classes(&self) -> &[String] {
        self.rows.classes()
    }

    fn labels(&self) -> Option<Vec<u32>> {
        self.rows.labels()
    }

    fn notes(&self) -> &[String] {
        self.rows.notes()
    }
}
