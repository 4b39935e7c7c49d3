//! Limits of a recording, and the sizes of its files.

use loadscope_trace::{Nanos, Retention, RetentionPolicy};

/// Limits of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Minimum time that is kept in full if there is room. `None` keeps as much as possible.
    pub last: Option<Nanos>,
    /// Maximum size of all files, bytes.
    pub max_size: u64,
    /// Minimum length of a wait that is kept in full.
    pub long_wait: Nanos,
    /// Number of the slowest batches that are kept in full.
    pub keep_slowest: u32,
}

impl Limits {
    /// Minimum for `max_size`, bytes.
    pub const LEAST_SIZE: u64 = 1_000_000;

    /// Default for `max_size`, bytes.
    pub const USUAL_SIZE: u64 = 2_000_000_000;

    /// Default for `long_wait`.
    pub const USUAL_LONG_WAIT: Nanos = Nanos::from_millis(100);

    /// Default for `keep_slowest`.
    pub const USUAL_SLOWEST: u32 = 100;

    /// Maximum size of the sums, bytes. They are read and rewritten as a whole.
    const MOST_COURSE: u64 = 8 << 20;

    /// Number of parts in the kept time. Up to one part more is kept.
    const PARTS_OF_TIME: i64 = 8;

    pub(super) fn policy(&self) -> RetentionPolicy {
        RetentionPolicy {
            long_wait: self.long_wait,
            keep_slowest: self.keep_slowest as usize,
        }
    }

    /// Returns the limits for the events of each run.
    pub(super) fn retention(&self, left_out: u64) -> Retention {
        Retention {
            last: self.last,
            max_size: self.max_size,
            long_wait: self.long_wait,
            keep_slowest: self.keep_slowest,
            left_out,
            ..Retention::default()
        }
    }

    /// Returns a sixteenth of the maximum size.
    /// Parts get ten, long waits three, the sums and their next edition two.
    /// The kept file, rewritten at each new part, and its next edition get half of one.
    fn sixteenth(&self) -> u64 {
        self.max_size / 16
    }

    /// Returns the maximum size of a part, bytes.
    pub(super) fn part(&self) -> u64 {
        self.sixteenth()
    }

    /// Returns the maximum size of all parts, bytes.
    pub(super) fn parts(&self) -> u64 {
        self.sixteenth() * 10
    }

    /// Returns the maximum size of all long waits, bytes.
    pub(super) fn waits(&self) -> u64 {
        self.sixteenth() * 3
    }

    /// Returns the maximum size of the sums, bytes.
    pub(super) fn sums(&self) -> u64 {
        self.sixteenth().min(Self::MOST_COURSE)
    }

    /// Returns the maximum size of the kept file, bytes.
    pub(super) fn kept(&self) -> u64 {
        self.sixteenth() / 4
    }

    /// Returns the maximum duration of a part.
    pub(super) fn time_of_part(&self) -> Option<Nanos> {
        let time = |last: Nanos| Nanos((last.0 / Self::PARTS_OF_TIME).max(1));
        self.last.map(time)
    }
}
