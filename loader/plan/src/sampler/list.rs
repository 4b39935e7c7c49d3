//! A list as sampler.

use super::{Draws, IndexIter, Sampler};

/// A plain list works as `sampler` in PyTorch, too.
impl Sampler for Vec<usize> {
    fn len(&self) -> usize {
        self.as_slice().len()
    }

    fn iter(&self) -> IndexIter {
        Box::new(self.clone().into_iter().map(Ok))
    }

    fn draws(&self) -> Option<Draws> {
        Some(Draws::NONE)
    }
}
