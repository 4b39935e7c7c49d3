//! Range of a chunked list and an iterator over its items.

use std::fmt;
use std::ops::{Bound, Index, RangeBounds};

use crate::chunk::{CHUNK, Chunk, SHIFT};
use crate::chunks::Chunks;

/// A range of a [`Column`](crate::Column).
pub struct View<'a, T> {
    full: Option<&'a Chunks<T>>,
    open: &'a [T],
    start: usize,
    end: usize,
}

impl<T> Clone for View<'_, T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for View<'_, T> {}

impl<T> Default for View<'_, T> {
    fn default() -> Self {
        Self {
            full: None,
            open: &[],
            start: 0,
            end: 0,
        }
    }
}

impl<'a, T> View<'a, T> {
    #[inline]
    pub(super) fn new(full: &'a Chunks<T>, open: &'a [T], end: usize) -> Self {
        Self {
            full: Some(full),
            open,
            start: 0,
            end,
        }
    }

    /// Returns the number of items.
    #[inline]
    pub fn len(self) -> usize {
        self.end - self.start
    }

    /// Returns true if the view has no items.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Returns the item at a position in the view.
    #[inline]
    pub fn get(self, at: usize) -> Option<&'a T> {
        (at < self.len()).then(|| self.item(self.start + at))
    }

    /// Returns the first item.
    pub fn first(self) -> Option<&'a T> {
        self.get(0)
    }

    /// Returns the last item.
    pub fn last(self) -> Option<&'a T> {
        self.get(self.len().wrapping_sub(1))
    }

    /// Returns a range of the view. Positions past its end are ignored.
    #[inline]
    pub fn range(self, range: impl RangeBounds<usize>) -> Self {
        let start = match range.start_bound() {
            Bound::Included(at) => *at,
            Bound::Excluded(at) => at.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(at) => at.saturating_add(1),
            Bound::Excluded(at) => *at,
            Bound::Unbounded => usize::MAX,
        };
        let (start, end) = (start.min(self.len()), end.min(self.len()));
        Self {
            start: self.start + start,
            end: self.start + end.max(start),
            ..self
        }
    }

    /// Iterates over the slices of the view that are contiguous in memory.
    pub fn slices(self) -> impl DoubleEndedIterator<Item = &'a [T]> {
        let chunks = if self.start < self.end {
            self.start >> SHIFT..((self.end - 1) >> SHIFT) + 1
        } else {
            0..0
        };
        chunks.map(move |k| {
            let first = k << SHIFT;
            let chunk = self.chunk(k);
            &chunk[self.start.max(first) - first..self.end.min(first + CHUNK) - first]
        })
    }

    /// Returns `len` items from position `at` if they are contiguous in memory.
    #[inline]
    pub fn slice(self, at: usize, len: usize) -> Option<&'a [T]> {
        let start = self.start + at;
        if start + len > self.end {
            return None;
        }
        let inside = start & (CHUNK - 1);
        self.chunk(start >> SHIFT).get(inside..inside + len)
    }

    /// Iterates over the items in order.
    pub fn iter(self) -> Items<'a, T> {
        Items {
            view: self,
            front: [].iter(),
            back: [].iter(),
        }
    }

    /// Iterates over pairs of consecutive items.
    pub fn pairs(self) -> impl DoubleEndedIterator<Item = [&'a T; 2]> + ExactSizeIterator {
        let later = self.range(1..).iter();
        self.iter().zip(later).map(|(item, next)| [item, next])
    }

    /// Returns the number of leading items for which `is_before` holds. The leading items must precede all others.
    #[inline]
    pub fn partition_point(self, mut is_before: impl FnMut(&T) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if is_before(self.item(self.start + middle)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Returns true if the view contains `item`.
    pub fn contains(self, item: &T) -> bool
    where
        T: PartialEq,
    {
        self.slices().any(|slice| slice.contains(item))
    }

    /// Returns a copy of the items.
    pub fn to_vec(self) -> Vec<T>
    where
        T: Clone,
    {
        self.iter().cloned().collect()
    }

    #[inline]
    fn chunk(self, at: usize) -> &'a [T] {
        self.full
            .and_then(|full| full.get(at))
            .map_or(self.open, Chunk::items)
    }

    /// Returns the item at a position in the column.
    #[inline]
    fn item(self, at: usize) -> &'a T {
        &self.chunk(at >> SHIFT)[at & (CHUNK - 1)]
    }
}

impl<T> Index<usize> for View<'_, T> {
    type Output = T;

    #[inline]
    fn index(&self, at: usize) -> &T {
        assert!(at < self.len(), "item {at} of {}", self.len());
        self.item(self.start + at)
    }
}

impl<T: fmt::Debug> fmt::Debug for View<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(*self).finish()
    }
}

impl<T: PartialEq> PartialEq for View<'_, T> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl<T: PartialEq> PartialEq<[T]> for View<'_, T> {
    fn eq(&self, other: &[T]) -> bool {
        self.len() == other.len() && self.iter().eq(other)
    }
}

impl<T: PartialEq, const N: usize> PartialEq<[T; N]> for View<'_, T> {
    fn eq(&self, other: &[T; N]) -> bool {
        *self == other[..]
    }
}

impl<T: PartialEq> PartialEq<Vec<T>> for View<'_, T> {
    fn eq(&self, other: &Vec<T>) -> bool {
        *self == other[..]
    }
}

impl<'a, T> IntoIterator for View<'a, T> {
    type Item = &'a T;
    type IntoIter = Items<'a, T>;

    fn into_iter(self) -> Items<'a, T> {
        self.iter()
    }
}

/// Iterator over the items of a [`View`].
pub struct Items<'a, T> {
    /// Items of chunks that the iterator has not reached.
    view: View<'a, T>,
    front: std::slice::Iter<'a, T>,
    back: std::slice::Iter<'a, T>,
}

impl<T> Clone for Items<'_, T> {
    fn clone(&self) -> Self {
        Self {
            view: self.view,
            front: self.front.clone(),
            back: self.back.clone(),
        }
    }
}

impl<'a, T> Iterator for Items<'a, T> {
    type Item = &'a T;

    #[inline]
    fn next(&mut self) -> Option<&'a T> {
        loop {
            if let Some(item) = self.front.next() {
                return Some(item);
            }
            match self.view.slices().next() {
                Some(slice) => {
                    self.view.start += slice.len();
                    self.front = slice.iter();
                }
                None => return self.back.next(),
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.front.len() + self.view.len() + self.back.len();
        (left, Some(left))
    }

    fn nth(&mut self, mut skip: usize) -> Option<&'a T> {
        if skip < self.front.len() {
            return self.front.nth(skip);
        }
        skip -= self.front.len();
        self.front = [].iter();
        if skip < self.view.len() {
            self.view.start += skip;
            return self.next();
        }
        skip -= self.view.len();
        self.view.start = self.view.end;
        self.back.nth(skip)
    }

    fn fold<B, F: FnMut(B, &'a T) -> B>(self, first: B, mut f: F) -> B {
        let mut all = self.front.fold(first, &mut f);
        for slice in self.view.slices() {
            all = slice.iter().fold(all, &mut f);
        }
        self.back.fold(all, f)
    }
}

impl<'a, T> DoubleEndedIterator for Items<'a, T> {
    #[inline]
    fn next_back(&mut self) -> Option<&'a T> {
        loop {
            if let Some(item) = self.back.next_back() {
                return Some(item);
            }
            match self.view.slices().next_back() {
                Some(slice) => {
                    self.view.end -= slice.len();
                    self.back = slice.iter();
                }
                None => return self.front.next_back(),
            }
        }
    }
}

impl<T> ExactSizeIterator for Items<'_, T> {}
impl<T> std::iter::FusedIterator for Items<'_, T> {}
