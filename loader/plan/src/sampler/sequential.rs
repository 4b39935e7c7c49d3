//! `torch.utils.data.SequentialSampler`.

use std::ops::Range;

use super::{DataLen, Draws, Epoch, IndexIter, Sampler};
use crate::error::LoaderError;

/// All indices in order.
#[derive(Clone, Debug)]
pub struct SequentialSampler {
    len: DataLen,
}

impl SequentialSampler {
    /// Creates a sampler of `0..len`.
    pub fn new(len: impl Into<DataLen>) -> Self {
        Self { len: len.into() }
    }
}

impl Sampler for SequentialSampler {
    fn len(&self) -> usize {
        self.len.get()
    }

    fn iter(&self) -> IndexIter {
        Box::new((0..self.len.get()).map(Ok))
    }

    fn epoch(&self) -> Box<dyn Epoch> {
        Box::new(Remaining(0..self.len.get()))
    }

    fn draws(&self) -> Option<Draws> {
        Some(Draws::NONE)
    }
}

struct Remaining(Range<usize>);

impl Epoch for Remaining {
    fn fill(&mut self, out: &mut Vec<usize>, most: usize) -> Result<usize, LoaderError> {
        let before = out.len();
        out.extend(self.0.by_ref().take(most));
        Ok(out.len() - before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn the_length_is_read_for_every_epoch() {
        let len = Arc::new(AtomicUsize::new(2));
        let source = Arc::clone(&len);
        let sampler =
            SequentialSampler::new(DataLen::from_fn(move || source.load(Ordering::Relaxed)));
        assert_eq!(
            sampler.iter().map(Result::unwrap).collect::<Vec<_>>(),
            [0, 1]
        );
        len.store(3, Ordering::Relaxed);
        assert_eq!(sampler.len(), 3);
        assert_eq!(sampler.iter().count(), 3);
    }
}
