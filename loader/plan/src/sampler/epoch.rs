//! Epochs: what samplers hand their indices out with.

use crate::error::LoaderError;
use crate::rng::Indices;

/// The indices of one epoch. After an error it is finished, as a Python generator is.
pub type IndexIter = Box<dyn Iterator<Item = Result<usize, LoaderError>> + Send>;

/// One epoch of a sampler for a consumer that takes many indices at a time. Draws as [`IndexIter`] does: what is not
/// asked for is not drawn.
pub trait Epoch: Send {
    /// Appends the next `most` indices to `out` and tells how many these were. Fewer than `most`: the epoch was asked for
    /// more than it has, and is over.
    ///
    /// # Errors
    /// Whatever the sampler raises; then the epoch is over, and what came before the error is in `out`.
    fn fill(&mut self, out: &mut Vec<usize>, most: usize) -> Result<usize, LoaderError>;
}

/// Takes the indices of any iterator one by one.
pub(super) struct OneByOne(pub IndexIter);

impl Epoch for OneByOne {
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

/// Where the indices of an epoch come from, block by block.
pub(super) trait Blocks: Send {
    /// Puts the next block into `block`, which holds the used-up one; it may be empty. False: there is none.
    fn next_block(&mut self, block: &mut Indices) -> Result<bool, LoaderError>;
}

/// An epoch made of blocks, each of which is drawn when its first index is asked for.
pub(super) struct BlockEpoch<B> {
    /// `None` once the epoch is over.
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

    /// Sees to it that there are indices left in the block. False: the epoch is over.
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

/// The only block of an epoch, drawn at the first pull.
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

/// An epoch whose indices all come from one draw at the first pull.
pub(super) fn drawn_at_once<F>(draw: F) -> BlockEpoch<OneBlock<F>>
where
    F: FnOnce() -> Result<Indices, LoaderError> + Send,
{
    BlockEpoch::new(OneBlock(Some(draw)))
}
