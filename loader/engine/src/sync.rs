//! Channels, threads, locks and atomics of the loader, from crossbeam and the standard library.
//!
//! With the feature `explore`, these types are those of shuttle, which runs all threads in turn in one thread and explores
//! their interleavings. `tests/explore.rs` explores the unchanged loader this way.
//! Without the control of shuttle its types do not work, so only this test can use the feature.

#[cfg(feature = "explore")]
mod explored;
#[cfg(not(feature = "explore"))]
mod spin_wait;

#[cfg(not(feature = "explore"))]
mod real {
    pub(crate) use std::sync::atomic::AtomicBool;
    pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
    pub(crate) use std::thread::{Builder, JoinHandle};
    pub(crate) use std::thread_local;

    pub(crate) use super::spin_wait::SpinWait;
    pub(crate) use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
}

#[cfg(feature = "explore")]
pub(crate) use explored::*;
#[cfg(not(feature = "explore"))]
pub(crate) use real::*;
