//! Units of the time columns.

use loadscope_insight::format;
use loadscope_trace::Nanos;

/// Unit of a time column, with its number of decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Symbol of the unit.
    pub symbol: &'static str,
    /// Length of the unit, ns.
    ns: i64,
    decimals: usize,
}

impl Default for Unit {
    fn default() -> Self {
        Self {
            symbol: "ms",
            ns: 1_000_000,
            decimals: 2,
        }
    }
}

impl Unit {
    /// Returns the unit that suits a typical time of `ns`.
    pub fn of(ns: i64) -> Self {
        const UNITS: [(&str, i64); 4] = [
            ("s", 1_000_000_000),
            ("ms", 1_000_000),
            ("µs", 1_000),
            ("ns", 1),
        ];
        let (symbol, size) = UNITS
            .into_iter()
            .find(|(_, size)| ns >= *size)
            .unwrap_or(UNITS[3]);
        let decimals = match ns / size {
            _ if size == 1 => 0,
            0..10 => 2,
            10..100 => 1,
            _ => 0,
        };
        Self {
            symbol,
            ns: size,
            decimals,
        }
    }

    /// Returns the unit with at least this number of decimals.
    pub fn with_decimals(self, least: usize) -> Self {
        let decimals = match self.ns {
            1 => 0,
            _ => self.decimals.max(least),
        };
        Self { decimals, ..self }
    }

    /// Formats a time in this unit, without the symbol.
    pub fn write(self, time: Nanos) -> String {
        let text = format!("{:.*}", self.decimals, time.0 as f64 / self.ns as f64);
        let (whole, decimals) = text.split_at(text.find('.').unwrap_or(text.len()));
        match whole.parse() {
            Ok(whole) => format::count(whole) + decimals,
            Err(_) => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_fit_the_usual_duration() {
        let write = |usual, ns| (Unit::of(usual).symbol, Unit::of(usual).write(Nanos(ns)));
        assert_eq!(write(0, 7), ("ns", "7".to_owned()));
        assert_eq!(write(4_210, 812), ("µs", "0.81".to_owned()));
        assert_eq!(write(42_000_000, 600_000_000), ("ms", "600.0".to_owned()));
        assert_eq!(write(240_000_000, 1_250_000), ("ms", "1".to_owned()));
        assert_eq!(write(12_300, 40_250_000), ("µs", "40,250.0".to_owned()));
        assert_eq!(
            write(3_000_000_000, 3_456_000_000),
            ("s", "3.46".to_owned())
        );
    }
}
