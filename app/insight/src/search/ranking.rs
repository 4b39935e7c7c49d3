//! Ranking of the slowest hits. The slowest are known only at the end of the search, so the search keeps a short list.

use loadscope_trace::Nanos;

use super::Hit;

/// Maximum number of hits, enough to distinguish a single event from a pattern.
pub(super) const MAX_HITS: usize = 24;

/// Slowest hits so far, slowest first.
#[derive(Debug, Default)]
pub(super) struct Ranking {
    pub all: Vec<(Nanos, Hit)>,
    /// True if the list has changed since the last query.
    pub has_changed: bool,
}

impl Ranking {
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Adds `hit` if it is among the slowest. Among equal times, the first one is kept.
    pub fn note(&mut self, took: Nanos, hit: Hit) {
        let at = self.all.partition_point(|(time, _)| *time >= took);
        if at < MAX_HITS {
            self.all.insert(at, (took, hit));
            self.all.truncate(MAX_HITS);
            self.has_changed = true;
        }
    }
}
