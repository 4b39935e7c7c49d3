//! Number of processors, and parallel work.

#[cfg_attr(target_family = "wasm", path = "cpu/no_threads.rs")]
mod threads;
// Tests run the replacement for the browser as well.
#[cfg(all(test, not(target_family = "wasm")))]
mod no_threads;

pub use threads::processors;
pub(crate) use threads::run_in_parallel;

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::{no_threads, threads};

    #[test]
    fn large_work_runs_on_every_processor_and_small_on_one() {
        let doers = AtomicUsize::new(0);
        let work = || {
            doers.fetch_add(1, Ordering::Relaxed);
        };
        threads::run_in_parallel(1, work);
        assert_eq!(doers.swap(0, Ordering::Relaxed), 1);
        threads::run_in_parallel(1_000, work);
        assert_eq!(doers.swap(0, Ordering::Relaxed), threads::processors());
        no_threads::run_in_parallel(1_000, work);
        assert_eq!(doers.into_inner(), no_threads::processors());
    }
}
