//! Conversions and pseudorandom numbers for forecasts.

use loadscope_trace::Nanos;

pub(super) fn float(time: Nanos) -> f64 {
    time.0 as f64
}

pub(super) fn nanos(time: f64) -> Nanos {
    Nanos(time.round() as i64)
}

/// Returns a pseudorandom number in 0..1 for `at` (SplitMix64).
pub(super) fn uniform(at: u64) -> f64 {
    let mut z = at.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    (z >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Clamps a duration to the range of valid costs.
pub(super) fn clamp_cost(time: Nanos) -> Nanos {
    time.clamp(Nanos::ZERO, MAX_COST)
}

/// Maximum of a cost, about 11.6 days. Durations of a broken source must not overflow.
const MAX_COST: Nanos = Nanos(1_000_000_000_000_000);
