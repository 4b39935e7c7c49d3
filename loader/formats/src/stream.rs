//! Samples one after the other.

use crate::cell::Cell;
use crate::error::FormatError;
use crate::stages::Stages;

/// Whose part of a stream it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Which worker, from 0.
    pub worker: usize,
    /// How many workers there are, at least 1; 1 also where the main thread loads.
    pub workers: usize,
    /// Which process of a distributed training, from 0.
    pub rank: usize,
    /// How many there are, at least 1.
    pub world_size: usize,
    /// A number that is the same for all workers of an epoch, and another one in the next.
    pub seed: u64,
}

impl Default for Share {
    fn default() -> Self {
        Self {
            worker: 0,
            workers: 1,
            rank: 0,
            world_size: 1,
            seed: 0,
        }
    }
}

/// What can be opened as a stream: PyTorch's `IterableDataset`.
pub trait StreamSource: Send + Sync {
    /// Opens the part of one worker, in its thread, anew for each epoch: files and connections are never shared.
    ///
    /// # Errors
    /// If the source cannot be opened, with its place.
    fn open(&self, share: &Share) -> Result<Box<dyn Stream>, FormatError>;

    /// Number of samples of all workers together, where it is known.
    fn len(&self) -> Option<usize> {
        None
    }

    /// True if it is known that there are none.
    fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// Names of the classes, if labels have names.
    fn classes(&self) -> &[String] {
        &[]
    }

    /// What the person who chose the data should know. Sentences.
    fn notes(&self) -> &[String] {
        &[]
    }
}

impl<S: StreamSource + ?Sized> StreamSource for Box<S> {
    fn open(&self, share: &Share) -> Result<Box<dyn Stream>, FormatError> {
        (**self).open(share)
    }

    fn len(&self) -> Option<usize> {
        (**self).len()
    }

    fn classes(&self) -> &[String] {
        (**self).classes()
    }

    fn notes(&self) -> &[String] {
        (**self).notes()
    }
}

/// A stream that is open.
pub trait Stream: Send {
    /// The next sample; `None`: the end. After an error the next call goes on behind the damage where that is possible, and
    /// answers `None` where it is not.
    fn next(&mut self, stages: &mut dyn Stages) -> Option<Result<Cell, FormatError>>;
}
