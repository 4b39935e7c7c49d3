//! Compact lists of indices.

use super::Generator;
use crate::error::LoaderError;

/// Result of [`Generator::randperm`](super::Generator::randperm): the numbers `0..n`, each once.
pub type Permutation = Indices;

/// List of indices, with 32 bits per index where they suffice. Ten million indices take 40 MB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Indices {
    /// All indices are below 2^32.
    U32(Vec<u32>),
    /// Indices may exceed 32 bits.
    U64(Vec<u64>),
}

impl Default for Indices {
    fn default() -> Self {
        Self::U32(Vec::new())
    }
}

impl Indices {
    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        match self {
            Self::U32(items) => items.len(),
            Self::U64(items) => items.len(),
        }
    }

    /// Returns true if the list is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the element at `position`, if there is one.
    #[inline]
    pub fn get(&self, position: usize) -> Option<usize> {
        match self {
            Self::U32(items) => items.get(position).map(|&i| i as usize),
            Self::U64(items) => items.get(position).map(|&i| i as usize),
        }
    }

    /// Returns all elements in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).filter_map(|position| self.get(position))
    }

    /// Appends up to `most` elements from `position` on to `out`, and returns their number.
    pub fn copy_to(&self, position: usize, most: usize, out: &mut Vec<usize>) -> usize {
        let end = position.saturating_add(most).min(self.len());
        let range = position..end.max(position);
        let before = out.len();
        match self {
            Self::U32(items) => out.extend(
                items
                    .get(range)
                    .unwrap_or_default()
                    .iter()
                    .map(|&i| i as usize),
            ),
            Self::U64(items) => out.extend(
                items
                    .get(range)
                    .unwrap_or_default()
                    .iter()
                    .map(|&i| i as usize),
            ),
        }
        out.len() - before
    }
}

impl Generator {
    /// `torch.randint(high=n, size=(count,))` as indices. They replace the content of `out`, whose memory is reused.
    ///
    /// # Errors
    /// RuntimeError if `n` is 0. In this case nothing is drawn.
    pub(crate) fn randint_indices(
        &mut self,
        n: usize,
        count: usize,
        out: &mut Indices,
    ) -> Result<(), LoaderError> {
        let range = i64::try_from(n).unwrap_or(i64::MAX);
        let mut next = self.randint_stream(0, range)?;
        let fits = u32::try_from(n).is_ok();
        match out {
            Indices::U32(items) if fits => {
                items.clear();
                items.extend((0..count).map(|_| next() as u32));
            }
            Indices::U64(items) if !fits => {
                items.clear();
                items.extend((0..count).map(|_| next() as u64));
            }
            _ if fits => *out = Indices::U32((0..count).map(|_| next() as u32).collect()),
            _ => *out = Indices::U64((0..count).map(|_| next() as u64).collect()),
        }
        Ok(())
    }
}
