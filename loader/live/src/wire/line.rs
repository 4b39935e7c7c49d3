//! Parsing of the fields of a line.

use loadscope_words::say;
use serde::de::DeserializeOwned;

use super::{BatchRef, WireError};

/// Parses a line as a tuple of type `T`.
pub(super) fn fields<T: DeserializeOwned>(text: &str) -> Result<T, WireError> {
    serde_json::from_str(text).map_err(WireError::of)
}

/// Returns the batch of a line. `a` and `b` are epoch and batch with an iterator, otherwise generation and count of a worker.
pub(super) fn parse_batch_ref(
    iterator: Option<u32>,
    a: u32,
    b: u64,
) -> Result<BatchRef, WireError> {
    Ok(match iterator {
        None => BatchRef::Worker {
            generation: a,
            count: b,
        },
        Some(iterator) => BatchRef::Batch {
            iterator,
            epoch: a,
            batch: u32::try_from(b).map_err(|_| {
                WireError(say!("the number of the batch is out of range").to_owned())
            })?,
        },
    })
}
