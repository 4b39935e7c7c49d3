//! Helpers for tests of the threaded loader.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use loadscope_trace::{Event, Nanos, Run, RunInfo, Sorter};

/// Runs `work` with a timeout, so that the test fails instead of hanging.
pub fn within<T: Send + 'static>(seconds: u64, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (tx, rx) = std::sync::mpsc::channel();
    let thread = std::thread::Builder::new().name("test".to_owned());
    let thread = thread.spawn(move || tx.send(work())).expect("a thread");
    match rx.recv_timeout(Duration::from_secs(seconds)) {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout) => panic!("it hangs"),
        Err(RecvTimeoutError::Disconnected) => match thread.join() {
            Err(panic) => std::panic::resume_unwind(panic),
            Ok(_) => unreachable!("it sent something"),
        },
    }
}

/// Returns the run of these events.
pub fn fold(events: impl IntoIterator<Item = Event>) -> Run {
    let mut sorter = Sorter::new(Nanos::MAX);
    events.into_iter().for_each(|e| sorter.push(e));
    let mut run = Run::new(RunInfo::default());
    while let Some(event) = sorter.flush() {
        run.apply(&event);
    }
    run
}
