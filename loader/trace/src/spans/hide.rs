//! Hiding the end of a track.

use super::Spans;
use crate::{Activity, Nanos, Span};

impl Spans {
    /// Hides what began after `at`. A span that ended later is as if it lasted; it is returned as it was.
    pub(crate) fn hide_after(&mut self, at: Nanos) -> Option<Span> {
        let shown = self.spans.all().partition_point(|s| s.start <= at);
        self.spans.show(shown);
        let blocks = shown.div_ceil(Self::EVERY);
        self.ends.show(blocks);
        self.longest.show(blocks.saturating_sub(1));
        let last = self.spans.last_mut().filter(|s| s.end > at)?;
        let before = *last;
        last.end = Nanos::MAX;
        if last.activity == Activity::Waiting {
            // Which batch comes is known at the end.
            last.batch = Span::NO_BATCH;
        }
        Some(before)
    }

    /// Hides nothing.
    pub(crate) fn show_all(&mut self) {
        self.spans.show_all();
        self.ends.show_all();
        self.longest.show_all();
    }

    /// Puts the last span that is shown back.
    pub(crate) fn put_back(&mut self, span: Span) {
        if let Some(last) = self.spans.last_mut() {
            *last = span;
        }
    }
}
