//! Measured CPU time: a batch's time consists of computing, waiting for a core, and waiting for something else.
//!
//! Only the wait for a core depends on the setting. The probe measures it once batches take long enough, so the first batches have no
//! value. Their share of waiting for a core is taken from the others.

use loadscope_trace::{CpuTime, Nanos, Part, Run};

use super::super::number::float;

/// Share of the time off a core that is a wait for a core, where both were measured.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CoreWaits {
    off: f64,
    waited: f64,
    /// Number of batches or steps with a measurement.
    pub known: usize,
}

impl CoreWaits {
    /// Sums all fetches, or all training steps. `took` has each row with its wall time.
    pub fn of(run: &Run, part: Part, took: impl Iterator<Item = (usize, Nanos)>) -> Self {
        let mut all = Self::default();
        for (row, wall) in took {
            let computed = run.cpu_time(row, part);
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

    /// Returns the wait for a core within `wall`. Without a measurement it is the mean share.
    pub fn within(&self, computed: CpuTime, wall: Nanos) -> Nanos {
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

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in super::super) struct Step {
    /// Time of the step if it never waits for a core.
    pub alone: Nanos,
    /// CPU time of all threads of the process during the step.
    pub cpu: Nanos,
}

impl Step {
    /// Returns a step that took `wall`. Without a measurement its CPU time is zero.
    pub(super) fn of(run: &Run, row: usize, wall: Nanos, waits: &CoreWaits) -> Self {
        match run.cpu_time(row, Part::Step) {
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
