//! What one sample costs.

use loadscope_trace::Nanos;

use crate::forecast::number::sane;

/// Reserved name of the time of a sample outside of its named stages.
pub(in crate::forecast) const REST: &str = "rest";

/// What one sample costs.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::forecast) struct SampleCost {
    /// Time that it needs no core.
    pub off: Nanos,
    /// Time that it computes.
    pub cpu: Nanos,
}

/// Samples shorter than this are taken to compute if their processor time is not known; asking for it would take too long.
pub(super) const QUICK: Nanos = Nanos(20_000);

pub(super) fn cost_of(wall: Nanos, cpu: Option<Nanos>) -> SampleCost {
    let unknown = if wall < QUICK { wall } else { Nanos::ZERO };
    let cpu = cpu.map_or(unknown, sane).min(wall);
    SampleCost {
        off: wall - cpu,
        cpu,
    }
}
