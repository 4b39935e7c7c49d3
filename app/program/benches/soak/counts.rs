//! Counts that are compared: from the events, and from the recording.

use std::ops::AddAssign;

use loadscope_trace::{BatchId, Nanos};

use crate::fingerprint::Fingerprint;

/// Minimum length of waits that are kept in full.
pub const LONG: Nanos = Nanos::from_millis(100);

/// Number of the slowest batches that are kept in full.
pub const SLOWEST: usize = 100;

/// Length of a minute, ns.
const MINUTE: i64 = 60_000_000_000;

/// Counts of a period of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// Finished batches that the trainer received.
    pub batches: u64,
    /// Samples of these batches.
    pub samples: u64,
    /// Batches whose error was raised.
    pub failed: u64,
    /// Batches that never reached the trainer.
    pub discarded: u64,
    /// Time that the trainer waited, ns.
    pub waited: i64,
}

/// Long wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongWait {
    /// Start and end.
    pub time: (Nanos, Nanos),
    /// Batch that ended the wait, and the hash of its events.
    pub batch: Option<(BatchId, Fingerprint)>,
}

/// Total counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Number of events.
    pub events: u64,
    /// Events that the loader dropped for lack of room.
    pub dropped: u64,
    /// Started epochs.
    pub epochs: u64,
    /// Batches that were held in the reorder buffer.
    pub held: u64,
    /// Number of errors.
    pub errors: u64,
    /// Number of warnings.
    pub warnings: u64,
    /// Counts of the whole time.
    pub sum: Sum,
}

impl AddAssign for Sum {
    fn add_assign(&mut self, other: Self) {
        self.batches += other.batches;
        self.samples += other.samples;
        self.failed += other.failed;
        self.discarded += other.discarded;
        self.waited += other.waited;
    }
}

/// Returns the number of the minute that contains `at`.
pub fn minute_of(at: Nanos) -> usize {
    usize::try_from(at.0.div_euclid(MINUTE)).unwrap_or(0)
}

/// Returns true if a minute starts at `at`.
pub fn begins_minute(at: Nanos) -> bool {
    at.0.rem_euclid(MINUTE) == 0
}
