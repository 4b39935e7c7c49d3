//! Permutations.

/// A permutation of `0..n`, stored in 32 bits a number where they suffice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Permutation {
    /// `n < 2^32`.
    U32(Box<[u32]>),
    /// More.
    U64(Box<[u64]>),
}

impl Permutation {
    /// Number of elements.
    pub fn len(&self) -> usize {
        match self {
            Self::U32(items) => items.len(),
            Self::U64(items) => items.len(),
        }
    }

    /// True for a permutation of nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Element `position`, if there is one.
    pub fn get(&self, position: usize) -> Option<usize> {
        match self {
            Self::U32(items) => items.get(position).map(|&i| i as usize),
            Self::U64(items) => items.get(position).map(|&i| i as usize),
        }
    }

    /// All elements in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).filter_map(|position| self.get(position))
    }
}
