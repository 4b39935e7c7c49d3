//! Runs in which each worker yields a stream.

use loadscope_trace::{Run, Stage, Streams};

use super::Recorded;

impl Recorded {
    /// Reads how the workers share a stream, as far as its end shows it.
    pub(super) fn note_shares(&mut self, run: &Run) {
        let Some(shares) = Streams::of(run).filter(|_| self.streams) else {
            return;
        };
        self.is_repeated = shares.are_repeated;
        let active = shares.active();
        self.shards =
            (!shares.are_repeated && active > 0 && active < shares.workers.len()).then_some(active);
    }

    /// Returns true if each worker has its own samples. Tasks then contain no indices.
    pub(super) fn is_of_streams(&self, run: &Run) -> bool {
        let rows = 0..run.batches().len();
        if !rows.clone().all(|row| run.indices(row).is_empty()) {
            return false;
        }
        let has_ended = |row: usize| {
            let batch = &run.batches()[row];
            batch.stage == Stage::Discarded && run.entered(row, Stage::Fetching).is_some()
        };
        self.options.is_stream() || rows.clone().any(has_ended)
    }
}
