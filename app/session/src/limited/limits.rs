//! How much of a recording is kept, and how its bytes are shared out.

use loadscope_trace::{Nanos, Policy, Retention};

/// How much of a recording is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// So much time is kept in full at least, as long as there is room; `None`: as much as there is room for.
    pub last: Option<Nanos>,
    /// Bytes that all files of the recording have at most.
    pub max_size: u64,
    /// Waits of at least this length are kept in full.
    pub long_wait: Nanos,
    /// So many of the slowest batches are kept in full.
    pub keep_slowest: u32,
}

impl Limits {
    /// The least that a recording can do with.
    pub const LEAST_SIZE: u64 = 1_000_000;

    /// What it may have by default.
    pub const USUAL_SIZE: u64 = 2_000_000_000;

    /// So long a wait is long by default.
    pub const USUAL_LONG_WAIT: Nanos = Nanos::from_millis(100);

    /// So many slow batches are kept by default.
    pub const USUAL_SLOWEST: u32 = 100;

    /// The sums of all minutes have at most so many bytes: they are read and written anew as a whole.
    const MOST_COURSE: u64 = 8 << 20;

    /// A part takes at most so large a share of the time that is kept: so much more is kept.
    const PARTS_OF_TIME: i64 = 8;

    pub(super) fn policy(&self) -> Policy {
        Policy {
            long_wait: self.long_wait,
            keep_slowest: self.keep_slowest as usize,
        }
    }

    /// What each run records of them.
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

    /// A sixteenth. Ten are for parts, three for long waits, two for the sums and their next edition, half of one for what is
    /// written anew at each part and its next edition.
    fn sixteenth(&self) -> u64 {
        self.max_size / 16
    }

    /// Bytes of a part.
    pub(super) fn part(&self) -> u64 {
        self.sixteenth()
    }

    /// Bytes of all parts.
    pub(super) fn parts(&self) -> u64 {
        self.sixteenth() * 10
    }

    /// Bytes of all long waits.
    pub(super) fn waits(&self) -> u64 {
        self.sixteenth() * 3
    }

    /// Bytes of the sums.
    pub(super) fn course(&self) -> u64 {
        self.sixteenth().min(Self::MOST_COURSE)
    }

    /// Bytes of what is written anew at each part.
    pub(super) fn kept(&self) -> u64 {
        self.sixteenth() / 4
    }

    /// A part is that long at most.
    pub(super) fn time_of_part(&self) -> Option<Nanos> {
        let time = |last: Nanos| Nanos((last.0 / Self::PARTS_OF_TIME).max(1));
        self.last.map(time)
    }
}
