//! Threads that wait for locks, and threads that can release them.

use crate::process::{Frame, Process, Thread, ThreadRole};
use crate::wait::Wait;

/// Returns the Python threads of the process that can release the lock of a thread.
pub(crate) fn releasing<'p>(process: &'p Process, waiting: &Thread) -> Vec<&'p Thread> {
    let is_other = |thread: &&Thread| {
        thread.tid != waiting.tid
            && thread.is_working()
            && (!thread.waits_for_lock() || thread.lock_address() != waiting.lock_address())
            && (!waiting.needs_pinning() || thread.role == ThreadRole::PinMemory)
            && !thread.waits_for(waiting)
    };
    process.threads.iter().filter(is_other).collect()
}

impl Thread {
    /// Returns true for a Python thread with work that waits for a lock without a time limit.
    pub(crate) fn is_locked(&self) -> bool {
        self.is_blocked_by_lock() && self.is_working()
    }

    /// Returns true for a thread that waits for a lock without a time limit.
    pub(crate) fn is_blocked_by_lock(&self) -> bool {
        matches!(self.wait, Wait::Lock { timed: false, .. }) && !self.is_active
    }

    /// Returns true for a thread that waits for a lock or an event, with or without a time limit.
    pub(crate) fn waits_for_lock(&self) -> bool {
        self.lock_address().is_some()
    }

    /// Returns the address of the lock that the thread waits for.
    fn lock_address(&self) -> Option<u64> {
        let Wait::Lock { address, .. } = self.wait else {
            return None;
        };
        Some(address)
    }

    /// Returns true inside `wait` of `threading`: another thread must set an event, notify a condition or put an item into a queue.
    pub(crate) fn waits_for_event(&self) -> bool {
        let innermost = self.frames.first();
        self.waits_for_lock() && innermost.is_some_and(|frame| frame.is("wait", "/threading.py"))
    }

    /// Returns true for a wait that ends with another thread, or with its result: `Thread.join` or `Future.result`.
    pub(crate) fn waits_for_thread(&self) -> bool {
        /// Functions of `threading` that wait for the end of a thread, by version of Python.
        const JOINS: [&str; 3] = ["_wait_for_tstate_lock", "join", "_shutdown"];
        let is_inside = |frame: &&Frame| frame.file.ends_with("/threading.py");
        let joins = |frame: &Frame| JOINS.iter().any(|name| frame.is(name, "/threading.py"));
        let caller = self.frames.iter().find(|frame| !is_inside(frame));
        let is_future = caller.is_some_and(|f| f.file.ends_with("/concurrent/futures/_base.py"));
        self.waits_for_lock() && (is_future || self.frames.first().is_some_and(joins))
    }

    /// Returns true for a wait for a lock that is neither an event nor a wait for a thread.
    pub(crate) fn waits_for_plain_lock(&self) -> bool {
        self.waits_for_lock() && !self.waits_for_event() && !self.waits_for_thread()
    }

    /// Returns true for a main thread that waits for its next task. With it, the thread can release a lock.
    pub(crate) fn is_idle_main(&self) -> bool {
        self.role == ThreadRole::Main && self.is_idle()
    }

    /// Returns true for a wait that ends after a time.
    pub(crate) fn is_timed(&self) -> bool {
        matches!(self.wait, Wait::Sleep | Wait::Lock { timed: true, .. })
    }

    /// Returns true if the thread waits for the queue that the pin-memory thread fills.
    fn needs_pinning(&self) -> bool {
        self.waits_for_lock() && self.calls("_try_get_data", "torch/utils/data/dataloader.py")
    }

    /// Returns true if the thread waits for the work of another.
    pub(crate) fn waits_for(&self, other: &Self) -> bool {
        self.needs_pinning() && other.role == ThreadRole::PinMemory
    }
}
