//! A chunked list whose snapshots share chunks.

#![deny(unsafe_code)]

use std::fmt;
use std::ops::{Index, IndexMut, RangeBounds};

mod chunk;
mod chunks;
mod spill;
mod view;

use chunk::{CHUNK, Chunk, SHIFT};
use chunks::Chunks;
#[cfg(target_os = "linux")]
pub use spill::spill_to;
pub use view::{Items, View};

/// A list that grows at its end. Clones share the full chunks and copy the open one. Shared chunks are copy-on-write.
#[derive(Clone)]
pub struct Column<T> {
    full: Chunks<T>,
    /// The last, open chunk. An append to it needs no atomic operation.
    open: Vec<T>,
    /// Items in the chunks. The next change removes items from `len` on.
    stored: usize,
    len: usize,
}

impl<T> Column<T> {
    /// Returns the number of items.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if the list has no items.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the item at a position, or `None` past the end.
    #[inline]
    pub fn get(&self, at: usize) -> Option<&T> {
        (at < self.len).then(|| self.item(at))
    }

    /// Returns the first item.
    pub fn first(&self) -> Option<&T> {
        self.get(0)
    }

    /// Returns the last item.
    #[inline]
    pub fn last(&self) -> Option<&T> {
        self.get(self.len.wrapping_sub(1))
    }

    /// Returns all items as a view.
    #[inline]
    pub fn view(&self) -> View<'_, T> {
        View::new(&self.full, &self.open, self.len)
    }

    /// Returns the items in a range of positions. Positions past the end are ignored.
    #[inline]
    pub fn range(&self, range: impl RangeBounds<usize>) -> View<'_, T> {
        self.view().range(range)
    }

    /// Iterates over the items in order.
    pub fn iter(&self) -> Items<'_, T> {
        self.view().iter()
    }

    /// Iterates over pairs of consecutive items.
    pub fn pairs(&self) -> impl DoubleEndedIterator<Item = [&T; 2]> + ExactSizeIterator {
        self.view().pairs()
    }

    /// Returns the address of the first item, or 0. Lists that are not clones of each other have different addresses.
    pub fn address(&self) -> usize {
        self.first()
            .map_or(0, |item| std::ptr::from_ref(item).addr())
    }

    /// Returns the number of leading items for which `is_before` holds. The leading items must precede all others.
    #[inline]
    pub fn partition_point(&self, is_before: impl FnMut(&T) -> bool) -> usize {
        self.view().partition_point(is_before)
    }

    /// Removes all but the first `len` items in constant time.
    pub fn truncate(&mut self, len: usize) {
        self.len = len.min(self.len);
    }

    /// Returns true if a clone shares full chunks.
    pub fn is_shared(&self) -> bool {
        self.full.is_shared()
    }

    /// Returns the memory of the items, bytes. Heap memory that the items own does not count.
    pub fn bytes(&self) -> usize {
        let chunks = self.full.len();
        (chunks * CHUNK + self.open.capacity()) * size_of::<T>() + chunks * size_of::<Chunk<T>>()
    }

    /// Returns the item at a position below `stored`.
    #[inline]
    fn item(&self, at: usize) -> &T {
        // Most readers want one of the last items.
        if let Some(item) = at
            .checked_sub(self.full.len() << SHIFT)
            .and_then(|at| self.open.get(at))
        {
            return item;
        }
        let chunk = self.full.get(at >> SHIFT);
        &chunk.map_or(&[][..], Chunk::items)[at & (CHUNK - 1)]
    }
}

impl<T: Clone> Column<T> {
    /// Appends an item.
    #[inline]
    pub fn push(&mut self, item: T) {
        if self.len < self.stored {
            self.discard_truncated();
        }
        if self.open.len() == CHUNK {
            self.seal_open_chunk();
        }
        self.open.push(item);
        self.len += 1;
        self.stored = self.len;
    }

    /// Removes the items from `len` on.
    #[cold]
    fn discard_truncated(&mut self) {
        let (kept, inside) = (self.len >> SHIFT, self.len & (CHUNK - 1));
        match self.full.get(kept) {
            Some(chunk) => {
                self.open = chunk.items()[..inside].to_vec();
                self.full.truncate(kept);
            }
            None => self.open.truncate(inside),
        }
        self.stored = self.len;
    }

    /// Moves the open chunk to the full chunks.
    #[cold]
    fn seal_open_chunk(&mut self) {
        self.full.push(Chunk::seal(&mut self.open));
    }

    /// Returns the item at a position for a change.
    #[inline]
    pub fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        if at >= self.len {
            return None;
        }
        let inside = at & (CHUNK - 1);
        if at + self.open.len() >= self.stored {
            return self.open.get_mut(inside);
        }
        let chunk = self.full.get_mut(at >> SHIFT)?;
        chunk.items_mut().get_mut(inside)
    }

    /// Returns the last item for a change.
    #[inline]
    pub fn last_mut(&mut self) -> Option<&mut T> {
        self.get_mut(self.len.wrapping_sub(1))
    }

    /// Calls `change` with the position and each item, in order.
    pub fn for_each_mut(&mut self, mut change: impl FnMut(usize, &mut T)) {
        for at in 0..self.len {
            if let Some(item) = self.get_mut(at) {
                change(at, item);
            }
        }
    }
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Self {
            full: Chunks::default(),
            open: Vec::new(),
            stored: 0,
            len: 0,
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Column<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.view().fmt(f)
    }
}

impl<T: PartialEq> PartialEq for Column<T> {
    fn eq(&self, other: &Self) -> bool {
        self.view() == other.view()
    }
}

impl<T> Index<usize> for Column<T> {
    type Output = T;

    #[inline]
    fn index(&self, at: usize) -> &T {
        assert!(at < self.len, "item {at} of {}", self.len);
        self.item(at)
    }
}

impl<T: Clone> IndexMut<usize> for Column<T> {
    #[inline]
    fn index_mut(&mut self, at: usize) -> &mut T {
        let len = self.len;
        self.get_mut(at)
            .unwrap_or_else(|| panic!("item {at} of {len}"))
    }
}

impl<T: Clone> Extend<T> for Column<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        items.into_iter().for_each(|item| self.push(item));
    }
}

impl<T: Clone> FromIterator<T> for Column<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut column = Self::default();
        column.extend(items);
        column
    }
}

impl<'a, T> IntoIterator for &'a Column<T> {
    type Item = &'a T;
    type IntoIter = Items<'a, T>;

    fn into_iter(self) -> Items<'a, T> {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANY: usize = 3 * CHUNK + 7;
    /// Length of a list with several groups of chunks.
    const HUGE: usize = 600 * CHUNK + 5;
    const LENGTHS: [usize; 7] = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, MANY];

    fn numbers(len: usize) -> Column<usize> {
        (0..len).collect()
    }

    #[test]
    fn items_iterate_in_order_from_both_ends() {
        for len in LENGTHS {
            let column = numbers(len);
            assert_eq!(column.len(), len);
            assert!(column.iter().copied().eq(0..len));
            assert!(column.iter().rev().copied().eq((0..len).rev()));
            assert_eq!(column.iter().len(), len);
            assert_eq!(
                column.iter().copied().sum::<usize>(),
                (0..len).sum::<usize>()
            );
            assert_eq!(column.last().copied(), len.checked_sub(1));
            assert_eq!(column.get(len), None);
            for step in [1, 5, CHUNK, CHUNK + 3] {
                let some = column.iter().step_by(step).copied();
                assert!(some.eq((0..len).step_by(step)), "{len} {step}");
            }
        }
    }

    #[test]
    fn iteration_from_both_ends_repeats_no_item() {
        let column = numbers(MANY);
        let (mut items, mut seen) = (column.iter(), Vec::new());
        while let Some(item) = items.next() {
            seen.push(*item);
            seen.extend(items.next_back());
        }
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..MANY));
    }

    #[test]
    fn a_view_has_the_items_of_its_range() {
        let column = numbers(MANY);
        let ranges = [
            (0, 0),
            (3, CHUNK),
            (CHUNK, CHUNK),
            (CHUNK - 1, CHUNK + 1),
            (5, MANY),
            (MANY, MANY + 9),
        ];
        for (start, end) in ranges {
            let view = column.range(start..end);
            let expected = start.min(MANY)..end.min(MANY);
            assert!(view.iter().copied().eq(expected.clone()), "{start}..{end}");
            let slices: Vec<usize> = view.slices().flatten().copied().collect();
            assert!(slices.into_iter().eq(expected));
        }
        for at in [0, 1, CHUNK, MANY] {
            assert_eq!(column.partition_point(|n| *n < at), at);
        }
        assert_eq!(column.range(10..).partition_point(|n| *n < 15), 5);
        assert_eq!(column.range(10..)[5], 15);
        let numbers: Vec<usize> = (CHUNK..CHUNK + 7).collect();
        assert_eq!(column.range(1..).slice(CHUNK - 1, 7), Some(&numbers[..]));
        assert_eq!(column.view().slice(CHUNK - 1, 2), None);
        assert_eq!(column.view().slice(MANY - 2, 3), None);
    }

    #[test]
    fn a_clone_keeps_its_items_after_changes() {
        let mut column = numbers(MANY);
        let before = column.clone();
        column.push(1);
        column[3] = 99;
        assert!(before.iter().copied().eq(0..MANY));
        assert_eq!((column[3], column[MANY]), (99, 1));
        // Unchanged chunks stay shared.
        assert!(std::ptr::eq(&before[CHUNK], &column[CHUNK]));
        assert!(!std::ptr::eq(&before[4], &column[4]));
    }

    #[test]
    fn a_column_of_several_groups_keeps_its_items() {
        let mut column = numbers(HUGE);
        let before = column.clone();
        for at in [0, 511 * CHUNK, 512 * CHUNK, HUGE - 6, HUGE - 1] {
            column[at] += 1;
            assert_eq!((before[at], column[at]), (at, at + 1));
        }
        assert!(before.iter().copied().eq(0..HUGE));
        for len in [512 * CHUNK + 3, 512 * CHUNK, 511 * CHUNK + 9, 7] {
            column.truncate(len);
            column.push(0);
            assert_eq!((column.len(), column[len]), (len + 1, 0));
            assert!(
                column.iter().take(len).skip(1).take(600).eq(before
                    .iter()
                    .skip(1)
                    .take(len - 1)
                    .take(600))
            );
        }
        let grown: Column<usize> = before.iter().copied().chain(HUGE..2 * HUGE).collect();
        assert!(grown.iter().copied().eq(0..2 * HUGE));
    }

    #[test]
    fn every_item_can_be_changed() {
        for len in LENGTHS {
            let mut column = numbers(len);
            column.for_each_mut(|at, item| *item += at);
            assert!(column.iter().copied().eq((0..len).map(|n| 2 * n)));
            assert_eq!(column.get_mut(len), None);
        }
    }

    #[test]
    fn a_truncated_column_can_grow_again() {
        for len in LENGTHS {
            let whole = numbers(MANY);
            let mut column = whole.clone();
            column.truncate(len);
            assert!(column.iter().copied().eq(0..len), "{len}");
            assert_eq!(column.get(len), None);
            assert_eq!(column.get_mut(len), None);
            column.push(7);
            assert_eq!((column.len(), column[len]), (len + 1, 7));
            assert!(column.iter().copied().take(len).eq(0..len));
            assert!(whole.iter().copied().eq(0..MANY));
        }
    }
}
