//! Threads of the system. No other file of this crate starts threads.

/// Returns the number of processor cores that the program may use, at least 1.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Calls `work` on this thread and on helpers, one call per processor and at most `most`, and waits for all of them.
pub(crate) fn run_in_parallel(most: usize, work: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        for _ in 1..processors().min(most) {
            // Without a helper the work only takes longer.
            let helper = std::thread::Builder::new().name("helper".to_owned());
            let _ = helper.spawn_scoped(scope, &work);
        }
        work();
    });
}
