//! Sampled stacks of a run.

use super::Run;
use crate::event::Stacks;
use crate::{Nanos, StackLog};

impl Run {
    pub(super) fn apply_stacks(&mut self, at: Nanos, stacks: &Stacks) {
        if !self.stacks.apply(at, stacks) {
            self.inconsistent += 1;
        }
    }

    /// Returns the sampled stacks.
    pub fn stacks(&self) -> &StackLog {
        &self.stacks
    }
}
