//! Older part of a run, which is reduced to sums and a few full events.

use crate::{Kept, Nanos, Retention, Sums};

/// Data that a recording with a limit keeps from dropped parts.
#[derive(Clone, Debug, Default)]
pub struct Past {
    /// Limits of the recording. `None` if unknown.
    pub(crate) retention: Option<Box<Retention>>,
    /// Sums per minute, in order of time.
    pub(crate) sums: Vec<Sums>,
    /// Total of the sums.
    pub(crate) total: Sums,
    /// Events that are kept in full, with their end times.
    pub(crate) kept: Vec<(Nanos, Kept)>,
    /// Number of the first complete part.
    pub(crate) first: Option<u32>,
    /// Start of the first complete part.
    pub(crate) until: Option<Nanos>,
    /// Numbers of events and epochs that only restored the state at that time. They belong to the past.
    pub(crate) carried: (u64, u64),
}

impl Past {
    /// Returns the limits of the recording. Returns `None` if unknown.
    pub fn retention(&self) -> Option<&Retention> {
        self.retention.as_deref()
    }

    /// Returns the sums per minute, in order of time.
    pub fn sums(&self) -> &[Sums] {
        &self.sums
    }

    /// Returns the total of the sums.
    pub fn total(&self) -> &Sums {
        &self.total
    }

    /// Returns the events kept in full with their end times: long waits, slow batches, errors and warnings.
    pub fn kept(&self) -> &[(Nanos, Kept)] {
        &self.kept
    }

    /// Returns the time from which the recording is complete. Returns `None` if nothing is complete.
    pub fn until(&self) -> Option<Nanos> {
        self.until
    }

    /// Returns true if nothing was reduced.
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

    /// Sets the first complete part, which begins at `at`. Drops data about later parts.
    pub(crate) fn end_at(&mut self, first: u32, at: Nanos) {
        (self.first, self.until) = (Some(first), Some(at));
        self.kept.retain(|(_, kept)| kept.part < first);
        self.total = Sums::default();
        for sums in std::mem::take(&mut self.sums) {
            self.put(sums);
        }
    }
}
