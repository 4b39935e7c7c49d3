//! Sums of gauges.

use std::collections::BTreeMap;

use crate::{GaugeKind, GaugeSum, Lane};

/// Number, sum and maximum of each gauge's values since the previous sums.
#[derive(Debug, Default)]
pub(super) struct Gauges(BTreeMap<(Option<Lane>, GaugeKind), (u64, f64, f64)>);

impl Gauges {
    /// Adds a finite value.
    pub fn add(&mut self, lane: Option<Lane>, what: GaugeKind, value: f64) {
        let of = self.0.entry((lane, what)).or_insert((0, 0.0, f64::MIN));
        let sum = (of.1 + value).clamp(f64::MIN, f64::MAX);
        *of = (of.0 + 1, sum, of.2.max(value));
    }

    pub fn sums(self) -> Vec<GaugeSum> {
        let all = self.0.into_iter();
        let of = |((lane, what), (count, sum, max)): ((Option<Lane>, GaugeKind), _)| GaugeSum {
            lane: lane.map(Lane::key),
            what,
            count,
            sum,
            max,
        };
        all.map(of).collect()
    }
}
