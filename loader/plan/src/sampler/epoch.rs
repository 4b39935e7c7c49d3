//! Iterators over the indices of an epoch.

use crate::error::LoaderError;
use crate::rng::Indices;

/// Indices of one epoch. The iterator ends after an error, like a Python generator.
pub type IndexIter = Box<dyn Iterator<Item = Result<usize, LoaderError>> + Send>;

/// One epoch of a sampler, for consumers that read many indices at once. Like [`IndexIter`], it draws only indices that
/// are requested.
pub trait Epoch: Send {
    /// Appends the next `most` indices to `out` and returns their number. Fewer than `most`: the epoch has ended.
    ///
    /// # Errors
    /// The error of the sampler, which ends the epoch. `out` contains the indices before it.
    fn fill(&mut self, out: &mut Vec<usize>, most: usize) -> Result<usize, LoaderError>;
}

/// Epoch that reads any iterator index by index.
pub(super) struct IterEpoch(pub IndexIter);

impl Epoch for IterEpoch {
    fn fill(&mut self, out: &mut Vec<usize>, most: usize) -> Result<usize, LoaderError> {
        for taken in 0..most {
            match self.0.next() {
                Some(index) => out.push(index?),
                None => return Ok(taken),
            }
        }
        Ok(most)
    }
}

/// Source of the indices of an epoch, in blocks.
pub(super) trait Blocks: Send {
    /// Replaces the used-up `block` with the next one, which may be empty. Returns false if there is none.
    fn next_block(&mut self, block: &mut Indices) -> Result<bool, LoaderError>;
}

/// Epoch of several blocks. Each block is drawn when its first index is requested.
pub(super) struct BlockEpoch<B> {
    /// `None` after the end of the epoch.
    source: Option<B>,
    block: Indices,
    position: usize,
}

impl<B: Blocks> BlockEpoch<B> {
    pub fn new(source: B) -> Self {
        Self {
            source: Some(source),
            block: Indices::default(),
            position: 0,
        }
    }

    /// Draws blocks until one has an index. Returns false at the end of the epoch.
    fn refill(&mut self) -> Result<bool, LoaderError> {
        while self.position >= self.block.len() {
            let Some(source) = &mut self.source else {
                return Ok(false);
            };
            let more = source.next_block(&mut self.block);
            self.position = 0;
            if !matches!(more, Ok(true)) {
                self.source = None;
                self.block = Indices::default();
                return more;
            }
        }
        Ok(true)
    }
}

impl<B: Blocks> Iterator for BlockEpoch<B> {
    type Item = Result<usize, LoaderError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if let Some(index) = self.block.get(self.position) {
            self.position += 1;
            return Some(Ok(index));
        }
        match self.refill() {
            Ok(false) => None,
            Ok(true) => {
                self.position += 1;
                self.block.get(self.position - 1).map(Ok)
            }
            Err(error) => Some(Err(error)),
        }
    }
}

impl<B: Blocks> Epoch for BlockEpoch<B> {
    fn fill(&mut self, out: &mut Vec<usize>, most: usize) -> Result<usize, LoaderError> {
        let mut left = most;
        while left > 0 && self.refill()? {
            let taken = self.block.copy_to(self.position, left, out);
            self.position += taken;
            left -= taken;
        }
        Ok(most - left)
    }
}

/// Single block of an epoch, drawn at the first pull.
pub(super) struct OneBlock<F>(pub Option<F>);

impl<F> Blocks for OneBlock<F>
where
    F: FnOnce() -> Result<Indices, LoaderError> + Send,
{
    fn next_block(&mut self, block: &mut Indices) -> Result<bool, LoaderError> {
        let Some(draw) = self.0.take() else {
            return Ok(false);
        };
        *block = draw()?;
        Ok(true)
    }
}

/// Returns an epoch whose indices are all drawn at the first pull.
pub(super) fn single_block_epoch<F>(draw: F) -> BlockEpoch<OneBlock<F>>
where
    F: FnOnce() -> Result<Indices, LoaderError> + Send,
{
    BlockEpoch::new(OneBlock(Some(draw)))
}
