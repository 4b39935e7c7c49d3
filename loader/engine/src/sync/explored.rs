//! Shuttle's counterparts, under the names that crossbeam and the standard library have for them.

use std::sync::mpsc::{RecvError, TryRecvError};
use std::time::Duration;

pub(crate) use shuttle::sync::atomic::AtomicBool;
pub(crate) use shuttle::sync::mpsc::{RecvTimeoutError, Sender};
pub(crate) use shuttle::sync::{Condvar, Mutex, MutexGuard};
pub(crate) use shuttle::thread::{Builder, JoinHandle};
pub(crate) use shuttle::thread_local;

/// The end of a channel where messages come out.
#[derive(Debug)]
pub(crate) struct Receiver<T>(shuttle::sync::mpsc::Receiver<T>);

/// A channel without a limit.
pub(crate) fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = shuttle::sync::mpsc::channel();
    (sender, Receiver(receiver))
}

impl<T> Receiver<T> {
    /// Waits for a message.
    pub fn recv(&self) -> Result<T, RecvError> {
        self.0.recv()
    }

    /// Waits for a message or not long enough. Shuttle's own channels have all the time in the world, and a timeout is what is to
    /// be explored, so it comes by chance.
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

/// No thread looks before it goes to sleep: for the order of things it makes no difference.
#[derive(Debug, Default)]
pub(crate) struct Patience;

impl Patience {
    /// Nothing.
    pub fn awake<T>(&mut self, _: &Receiver<T>) -> Option<T> {
        None
    }
}
