//! What is known of a run before the stretch of which everything is known.

use crate::{Kept, Nanos, Retention, Sums};

/// What a recording with a limit keeps of what it has dropped.
#[derive(Clone, Debug, Default)]
pub struct Past {
    /// What is kept; `None` if the recording does not say.
    pub(crate) retention: Option<Box<Retention>>,
    /// What each minute came to, in order of time.
    pub(crate) sums: Vec<Sums>,
    /// All of these together.
    pub(crate) total: Sums,
    /// What is kept in full, with when it ended.
    pub(crate) kept: Vec<(Nanos, Kept)>,
    /// Number of the part from which on everything is there.
    pub(crate) first: Option<u32>,
    /// When that begins.
    pub(crate) until: Option<Nanos>,
    /// Events and epochs that were taken in to know how the run stood then: they belong to the past.
    pub(crate) carried: (u64, u64),
}

impl Past {
    /// What is kept, and how much of it; `None` if the recording does not say.
    pub fn retention(&self) -> Option<&Retention> {
        self.retention.as_deref()
    }

    /// What each minute came to, in order of time.
    pub fn sums(&self) -> &[Sums] {
        &self.sums
    }

    /// What all of it came to.
    pub fn total(&self) -> &Sums {
        &self.total
    }

    /// What is kept in full, with when it ended: long waits, slow batches, errors and warnings.
    pub fn kept(&self) -> &[(Nanos, Kept)] {
        &self.kept
    }

    /// From when on everything is there; `None` if nothing is.
    pub fn until(&self) -> Option<Nanos> {
        self.until
    }

    /// True if everything is there.
    pub fn is_empty(&self) -> bool {
        self.sums.is_empty() && self.kept.is_empty()
    }

    pub(crate) fn put(&mut self, sums: Sums) {
        if self.first.is_none_or(|first| sums.part < first) {
            self.total.add(&sums);
            self.sums.push(sums);
        }
    }

    pub(crate) fn keep(&mut self, at: Nanos, kept: Kept) {
        if self.first.is_none_or(|first| kept.part < first) {
            self.kept.push((at, kept));
        }
    }

    /// Everything is there from part `first` on, which begins at `at`.
    pub(crate) fn end_at(&mut self, first: u32, at: Nanos) {
        (self.first, self.until) = (Some(first), Some(at));
        self.kept.retain(|(_, kept)| kept.part < first);
        self.total = Sums::default();
        for sums in std::mem::take(&mut self.sums) {
            self.put(sums);
        }
    }
}
