//! Compact distributions of times.

use serde::{Deserialize, Serialize};

use crate::Nanos;

/// Number of buckets per power of two. A value read from a sketch is off by at most 6 %.
const PARTS: u16 = 8;

/// Bucket of the largest time.
const LAST: u16 = 60 * PARTS + PARTS - 1;

/// Distribution of times over buckets of similar length. Adding two distributions loses nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<(u16, u64)>", into = "Vec<(u16, u64)>")]
pub struct QuantileSketch {
    /// Non-empty buckets and their counts, sorted.
    buckets: Vec<(u16, u64)>,
}

impl QuantileSketch {
    /// Adds a time.
    pub fn record(&mut self, took: Nanos) {
        self.add_count(bucket(took), 1);
    }

    /// Adds another distribution.
    pub fn add(&mut self, other: &Self) {
        for (bucket, count) in &other.buckets {
            self.add_count(*bucket, *count);
        }
    }

    fn add_count(&mut self, bucket: u16, count: u64) {
        match self.buckets.binary_search_by_key(&bucket, |(b, _)| *b) {
            Ok(at) => self.buckets[at].1 = self.buckets[at].1.saturating_add(count),
            Err(at) => self.buckets.insert(at, (bucket, count)),
        }
    }

    /// Returns the number of times.
    pub fn count(&self) -> u64 {
        let counts = self.buckets.iter().map(|(_, count)| *count);
        counts.fold(0, u64::saturating_add)
    }

    /// Returns true if the distribution is empty.
    pub fn is_empty(&self) -> bool {
        self.buckets.is_empty()
    }

    /// Returns the approximate quantile: the time that a `share` of the times does not exceed. Returns `None` if empty.
    pub fn quantile(&self, share: f64) -> Option<Nanos> {
        let wanted = (self.count() as f64 * share.clamp(0.0, 1.0))
            .ceil()
            .max(1.0);
        let mut seen = 0u64;
        for (bucket, count) in &self.buckets {
            seen = seen.saturating_add(*count);
            if seen as f64 >= wanted {
                return Some(middle(*bucket));
            }
        }
        None
    }
}

impl From<Vec<(u16, u64)>> for QuantileSketch {
    fn from(buckets: Vec<(u16, u64)>) -> Self {
        let mut sketch = Self::default();
        for (bucket, count) in buckets {
            if count > 0 {
                sketch.add_count(bucket.min(LAST), count);
            }
        }
        sketch
    }
}

impl From<QuantileSketch> for Vec<(u16, u64)> {
    fn from(sketch: QuantileSketch) -> Self {
        sketch.buckets
    }
}

/// Returns the bucket of a time. Below 8 ns there is one bucket per nanosecond, above that eight per power of two.
fn bucket(took: Nanos) -> u16 {
    let ns = took.0.max(0) as u64;
    if ns < u64::from(PARTS) {
        return ns as u16;
    }
    let octave = octave(took);
    (octave - 2) * PARTS + (ns >> (octave - 3)) as u16 % PARTS
}

/// Returns the time in the middle of a bucket.
fn middle(bucket: u16) -> Nanos {
    if bucket < PARTS {
        return Nanos(bucket.into());
    }
    let shift = bucket / PARTS - 1;
    let low = u64::from(PARTS + bucket % PARTS) << shift;
    Nanos((low + (1 << shift) / 2) as i64)
}

fn octave(took: Nanos) -> u16 {
    63 - (took.0.max(1) as u64).leading_zeros() as u16
}

/// Times grouped by powers of two, with their sums.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<(u16, u64, i64)>", into = "Vec<(u16, u64, i64)>")]
pub struct Log2Histogram {
    /// Non-empty groups, sorted: exponent, count, sum in ns.
    all: Vec<(u16, u64, i64)>,
}

impl Log2Histogram {
    /// Adds a time.
    pub fn record(&mut self, took: Nanos) {
        self.add_count(octave(took), 1, took.0.max(0));
    }

    /// Adds other times.
    pub fn add(&mut self, other: &Self) {
        for (octave, count, sum) in &other.all {
            self.add_count(*octave, *count, *sum);
        }
    }

    fn add_count(&mut self, octave: u16, count: u64, sum: i64) {
        match self.all.binary_search_by_key(&octave, |(o, ..)| *o) {
            Ok(at) => {
                let (_, known, total) = &mut self.all[at];
                (*known, *total) = (known.saturating_add(count), total.saturating_add(sum));
            }
            Err(at) => self.all.insert(at, (octave, count, sum)),
        }
    }

    /// Returns exponent, count and sum in ns of each group.
    pub fn iter(&self) -> impl Iterator<Item = (u16, u64, i64)> + '_ {
        self.all.iter().copied()
    }

    /// Returns the sum of all times.
    pub fn sum(&self) -> Nanos {
        self.all
            .iter()
            .fold(Nanos::ZERO, |all, (_, _, sum)| all + Nanos(*sum))
    }

    /// Returns true if no time was recorded.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

impl From<Vec<(u16, u64, i64)>> for Log2Histogram {
    fn from(all: Vec<(u16, u64, i64)>) -> Self {
        let mut histogram = Self::default();
        for (octave, count, sum) in all {
            if count > 0 {
                histogram.add_count(octave.min(62), count, sum.max(0));
            }
        }
        histogram
    }
}

impl From<Log2Histogram> for Vec<(u16, u64, i64)> {
    fn from(histogram: Log2Histogram) -> Self {
        histogram.all
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn buckets_are_consecutive_without_gaps() {
        let mut before = 0;
        for ns in 0..100_000 {
            let now = bucket(Nanos(ns));
            assert!(now == before || now == before + 1, "{ns}: {before} {now}");
            before = now;
        }
        assert_eq!(bucket(Nanos::MAX), LAST);
        assert_eq!(bucket(Nanos(-5)), 0);
    }

    #[test]
    fn an_empty_sketch_has_no_quantile() {
        assert_eq!(QuantileSketch::default().quantile(0.5), None);
        assert_eq!(
            QuantileSketch::from(vec![(3, 0), (9999, u64::MAX)]).count(),
            u64::MAX
        );
    }

    proptest! {
        #[test]
        fn a_quantile_is_off_by_a_sixteenth_at_most(mut lengths in prop::collection::vec(0..10_000_000_000i64, 1..200), share in 0.0..1.0f64) {
            let mut sketch = QuantileSketch::default();
            lengths.iter().for_each(|ns| sketch.record(Nanos(*ns)));
            lengths.sort_unstable();
            let place = ((lengths.len() as f64 * share).ceil() as usize).clamp(1, lengths.len());
            let (exact, found) = (lengths[place - 1], sketch.quantile(share).unwrap().0);
            prop_assert!((found - exact).abs() as f64 <= exact as f64 / 15.0 + 1.0, "{found} {exact}");
            let written = serde_json::to_string(&sketch).unwrap();
            prop_assert_eq!(serde_json::from_str::<QuantileSketch>(&written).unwrap(), sketch);
        }
    }
}
