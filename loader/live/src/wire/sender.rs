//! Sender of a record: a worker or the main process.

use super::{BatchRef, Record};

impl Record {
    /// Returns true if a worker sent the record. Without workers, the main process sends fetch records too.
    pub(crate) fn is_of_worker(&self) -> bool {
        let of = match self {
            Self::Fetcher { .. } => return true,
            Self::Begin { of, .. } | Self::Collate { of, .. } | Self::Content { of, .. } => *of,
            Self::Fetch(fetch) => fetch.of,
            Self::Fact(fact) => return fact.is_of_worker(),
            _ => return false,
        };
        matches!(of, BatchRef::Worker { .. })
    }
}
