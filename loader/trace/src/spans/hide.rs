//! Hiding of the end of a track.

use super::Spans;
use crate::{Activity, Nanos, Span};

impl Spans {
    /// Hides spans that began after `at`. A span that ended later becomes open.
    pub(crate) fn hide_after(&mut self, at: Nanos) {
        let shown = self.spans.partition_point(|s| s.start <= at);
        self.spans.truncate(shown);
        let blocks = shown.div_ceil(Self::BLOCK);
        self.ends.truncate(blocks);
        self.longest.truncate(blocks.saturating_sub(1));
        let ends_later = self.spans.last().is_some_and(|s| s.end > at);
        if let Some(last) = self.spans.last_mut().filter(|_| ends_later) {
            last.end = Nanos::MAX;
            if last.activity == Activity::Waiting {
                // Only a finished wait has a batch.
                last.batch = Span::NO_BATCH;
            }
        }
    }
}
