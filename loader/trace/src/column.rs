//! A list that grows, and of which the end can be hidden.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// A list that grows at its end. The end can be hidden and shown again, which costs nothing however long it is: a reader
/// of the slice sees only what is shown.
#[derive(Clone)]
pub struct Column<T> {
    all: Vec<T>,
    shown: usize,
}

impl<T> Column<T> {
    /// Adds one at the end, all of which is shown from then on.
    pub fn push(&mut self, value: T) {
        self.all.push(value);
        self.shown = self.all.len();
    }

    /// What is shown and what is hidden.
    pub fn all(&self) -> &[T] {
        &self.all
    }

    /// Hides all but the first `count`.
    pub(crate) fn show(&mut self, count: usize) {
        self.shown = count.min(self.all.len());
    }

    /// Hides nothing.
    pub(crate) fn show_all(&mut self) {
        self.shown = self.all.len();
    }

    /// True if nothing of it is shown, though there is something.
    pub(crate) fn is_hidden(&self) -> bool {
        self.shown == 0 && !self.all.is_empty()
    }

    pub(crate) fn capacity(&self) -> usize {
        self.all.capacity()
    }

    pub(crate) fn shrink_to_fit(&mut self) {
        self.all.shrink_to_fit();
    }

    /// The list itself, to make room in it.
    pub(crate) fn list(&mut self) -> &mut Vec<T> {
        &mut self.all
    }
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            shown: 0,
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Column<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T> Deref for Column<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.all.get(..self.shown).unwrap_or(&self.all)
    }
}

impl<T> DerefMut for Column<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        let shown = self.shown.min(self.all.len());
        &mut self.all[..shown]
    }
}

impl<T> Extend<T> for Column<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        self.all.extend(values);
        self.shown = self.all.len();
    }
}

impl<'a, T> IntoIterator for &'a Column<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_is_there_again() {
        let mut column: Column<u8> = Column::default();
        column.extend([1, 2, 3]);
        column.show(1);
        assert_eq!((&column[..], column.all()), (&[1][..], &[1, 2, 3][..]));
        assert!(!column.is_hidden());
        column.show(0);
        assert!(column.is_hidden() && column.is_empty());
        column.show_all();
        column.push(4);
        assert_eq!(&column[..], [1, 2, 3, 4]);
    }
}
