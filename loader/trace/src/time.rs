//! Integer nanoseconds since the start of a run's clock. Floating point is only used for pixels and text.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Instant (ns since the start of the run's clock) or duration (ns).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Nanos(pub i64);

impl Nanos {
    /// Zero, which is the start of the run's clock.
    pub const ZERO: Self = Self(0);
    /// Instant after every event.
    pub const MAX: Self = Self(i64::MAX);

    /// Formats the time in the unit that suits `whole`, so that both are comparable in a sentence: `0.96 s` of 1.59 s.
    pub fn format_in_unit_of(self, whole: Self) -> String {
        const SECOND: i64 = 1_000_000_000;
        if whole.0 >= SECOND && self.0 >= SECOND / 100 {
            let digits = if self.0 >= 100 * SECOND { 0 } else { 2 };
            return format!("{:.digits$}\u{2009}s", self.as_secs_f64());
        }
        self.to_string()
    }

    /// Converts whole milliseconds.
    pub const fn from_millis(ms: i64) -> Self {
        Self(ms.saturating_mul(1_000_000))
    }

    /// Converts seconds. Saturates, and NaN becomes zero.
    pub fn from_secs_f64(seconds: f64) -> Self {
        Self((seconds * 1e9).round() as i64)
    }

    /// Returns the time in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 * 1e-9
    }

    /// Returns the time in milliseconds.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 * 1e-6
    }

    /// Returns a [`Duration`]. Negative values become zero.
    pub fn to_duration(self) -> Duration {
        Duration::from_nanos(self.0.max(0) as u64)
    }
}

impl From<Duration> for Nanos {
    fn from(d: Duration) -> Self {
        Self(i64::try_from(d.as_nanos()).unwrap_or(i64::MAX))
    }
}

impl Add for Nanos {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Nanos {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

/// Formats three significant digits with a thin space before the unit: `1.24 s`, `50.0 ms`, `830 ns`.
impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "−" } else { "" };
        let ns = self.0.unsigned_abs() as f64;
        let (value, unit) = match ns {
            v if v >= 999.5e6 => (v * 1e-9, "s"),
            v if v >= 999.5e3 => (v * 1e-6, "ms"),
            v if v >= 999.5 => (v * 1e-3, "µs"),
            v => return write!(f, "{sign}{v:.0}\u{2009}ns"),
        };
        let decimals = if value >= 99.95 {
            0
        } else if value >= 9.995 {
            1
        } else {
            2
        };
        write!(f, "{sign}{value:.decimals$}\u{2009}{unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_formatted_with_a_fitting_unit() {
        let text = |ns: i64| Nanos(ns).to_string().replace('\u{2009}', " ");
        assert_eq!(text(0), "0 ns");
        assert_eq!(text(830), "830 ns");
        assert_eq!(text(1_500), "1.50 µs");
        assert_eq!(text(50_000_000), "50.0 ms");
        assert_eq!(text(999_600_000), "1.00 s");
        assert_eq!(text(1_240_000_000), "1.24 s");
        assert_eq!(text(-2_000), "−2.00 µs");
        assert_eq!(text(i64::MIN), "−9223372037 s");
    }

    #[test]
    fn arithmetic_saturates() {
        assert_eq!(Nanos::MAX + Nanos(1), Nanos::MAX);
        assert_eq!(Nanos(i64::MIN) - Nanos(1), Nanos(i64::MIN));
        assert_eq!(Nanos::from_millis(i64::MAX), Nanos::MAX);
    }
}
