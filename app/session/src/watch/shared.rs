//! State of a watched program that its threads share.

use std::sync::atomic::{AtomicBool, AtomicU8};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use loadscope_live::{Effects, End, Listener, Program};

use super::stacks::StackSampling;

/// Request to end a program, in increasing strength.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EndRequest {
    /// SIGINT, as Ctrl-C sends.
    Interrupt = 1,
    /// SIGTERM, as `kill` sends.
    Terminate = 2,
    /// SIGKILL to the program and its remaining processes.
    Kill = 3,
}

/// State of a watched program.
#[derive(Default)]
pub(super) struct Inner {
    pub started: Mutex<Option<(Program, Listener)>>,
    /// Pending [`EndRequest`] as a number. 0 is none.
    pub asking: AtomicU8,
    pub events_stopped: AtomicBool,
    pub got_end_signal: AtomicBool,
    pub end: Mutex<Option<End>>,
    pub ended: Condvar,
    pub effects: Mutex<Effects>,
    pub reached: AtomicBool,
    /// Time without progress that raises the alarm. Without it, there is no alarm.
    pub alarm: OnceLock<Duration>,
    /// Settings of the sampled stacks. Without them, no stacks are sampled.
    pub stacks: OnceLock<StackSampling>,
}

impl Inner {
    /// Records the end of the program and wakes the waiting threads.
    pub fn set_end(&self, end: End) {
        let mut known = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Some(end);
        self.ended.notify_all();
    }
}
