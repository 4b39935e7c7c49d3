//! Shuttle's counterparts, under the names of crossbeam and the standard library.

use std::sync::mpsc::{RecvError, TryRecvError};
use std::time::Duration;

pub(crate) use shuttle::sync::atomic::AtomicBool;
pub(crate) use shuttle::sync::mpsc::{RecvTimeoutError, Sender};
pub(crate) use shuttle::sync::{Condvar, Mutex, MutexGuard};
pub(crate) use shuttle::thread::{Builder, JoinHandle};
pub(crate) use shuttle::thread_local;

/// Receiving end of a channel.
#[derive(Debug)]
pub(crate) struct Receiver<T>(shuttle::sync::mpsc::Receiver<T>);

/// Creates a channel without a bound.
pub(crate) fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = shuttle::sync::mpsc::channel();
    (sender, Receiver(receiver))
}

impl<T> Receiver<T> {
    pub fn recv(&self) -> Result<T, RecvError> {
        self.0.recv()
    }

    /// Waits for a message, with a random timeout.
    ///
    /// Shuttle's own channels never time out, but timeouts must be explored as well.
    pub fn recv_timeout(&self, _: Duration) -> Result<T, RecvTimeoutError> {
        use shuttle::rand::Rng as _;
        loop {
            match self.0.try_recv() {
                Ok(message) => return Ok(message),
                Err(TryRecvError::Disconnected) => return Err(RecvTimeoutError::Disconnected),
                Err(TryRecvError::Empty) if shuttle::rand::thread_rng().gen_bool(0.2) => {
                    return Err(RecvTimeoutError::Timeout);
                }
                Err(TryRecvError::Empty) => shuttle::thread::yield_now(),
            }
        }
    }
}

/// Wait without spinning, because spinning changes no interleaving.
#[derive(Debug, Default)]
pub(crate) struct SpinWait;

impl SpinWait {
    /// Returns `None`, so that the caller blocks.
    pub fn poll<T>(&mut self, _: &Receiver<T>) -> Option<T> {
        None
    }
}
