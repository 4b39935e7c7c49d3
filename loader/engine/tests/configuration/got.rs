//! What came out of a loader.

use loadscope_engine::{Loaded, LoaderError};

use super::data::Picked;

/// The samples of a batch, or what went wrong with it.
pub type Outcome = Result<Vec<usize>, String>;

/// What came out of a loader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Got {
    /// Its task index.
    pub idx: usize,
    /// Who made it; `None`: the main thread.
    pub worker: Option<usize>,
    /// The samples, or what went wrong.
    pub outcome: Outcome,
}

impl Got {
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
