//! Quantities over time: counted instants and measured values.

use crate::Nanos;
use loadscope_column::{Column, View};

/// Sorted instants with running sums. The number of instants before any time, and the time since them, are found by binary search.
#[derive(Clone, Debug, Default)]
pub struct Ticks {
    at: Column<Nanos>,
    /// `sums[k]` is the sum of the first `k * BLOCK` instants. It may wrap, but differences of areas stay correct.
    sums: Column<i64>,
}

impl Ticks {
    /// Number of instants per running sum.
    const BLOCK: usize = 64;

    /// Returns all instants.
    pub fn all(&self) -> View<'_, Nanos> {
        self.at.view()
    }

    /// Returns the number of instants before `t`.
    pub fn before(&self, t: Nanos) -> usize {
        self.at.partition_point(|at| *at < t)
    }

    /// Appends an instant, not earlier than the last.
    pub(crate) fn push(&mut self, at: Nanos) {
        debug_assert!(self.at.last().is_none_or(|last| *last <= at));
        if self.at.len().is_multiple_of(Self::BLOCK) {
            let first = self.at.len().saturating_sub(Self::BLOCK);
            let block = self.at.range(first..).iter();
            let before = self.sums.last().copied().unwrap_or_default();
            self.sums
                .push(block.fold(before, |sum, at| sum.wrapping_add(at.0)));
        }
        self.at.push(at);
    }

    pub(crate) fn bytes(&self) -> usize {
        self.at.bytes() + self.sums.bytes()
    }

    /// Keeps only the first `count` instants.
    pub(crate) fn truncate(&mut self, count: usize) {
        self.at.truncate(count);
    }

    /// Returns the sum of the times from each of the first `count` instants to `t`. Wraps.
    fn area(&self, count: usize, t: Nanos) -> i64 {
        let block = (count / Self::BLOCK).min(self.sums.len().saturating_sub(1));
        let before = self.sums.get(block).copied().unwrap_or_default();
        let rest = self.at.range(block * Self::BLOCK..count).iter();
        let sum = rest.fold(before, |sum, at| sum.wrapping_add(at.0));
        t.0.wrapping_mul(count as i64).wrapping_sub(sum)
    }
}

/// Number that some instants increase and others decrease, such as the outstanding tasks.
#[derive(Clone, Copy, Debug)]
pub struct CountLevel<'a> {
    /// Increases by one.
    pub up: &'a Ticks,
    /// Decreases by one.
    pub down: &'a Ticks,
}

impl CountLevel<'_> {
    /// Returns the value after all instants before `t`.
    pub fn before(self, t: Nanos) -> usize {
        self.up.before(t).saturating_sub(self.down.before(t))
    }

    /// Returns the integral of the value from the beginning to `t`, ns. Wraps, but differences are correct.
    pub fn area(self, t: Nanos) -> i64 {
        let up = self.up.area(self.up.before(t), t);
        up.wrapping_sub(self.down.area(self.down.before(t), t))
    }

    /// Returns the mean between two instants.
    pub fn mean(self, start: Nanos, end: Nanos) -> f64 {
        let area = self.area(end).wrapping_sub(self.area(start));
        area as f64 / (end - start).0.max(1) as f64
    }

    /// Returns the number of changes between two instants.
    pub fn changes(self, start: Nanos, end: Nanos) -> usize {
        let changes = |ticks: &Ticks| ticks.before(end).saturating_sub(ticks.before(start));
        changes(self.up) + changes(self.down)
    }
}

/// Measured values in order of time. Each is valid until the next.
#[derive(Clone, Debug, Default)]
pub struct Series {
    points: Column<(Nanos, f64)>,
    /// Maximum of each [`Series::BLOCK`] values, for fast search of peaks.
    highest: Column<f64>,
}

impl Series {
    const BLOCK: usize = 64;

    /// Returns all values with their times.
    pub fn points(&self) -> View<'_, (Nanos, f64)> {
        self.points.view()
    }

    /// Appends a value, not earlier than the last. NaN means that the quantity could not be measured.
    pub(crate) fn push(&mut self, at: Nanos, value: f64) {
        if self.points.len().is_multiple_of(Self::BLOCK) {
            self.highest.push(f64::NAN);
        }
        if let Some(highest) = self.highest.last_mut() {
            *highest = highest.max(value);
        }
        self.points.push((at, value));
    }

    /// Hides values measured after `at`.
    pub(crate) fn hide_after(&mut self, at: Nanos) {
        let shown = self.points.partition_point(|(t, _)| *t <= at);
        self.points.truncate(shown);
    }

    /// Returns the value at `t`. Returns `None` before the first and where it could not be measured.
    pub fn at(&self, t: Nanos) -> Option<f64> {
        let after = self.points.partition_point(|(at, _)| *at <= t);
        let (_, value) = self.points.range(..after).last()?;
        value.is_finite().then_some(*value)
    }

    /// Returns the highest value from `start` to `end`. Returns `None` if there was none.
    pub fn highest(&self, start: Nanos, end: Nanos) -> Option<f64> {
        let first = self.points.partition_point(|(at, _)| *at <= start);
        let after = first
            + self
                .points
                .range(first..)
                .partition_point(|(at, _)| *at < end);
        let first = first.saturating_sub(1);
        let max = |from: usize, to: usize| {
            let values = self.points.range(from..to).iter();
            values.fold(f64::NAN, |m, (_, v)| m.max(*v))
        };
        let (left, right) = (first.div_ceil(Self::BLOCK), after / Self::BLOCK);
        let highest = if left < right {
            let blocks = self.highest.range(left..right).iter();
            blocks
                .fold(f64::NAN, |m, v| m.max(*v))
                .max(max(first, left * Self::BLOCK))
                .max(max(right * Self::BLOCK, after))
        } else {
            max(first, after)
        };
        highest.is_finite().then_some(highest)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ticks(mut at: Vec<i64>) -> Ticks {
        at.sort_unstable();
        let mut ticks = Ticks::default();
        at.into_iter().for_each(|t| ticks.push(Nanos(t)));
        ticks
    }

    proptest! {
        #[test]
        fn mean_counts_agree_with_a_sum_over_each_instant(up in prop::collection::vec(0..5_000i64, 0..400), t in 0..6_000i64, len in 1..500i64) {
            let down = ticks(up.iter().map(|t| t + 700).collect());
            let up = ticks(up);
            let level = CountLevel { up: &up, down: &down };
            let walked: usize = (t..t + len).map(|t| level.before(Nanos(t + 1))).sum();
            let mean = level.mean(Nanos(t), Nanos(t + len));
            prop_assert!((mean * len as f64 - walked as f64).abs() < 1e-6, "{mean} {walked}");
        }

        #[test]
        fn the_highest_value_of_a_range_is_found(values in prop::collection::vec(prop::option::weighted(0.9, 0..1_000u32), 1..400), from in 0..4_000i64, len in 1..4_000i64) {
            let mut series = Series::default();
            for (k, value) in values.iter().enumerate() {
                series.push(Nanos(k as i64 * 10), value.map_or(f64::NAN, f64::from));
            }
            let walked = (from..from + len).filter_map(|t| series.at(Nanos(t))).fold(f64::NAN, f64::max);
            let found = series.highest(Nanos(from), Nanos(from + len));
            prop_assert_eq!(found, walked.is_finite().then_some(walked));
        }
    }
}
