//! The rows of a lane: as many as batches were ever in it side by side.

use std::collections::BTreeSet;

use crate::spans::Spans;
use crate::{Activity, Nanos};

/// The rows of a lane, and which of them are free.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    spans: Vec<Spans>,
    /// Rows whose last span has ended.
    free: BTreeSet<u16>,
}

impl Rows {
    /// Number of rows, at most [`u16::MAX`].
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    pub fn get(&self, row: u16) -> Option<&Spans> {
        self.spans.get(usize::from(row))
    }

    pub fn iter(&self) -> impl Iterator<Item = &Spans> {
        self.spans.iter()
    }

    /// Opens a span in the first row that is free and tells which one that is; `None` if there are too many.
    pub fn open(&mut self, at: Nanos, batch: u32, activity: Activity) -> Option<u16> {
        let row = match self.free.pop_first() {
            Some(row) => row,
            None => {
                let new = u16::try_from(self.spans.len()).ok()?;
                if new == u16::MAX {
                    return None;
                }
                self.spans.push(Spans::default());
                new
            }
        };
        self.spans[usize::from(row)].open(at, batch, activity);
        Some(row)
    }

    /// True if row 0 has no open span.
    pub fn first_is_free(&self) -> bool {
        self.spans.is_empty() || self.free.contains(&0)
    }

    /// Ends the open span of `row`, if there is one.
    pub fn close(&mut self, row: u16, at: Nanos) {
        if let Some(span) = self.open_mut(row) {
            span.end = at;
            self.free.insert(row);
        }
    }

    /// Ends the trainer's waiting in row 0, because `batch` came.
    pub fn close_waiting(&mut self, at: Nanos, batch: u32) {
        if let Some(span) = self.open_mut(0)
            && span.activity == Activity::Waiting
        {
            span.batch = batch;
            span.end = at;
            self.free.insert(0);
        }
    }

    pub fn shrink_to_fit(&mut self) {
        self.spans.iter_mut().for_each(Spans::shrink_to_fit);
    }

    fn open_mut(&mut self, row: u16) -> Option<&mut crate::Span> {
        self.spans.get_mut(usize::from(row))?.open_mut()
    }
}
