//! Output of a loader.

use loadscope_engine::{Loaded, LoaderError};

use super::data::Picked;

/// Samples of a batch, or its error.
pub type Outcome = Result<Vec<usize>, String>;

/// A batch from a loader, or its error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YieldedBatch {
    /// Task index: position of the batch in the sampler's order.
    pub idx: usize,
    /// Worker that made the batch, or `None` for the consumer's thread (`num_workers=0`).
    pub worker: Option<usize>,
    /// Samples of the batch, or the error message.
    pub outcome: Outcome,
}

impl YieldedBatch {
    pub fn of(result: Result<Loaded<Picked>, LoaderError>) -> Self {
        match result {
            Ok(batch) => Self {
                idx: batch.id.idx as usize,
                worker: batch.worker.map(usize::from),
                outcome: Ok(batch.samples()),
            },
            Err(LoaderError::Worker {
                worker,
                batch,
                cause,
                ..
            }) => Self {
                idx: batch.idx as usize,
                worker: worker.map(usize::from),
                outcome: Err(cause.to_string()),
            },
            Err(other) => panic!("no such error was made: {other}"),
        }
    }
}
