//! The slowest of all: which they are is known only once everything was looked at, so a short list is kept on the way.

use loadscope_trace::Nanos;

use super::Hit;

/// So many are found: enough to see whether it is one or a habit.
pub(super) const FOUND: usize = 24;

/// The slowest so far, the slowest first.
#[derive(Debug, Default)]
pub(super) struct Ranking {
    pub all: Vec<(Nanos, Hit)>,
    /// Since it was last asked.
    pub has_changed: bool,
}

impl Ranking {
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Takes `hit` in if it took longer than one of those that are known. Of two that took the same time the first one stays.
    pub fn note(&mut self, took: Nanos, hit: Hit) {
        let at = self.all.partition_point(|(time, _)| *time >= took);
        if at < FOUND {
            self.all.insert(at, (took, hit));
            self.all.truncate(FOUND);
            self.has_changed = true;
        }
    }
}
