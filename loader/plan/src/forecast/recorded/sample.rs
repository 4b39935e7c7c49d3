//! Stores the costs of a sample, on and off a core.

use loadscope_trace::Nanos;

use crate::forecast::number::clamp_cost;

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
pub(super) const UNMEASURED_LIMIT: Nanos = Nanos(20_000);

pub(super) fn sample_cost(wall: Nanos, cpu: Option<Nanos>) -> SampleCost {
    let unknown = if wall < UNMEASURED_LIMIT {
        wall
    } else {
        Nanos::ZERO
    };
    let cpu = cpu.map_or(unknown, clamp_cost).min(wall);
    SampleCost {
        off: wall - cpu,
        cpu,
    }
}
