//! PyTorch's sampler for iterable-style datasets.

use super::{Draws, Epoch, IndexIter, Sampler};
use crate::error::LoaderError;
use loadscope_words::say;

/// PyTorch's `_InfiniteConstantSampler`, an infinite sampler. PyTorch yields `None`, this sampler the index 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InfiniteSampler;

impl Sampler for InfiniteSampler {
    /// Returns `usize::MAX`. See [`checked_len`](Sampler::checked_len).
    fn len(&self) -> usize {
        usize::MAX
    }

    fn iter(&self) -> IndexIter {
        Box::new(std::iter::repeat(0).map(Ok))
    }

    fn epoch(&self) -> Box<dyn Epoch> {
        Box::new(Self)
    }

    /// Returns no draws, although the epoch never ends.
    fn draws(&self) -> Option<Draws> {
        Some(Draws::NONE)
    }

    fn checked_len(&self) -> Result<usize, LoaderError> {
        Err(LoaderError::type_error(
            "object of type '_InfiniteConstantSampler' has no len()",
        ))
    }
}

impl Epoch for InfiniteSampler {
    fn fill(&mut self, out: &mut Vec<usize>, most: usize) -> Result<usize, LoaderError> {
        out.try_reserve(most).map_err(|_| {
            LoaderError::runtime(say!(
                "not enough memory for a batch of {most} samples. Use a smaller batch_size."
            ))
        })?;
        out.resize(out.len() + most, 0);
        Ok(most)
    }
}
