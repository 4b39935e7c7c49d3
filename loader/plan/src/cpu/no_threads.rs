//! Replacement for `threads` in a browser, which has none.

/// Returns 1.
pub fn processors() -> usize {
    1
}

/// Calls `work` once.
pub(crate) fn run_in_parallel(_most: usize, work: impl Fn() + Sync) {
    work();
}
