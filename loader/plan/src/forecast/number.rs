//! Numbers that a forecast counts with.

use loadscope_trace::Nanos;

/// For counting with.
pub(super) fn float(time: Nanos) -> f64 {
    time.0 as f64
}

/// For telling.
pub(super) fn nanos(time: f64) -> Nanos {
    Nanos(time.round() as i64)
}

/// A number in 0..1 that belongs to `at` (SplitMix64).
pub(super) fn chance(at: u64) -> f64 {
    let mut z = at.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    (z >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// A duration as it can be counted with.
pub(super) fn sane(time: Nanos) -> Nanos {
    time.clamp(Nanos::ZERO, LONGEST)
}

/// No cost is longer than eleven days: what a broken source says must not overflow.
const LONGEST: Nanos = Nanos(1_000_000_000_000_000);
