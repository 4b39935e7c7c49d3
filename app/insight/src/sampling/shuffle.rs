//! Quality of a shuffle, measured by the gaps between neighboring indices.

use super::coverage::Counts;
use crate::background::{Cancelled, Progress};
use loadscope_words::{Text, text};

/// Quality of a shuffle.
#[derive(Clone, Debug, PartialEq)]
pub struct Shuffle {
    /// Mean of |next index − this index|.
    pub mean_gap: f64,
    /// Expected mean for a uniformly random order of the same indices: (n + 1) / 3 for a permutation.
    pub random_gap: f64,
    /// Mean for the sorted order: 1 for a permutation.
    pub sorted_gap: f64,
    /// Correlation of an index with the next one, −1 to 1. `None` if all indices are equal.
    pub serial: Option<f64>,
    /// Histogram of the signed gaps, in equal bins from −`reach` to `reach`.
    pub bins: Vec<u64>,
    /// Largest possible gap.
    pub reach: u64,
}

impl Shuffle {
    /// Definition of [`Shuffle::quality`] in one sentence.
    pub const DEFINITION: Text = text!(
        "Mean distance between neighboring indices: 0\u{2009}% is the sorted order, 100\u{2009}% a uniformly random one"
    );
    /// Number of bins. It is odd, so that the smallest gaps have their own bin.
    const BINS: usize = 61;

    /// Measures an order with its counts. Returns `None` for fewer than three indices, or if all are equal.
    ///
    /// # Errors
    /// If the result is no longer needed.
    pub fn of(
        indices: &[u64],
        counts: &Counts,
        progress: &Progress,
    ) -> Result<Option<Self>, Cancelled> {
        let (Some(&low), Some(&high)) = (indices.iter().min(), indices.iter().max()) else {
            return Ok(None);
        };
        if indices.len() < 3 || low == high {
            return Ok(None);
        }
        let reach = high - low;
        let pairs = (indices.len() - 1) as f64;
        let mean = indices.iter().map(|i| (i - low) as f64).sum::<f64>() / indices.len() as f64;
        let mut bins = vec![0; Self::BINS];
        let scale = Self::BINS as f64 / (2.0 * reach as f64 + 1.0);
        let (mut gaps, mut products) = (0.0, 0.0);
        let pieces = (indices.len() - 1).div_ceil(Progress::PIECE);
        for piece in 0..pieces {
            progress.report(0.4 + 0.4 * piece as f64 / pieces as f64)?;
            let start = piece * Progress::PIECE;
            let end = (start + Progress::PIECE + 1).min(indices.len());
            let (mut sum, mut product) = (0.0, 0.0);
            for pair in indices[start..end].windows(2) {
                let (this, next) = ((pair[0] - low) as f64, (pair[1] - low) as f64);
                let gap = next - this;
                sum += gap.abs();
                product += (this - mean) * (next - mean);
                let bin = ((gap + reach as f64 + 0.5) * scale) as usize;
                bins[bin.min(Self::BINS - 1)] += 1;
            }
            gaps += sum;
            products += product;
        }
        let spread = indices
            .iter()
            .map(|i| ((i - low) as f64 - mean).powi(2))
            .sum::<f64>();
        Ok(Some(Self {
            mean_gap: gaps / pairs,
            random_gap: random_gap(counts),
            sorted_gap: reach as f64 / pairs,
            serial: (spread > 0.0).then(|| products / spread),
            bins,
            reach,
        }))
    }

    /// Minimum length for a shuffle quality. In shorter orders, chance alone changes the quality of a random order by more than 7 %.
    pub const FEWEST: usize = 100;

    /// Returns 0 for the sorted order, about 1 for a uniformly random one.
    pub fn quality(&self) -> f64 {
        let room = self.random_gap - self.sorted_gap;
        if room <= 0.0 {
            return 0.0;
        }
        ((self.mean_gap - self.sorted_gap) / room).max(0.0)
    }

    /// Returns the expected number of gaps in bin `k` for a uniformly random order of evenly spaced indices. The
    /// distribution is a triangle.
    pub fn expected(&self, k: usize) -> f64 {
        let pairs: u64 = self.bins.iter().sum();
        let bins = self.bins.len() as f64;
        // `x` is from −1 to 1. The triangle (1 − |x|) has the area 1.
        let x = (k as f64 + 0.5) / bins * 2.0 - 1.0;
        pairs as f64 * (1.0 - x.abs()) * 2.0 / bins
    }
}

/// Returns the mean difference of any two indices. Each gap between neighboring values counts in `below × above` pairs.
/// The pairs avoid catastrophic cancellation, the subtraction of large sums.
fn random_gap(counts: &Counts) -> f64 {
    let all: u64 = counts.each().map(|(_, count)| count).sum();
    let (mut below, mut sum, mut last) = (0, 0.0, None);
    for (index, count) in counts.each() {
        if let Some(last) = last {
            sum += (index - last) as f64 * below as f64 * (all - below) as f64;
        }
        below += count;
        last = Some(index);
    }
    let pairs = all as f64 * (all.saturating_sub(1)) as f64 / 2.0;
    if pairs > 0.0 { sum / pairs } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shuffle(indices: &[u64]) -> Option<Shuffle> {
        let progress = Progress::default();
        let counts = Counts::of(indices, None, &progress).unwrap();
        Shuffle::of(indices, &counts, &progress).unwrap()
    }

    #[test]
    fn sorted_orders_have_zero_shuffle_quality() {
        let sorted: Vec<u64> = (0..1000).collect();
        let s = shuffle(&sorted).unwrap();
        assert_eq!((s.mean_gap, s.sorted_gap, s.quality()), (1.0, 1.0, 0.0));
        assert!((s.random_gap - 1001.0 / 3.0).abs() < 1e-9);
        assert!(s.serial.unwrap() > 0.99);
        assert_eq!(s.bins[30], 999);
        let backwards: Vec<u64> = (0..1000).rev().collect();
        assert_eq!(shuffle(&backwards).unwrap().quality(), 0.0);
        assert_eq!(shuffle(&[4, 4, 4]), None);
        assert_eq!(shuffle(&[4, 2]), None);
    }

    proptest! {
        #[test]
        fn random_orders_have_a_quality_near_one(order in Just((0..2000u64).collect::<Vec<_>>()).prop_shuffle()) {
            let s = shuffle(&order).unwrap();
            // The standard deviation is about 1.6 %, so the limit is more than six of them.
            prop_assert!((s.quality() - 1.0).abs() < 0.1, "{}", s.quality());
            prop_assert!(s.serial.unwrap().abs() < 0.15);
            prop_assert_eq!(s.bins.iter().sum::<u64>(), 1999);
            let expected: f64 = (0..s.bins.len()).map(|k| s.expected(k)).sum();
            prop_assert!((expected / 1999.0 - 1.0).abs() < 0.001);
        }

        #[test]
        fn any_order_has_a_valid_shuffle_measure(order in prop::collection::vec(any::<u64>(), 3..50)) {
            if let Some(s) = shuffle(&order) {
                prop_assert!(s.quality() >= 0.0 && s.mean_gap >= s.sorted_gap * 0.999);
                prop_assert_eq!(s.bins.iter().sum::<u64>() as usize, order.len() - 1);
            }
        }
    }
}
