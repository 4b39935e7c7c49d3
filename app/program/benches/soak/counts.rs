//! What is counted twice: from the events as they come, and from what the recording says of them.

use std::ops::AddAssign;

use loadscope_trace::{BatchId, Nanos};

use crate::print::Print;

/// Waits of this length are kept in full.
pub const LONG: Nanos = Nanos::from_millis(100);

/// So many of the slowest batches are kept in full.
pub const SLOWEST: usize = 100;

/// The length of a minute.
const MINUTE: i64 = 60_000_000_000;

/// What a stretch of time came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// Batches that came to their end after the trainer had them.
    pub batches: u64,
    /// Samples in those.
    pub samples: u64,
    /// Batches whose error was raised.
    pub failed: u64,
    /// Batches that never reached the trainer.
    pub discarded: u64,
    /// How long the trainer waited, ns.
    pub waited: i64,
}

/// A long wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongWait {
    /// From when until when.
    pub time: (Nanos, Nanos),
    /// What happened to the batch that ended it, if one did.
    pub batch: Option<(BatchId, Print)>,
}

/// What is counted over all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Events.
    pub events: u64,
    /// Events that the engine had no room for.
    pub dropped: u64,
    /// Epochs that began.
    pub epochs: u64,
    /// Batches that were held in the reorder buffer.
    pub held: u64,
    /// Errors.
    pub errors: u64,
    /// Warnings.
    pub warnings: u64,
    /// All stretches together.
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

/// The number of the minute in which it is.
pub fn minute_of(at: Nanos) -> usize {
    usize::try_from(at.0.div_euclid(MINUTE)).unwrap_or(0)
}

/// True if a minute begins there.
pub fn begins_minute(at: Nanos) -> bool {
    at.0.rem_euclid(MINUTE) == 0
}
