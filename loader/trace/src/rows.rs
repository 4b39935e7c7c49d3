//! Rows of a lane: the maximum number of batches that it contained at once.

use crate::spans::Spans;
use crate::{Activity, Nanos, Span};
use loadscope_column::Column;

/// Rows of a lane, and the set of free rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    spans: Column<Spans>,
    /// Rows without an open span.
    free: Free,
}

impl Rows {
    /// Returns the number of rows, at most [`u16::MAX`].
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    pub fn get(&self, row: u16) -> Option<&Spans> {
        self.spans.get(usize::from(row))
    }

    pub fn iter(&self) -> impl Iterator<Item = &Spans> {
        self.spans.iter()
    }

    /// Opens a span in the first free row. Returns the row, or `None` if there are too many.
    pub fn open(&mut self, at: Nanos, batch: u32, activity: Activity) -> Option<u16> {
        let row = match self.free.take_first() {
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

    /// Returns true if row 0 has no open span.
    pub fn first_is_free(&self) -> bool {
        self.spans.is_empty() || self.free.contains(0)
    }

    /// Ends the open span of `row`, if any.
    pub fn close(&mut self, row: u16, at: Nanos) {
        if let Some(span) = self.open_mut(row) {
            span.end = at;
            self.free.insert(row);
        }
    }

    /// Ends the trainer's wait in row 0, because `batch` arrived.
    pub fn close_waiting(&mut self, at: Nanos, batch: u32) {
        if let Some(span) = self.open_mut(0)
            && span.activity == Activity::Waiting
        {
            span.batch = batch;
            span.end = at;
            self.free.insert(0);
        }
    }

    /// Returns true if the lane has no rows, for example because all of them began in the hidden part of the run.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Hides spans that began after `at`. Spans that ended later become open.
    pub fn hide_after(&mut self, at: Nanos) {
        let mut shown = 0;
        while let Some(spans) = self.spans.get_mut(shown) {
            spans.hide_after(at);
            if spans.all().is_empty() {
                // Rows are first used in order.
                break;
            }
            shown += 1;
        }
        self.spans.truncate(shown);
    }

    fn open_mut(&mut self, row: u16) -> Option<&mut Span> {
        self.spans.get_mut(usize::from(row))?.open_mut()
    }
}

/// Bit set of rows that finds the lowest one quickly.
#[derive(Clone, Debug, Default)]
struct Free {
    words: Vec<u64>,
    /// All words before this one are 0.
    first: usize,
}

impl Free {
    fn insert(&mut self, row: u16) {
        let word = usize::from(row) / 64;
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (row % 64);
        self.first = self.first.min(word);
    }

    fn contains(&self, row: u16) -> bool {
        let word = self.words.get(usize::from(row) / 64);
        word.is_some_and(|word| word & (1 << (row % 64)) != 0)
    }

    fn take_first(&mut self) -> Option<u16> {
        while let Some(word) = self.words.get_mut(self.first) {
            if *word != 0 {
                let bit = word.trailing_zeros();
                *word &= *word - 1;
                return Some((self.first * 64) as u16 + bit as u16);
            }
            self.first += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_lowest_free_row_is_used_first(steps in prop::collection::vec(prop::option::of(0..=u16::MAX), 0..200)) {
            let (mut free, mut set) = (Free::default(), BTreeSet::new());
            for step in steps {
                match step {
                    // Most rows are low.
                    Some(row) => {
                        let row = if row % 8 == 0 { row } else { row % 100 };
                        free.insert(row);
                        set.insert(row);
                    }
                    None => prop_assert_eq!(free.take_first(), set.pop_first()),
                }
                prop_assert_eq!(free.contains(0), set.contains(&0));
            }
        }
    }
}
