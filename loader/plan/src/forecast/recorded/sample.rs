//! Costs of one sample.

use loadscope_trace::Nanos;

use crate::forecast::number::sane;

/// Reserved name for the time of a sample outside its named stages.
pub(in crate::forecast) const REST: &str = "rest";

/// Costs of one sample.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::forecast) struct SampleCost {
    /// Time off a core.
    pub off: Nanos,
    /// CPU time.
    pub cpu: Nanos,
}

/// Limit below which samples of unknown CPU time count as computing. To measure their CPU time would take too long.
pub(super) const QUICK: Nanos = Nanos(20_000);

pub(super) fn cost_of(wall: Nanos, cpu: Option<Nanos>) -> SampleCost {
    let unknown = if wall < QUICK { wall } else { Nanos::ZERO };
    let cpu = cpu.map_or(unknown, sane).min(wall);
    SampleCost {
        off: wall - cpu,
        cpu,
    }
}
