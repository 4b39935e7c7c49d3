//! Who writes a record.

use super::{Record, Where};

impl Record {
    /// True if a worker writes it. The main process without workers fetches, too.
    pub(crate) fn is_of_worker(&self) -> bool {
        let of = match self {
            Self::Fetcher { .. } => return true,
            Self::Begin { of, .. } | Self::Collate { of, .. } | Self::Content { of, .. } => *of,
            Self::Fetch(fetch) => fetch.of,
            Self::Learned(learned) => return learned.is_of_worker(),
            _ => return false,
        };
        matches!(of, Where::Worker { .. })
    }
}
