//! List as a sampler.

use super::{Draws, IndexIter, Sampler};

/// PyTorch also accepts a list as `sampler`.
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
