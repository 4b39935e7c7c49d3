//! Gate that every thread of a loader passes before a batch changes its stage.
//!
//! A closed gate blocks all threads without loss. Each permit allows one transition.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use crate::sync::{AtomicBool, Condvar, Mutex, MutexGuard};

/// Switch that pauses, resumes and steps a running loader. Clones share the same gate.
#[derive(Clone, Debug, Default)]
pub struct Gate(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// True if a thread must take the slow path. An open gate costs one load.
    closed: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    paused: bool,
    /// Number of transitions that may still pass.
    permits: usize,
    /// Tickets of waiting threads in order of arrival. Threads pass in this order, so stepping is fair.
    queue: VecDeque<u64>,
    next_ticket: u64,
    /// True if the gate stays open, because the loader is shutting down.
    released: bool,
}

impl Gate {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits while the gate is closed, unless a permit is left.
    pub fn pass(&self) {
        self.pass_unless(&AtomicBool::new(false));
    }

    /// Passes like [`Gate::pass`], but does not wait once `done` is set. The code that sets `done` must call [`Gate::wake`].
    ///
    /// Otherwise a loader that is dropped while paused would hang.
    pub fn pass_unless(&self, done: &AtomicBool) {
        if self.0.closed.load(Ordering::Acquire) {
            self.pass_closed(done);
        }
    }

    /// Wakes the waiting threads, so that they check `done` again.
    pub fn wake(&self) {
        // The lock ensures that no thread is between its check and its wait.
        let _state = self.state();
        self.0.changed.notify_all();
    }

    #[cold]
    fn pass_closed(&self, done: &AtomicBool) {
        let mut state = self.state();
        let ticket = state.next_ticket;
        state.next_ticket += 1;
        state.queue.push_back(ticket);
        loop {
            if !state.paused || done.load(Ordering::Acquire) {
                state.queue.retain(|t| *t != ticket);
                // The next thread in the queue may be the first now.
                self.0.changed.notify_all();
                return;
            }
            if state.permits > 0 && state.queue.front() == Some(&ticket) {
                state.permits -= 1;
                state.queue.pop_front();
                // The next thread in the queue may have a permit too.
                self.0.changed.notify_all();
                return;
            }
            state = self
                .0
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Closes the gate.
    pub fn pause(&self) {
        let mut state = self.state();
        if !state.released {
            state.paused = true;
            state.permits = 0;
            self.0.closed.store(true, Ordering::Release);
        }
    }

    /// Opens the gate.
    pub fn resume(&self) {
        let mut state = self.state();
        state.paused = false;
        state.permits = 0;
        self.0.closed.store(false, Ordering::Release);
        self.0.changed.notify_all();
    }

    /// Allows one transition: the one that has waited longest, or the next to arrive.
    pub fn step(&self) {
        let mut state = self.state();
        if state.paused {
            state.permits += 1;
            self.0.changed.notify_all();
        }
    }

    /// Opens the gate permanently.
    pub fn release(&self) {
        self.state().released = true;
        self.resume();
    }

    /// Returns true while the gate is closed.
    pub fn is_paused(&self) -> bool {
        self.0.closed.load(Ordering::Acquire)
    }

    /// Returns the number of threads that wait at the gate.
    pub fn waiting(&self) -> usize {
        self.state().queue.len()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::time::{Duration, Instant};

    use super::*;

    fn eventually(what: impl Fn() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !what() {
            assert!(Instant::now() < deadline, "it never happened");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn each_permit_lets_one_transition_pass() {
        let gate = Gate::default();
        let passed = AtomicUsize::new(0);
        gate.pause();
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..2 {
                        gate.pass();
                        passed.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
            eventually(|| gate.waiting() == 3);
            for n in 1..=4 {
                gate.step();
                eventually(|| passed.load(Ordering::SeqCst) == n);
                std::thread::sleep(Duration::from_millis(2));
                assert_eq!(passed.load(Ordering::SeqCst), n);
            }
            gate.resume();
        });
        assert_eq!(passed.load(Ordering::SeqCst), 6);
        assert_eq!(gate.waiting(), 0);
    }

    #[test]
    fn a_released_gate_cannot_be_closed() {
        let gate = Gate::default();
        gate.pause();
        gate.release();
        gate.pause();
        gate.pass();
        assert!(!gate.is_paused());
    }
}
