//! Where the system gives threads. The only file of this crate that names them.

/// Processor cores that the program may use, at least 1.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Does the same `work` here and on the other processors, `most` times in all, and returns when all of them have returned.
pub(crate) fn together(most: usize, work: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        for _ in 1..processors().min(most) {
            // Without help it takes longer.
            let helper = std::thread::Builder::new().name("helper".to_owned());
            let _ = helper.spawn_scoped(scope, &work);
        }
        work();
    });
}
