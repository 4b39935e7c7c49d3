//! A flag that records if a process of the program was reached.

use std::sync::atomic::Ordering;

use loadscope_live::Join;

use super::{Inner, Watched};

impl Inner {
    /// Records if a process of the program was reached.
    pub(super) fn note_processes(&self, join: &Join) {
        let is_any = !join.pids().is_empty();
        self.reached.store(is_any, Ordering::Release);
    }
}

impl Watched {
    /// Returns true if a process of the ended program was reached.
    pub fn was_reached(&self) -> bool {
        self.0.reached.load(Ordering::Acquire)
    }
}
