//! Samples in sequence.

use crate::cell::Cell;
use crate::error::FormatError;
use crate::rows::Rows;
use crate::stages::Stages;

/// Share of one worker in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Number of the worker, from 0.
    pub worker: usize,
    /// Number of workers, or 1 for the consumer's thread (`num_workers=0`).
    pub workers: usize,
    /// Rank in distributed training, from 0.
    pub rank: usize,
    /// World size of distributed training, at least 1.
    pub world_size: usize,
    /// Random seed that is equal for all workers of an epoch and changes every epoch.
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

/// Source of streams, like PyTorch's `IterableDataset`.
pub trait StreamSource: Send + Sync {
    /// Opens the share of one worker in its thread, once per epoch. Workers never share files and connections.
    ///
    /// # Errors
    /// If the source cannot be opened. The error contains its place.
    fn open(&self, share: &Share) -> Result<Box<dyn Stream>, FormatError>;

    /// Returns the number of samples of all workers, if it is known.
    fn len(&self) -> Option<usize> {
        None
    }

    /// Returns true if the source is known to be empty.
    fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// Returns the names of the classes, or an empty slice if they have none.
    fn classes(&self) -> &[String] {
        &[]
    }

    /// Returns notes about omissions and guesses, for the user who chose the data.
    fn notes(&self) -> &[String] {
        &[]
    }
}

/// Samples of one worker in one epoch.
pub trait Stream: Send {
    /// Returns the next sample, or `None` at the end. After an error, the next call continues past the damage if possible. Otherwise, it
    /// returns `None`.
    fn next(&mut self, stages: &mut dyn Stages) -> Option<Result<Cell, FormatError>>;
}

/// Opened data.
pub enum Opened {
    /// Samples by index.
    Rows(Box<dyn Rows>),
    /// Samples in sequence.
    Stream(Box<dyn StreamSource>),
}
