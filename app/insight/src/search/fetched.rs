//! Time of a batch in its worker.

use loadscope_trace::{Nanos, Run, Stage};

/// Returns the time of fetching and collating.
pub(super) fn worker_time(run: &Run, row: usize) -> Nanos {
    let path = run.path(row);
    let in_worker = path
        .iter()
        .filter(|s| matches!(s.stage, Stage::Fetching | Stage::Collating));
    in_worker
        .map(|s| s.end.unwrap_or(run.end()) - s.start)
        .fold(Nanos::ZERO, |a, b| a + b)
}

/// Returns true if the time in the worker is final.
pub(super) fn is_fetched(run: &Run, row: usize) -> bool {
    run.batches()[row].stage > Stage::Collating
}
