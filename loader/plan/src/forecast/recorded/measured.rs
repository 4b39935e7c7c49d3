//! What was measured of the processor: how much of a batch's time was computing, waiting for a core, or waiting for something else.
//!
//! Time that is neither computing nor waiting for a core stays as it is whatever the setting; waiting for a core does not. A
//! probe measures it once batches are seen to take long enough, so it is missing of the first ones: they are taken to wait for a
//! core for the same share of their time as the others.

use loadscope_trace::{Computed, Nanos, Part, Run};

use super::super::number::float;

/// How much of the time off a core was waiting for one, where both were measured.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CoreWaits {
    off: f64,
    waited: f64,
    /// Batches or steps of which it is known.
    pub known: usize,
}

impl CoreWaits {
    /// Of all fetches, or of all training steps; each with how long it took.
    pub fn of(run: &Run, part: Part, took: impl Iterator<Item = (usize, Nanos)>) -> Self {
        let mut all = Self::default();
        for (row, wall) in took {
            let computed = run.computed(row, part);
            let Some(waited) = computed.and_then(|c| c.core_wait) else {
                continue;
            };
            let cpu = computed.map_or(Nanos::ZERO, |c| c.cpu);
            all.off += float(wall - cpu).max(0.0);
            all.waited += float(waited).min(float(wall));
            all.known += 1;
        }
        all
    }

    /// How long something waited for a core that took `wall` and computed for `cpu`.
    pub fn within(&self, computed: Computed, wall: Nanos) -> Nanos {
        let off = (wall - computed.cpu).max(Nanos::ZERO);
        match computed.core_wait {
            Some(waited) => waited.min(off),
            None if self.off > 0.0 => {
                let share = (self.waited / self.off).min(1.0);
                Nanos((float(off) * share) as i64)
            }
            None => Nanos::ZERO,
        }
    }
}

/// A training step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in super::super) struct Step {
    /// How long it takes where it never waits for a core.
    pub alone: Nanos,
    /// What all threads of the process compute in it.
    pub cpu: Nanos,
}

impl Step {
    /// A step that took `wall`; what is not known to compute needs no core.
    pub(super) fn of(run: &Run, row: usize, wall: Nanos, waits: &CoreWaits) -> Self {
        match run.computed(row, Part::Step) {
            Some(computed) => Self {
                alone: wall - waits.within(computed, wall),
                cpu: computed.cpu,
            },
            None => Self {
                alone: wall,
                cpu: Nanos::ZERO,
            },
        }
    }
}
