//! Binned values over time. The histogram of a range takes two lookups instead of a scan over a million batches.

use loadscope_trace::Nanos;

/// Number of bins of a series.
pub const BINS: usize = 220;
/// Number of duration bins per decade.
pub const PER_DECADE: usize = 20;
/// Bin of distance 0.
pub const NO_DISTANCE: usize = BINS / 2;

/// Distance between running sums, in values.
const SUM_INTERVAL: usize = 1024;
/// Shortest duration that differs from 0, ns.
const SHORTEST: f64 = 100.0;

/// Number of values per bin.
pub type Counts = [u32; BINS];

/// Values in time order.
#[derive(Debug, Default)]
pub struct Series {
    at: Vec<i64>,
    bins: Vec<u8>,
    rows: Vec<u32>,
    /// Counts before every [`SUM_INTERVAL`]-th value.
    sums: Vec<Counts>,
}

/// Returns the bin of a duration: twenty per decade, from 100 ns to about three hours.
pub fn bin_of(time: Nanos) -> usize {
    let bin = (time.0.max(0) as f64 / SHORTEST).log10() * PER_DECADE as f64;
    // `log10(0)` is minus infinity. The first bin includes everything below the shortest duration.
    (bin.max(0.0) as usize).min(BINS - 1)
}

/// Returns the shortest duration of a bin.
pub fn start_of(bin: f64) -> Nanos {
    Nanos((SHORTEST * 10f64.powf(bin / PER_DECADE as f64)).round() as i64)
}

impl Series {
    /// Adds a value. `at` is raised to the time of the last value if it is earlier.
    pub fn push(&mut self, at: Nanos, bin: usize, row: u32) {
        if self.bins.len().is_multiple_of(SUM_INTERVAL) {
            let next = match self.sums.last() {
                Some(before) => {
                    let mut sums = *before;
                    let since = self.bins.len() - SUM_INTERVAL;
                    self.bins[since..]
                        .iter()
                        .for_each(|b| sums[usize::from(*b)] += 1);
                    sums
                }
                None => [0; BINS],
            };
            self.sums.push(next);
        }
        self.at
            .push(at.0.max(self.at.last().copied().unwrap_or(i64::MIN)));
        self.bins.push(bin.min(BINS - 1) as u8);
        self.rows.push(row);
    }

    /// Returns the number of values per bin in `start..end`.
    pub fn counts(&self, start: Nanos, end: Nanos) -> Counts {
        let mut counts = self.until(self.place(end));
        let before = self.until(self.place(start).min(self.place(end)));
        for (count, before) in counts.iter_mut().zip(before) {
            *count -= before;
        }
        counts
    }

    /// Returns the next batch after `row` with a value in `bins` within a time range, or the first one.
    pub fn next_in(
        &self,
        bins: std::ops::Range<usize>,
        start: Nanos,
        end: Nanos,
        row: Option<usize>,
    ) -> Option<usize> {
        let range = self.place(start)..self.place(end);
        let rows = range
            .filter(|k| bins.contains(&usize::from(self.bins[*k])))
            .map(|k| self.rows[k] as usize);
        let mut first = None;
        let mut is_next = false;
        for found in rows {
            if is_next {
                return Some(found);
            }
            is_next = Some(found) == row;
            first = first.or(Some(found));
        }
        first
    }

    fn place(&self, at: Nanos) -> usize {
        self.at.partition_point(|t| *t < at.0)
    }

    fn until(&self, place: usize) -> Counts {
        let block = place / SUM_INTERVAL;
        let mut counts = match self.sums.get(block) {
            Some(sums) => *sums,
            // A full block gets its sum only with the next value.
            None => match block.checked_sub(1).and_then(|b| self.sums.get(b)) {
                Some(_) => return self.add(block - 1, place),
                None => [0; BINS],
            },
        };
        let bins = &self.bins[block * SUM_INTERVAL..place];
        bins.iter().for_each(|b| counts[usize::from(*b)] += 1);
        counts
    }

    fn add(&self, block: usize, place: usize) -> Counts {
        let mut counts = self.sums[block];
        let bins = &self.bins[block * SUM_INTERVAL..place];
        bins.iter().for_each(|b| counts[usize::from(*b)] += 1);
        counts
    }
}

/// Returns the bin that contains the `share` quantile. Returns `None` without values.
pub fn quantile(counts: &Counts, share: f64) -> Option<usize> {
    let all: u64 = counts.iter().map(|n| u64::from(*n)).sum();
    let wanted = (all as f64 * share).ceil().max(1.0) as u64;
    let mut seen = 0;
    counts.iter().position(|n| {
        seen += u64::from(*n);
        all > 0 && seen >= wanted
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn durations_map_to_logarithmic_bins() {
        assert_eq!(bin_of(Nanos(0)), 0);
        assert_eq!(bin_of(Nanos(-5)), 0);
        assert_eq!(bin_of(Nanos(1_000)), 20);
        assert_eq!(bin_of(Nanos::MAX), BINS - 1);
        assert_eq!(start_of(80.0), Nanos::from_millis(1));
        let mut counts = [0; BINS];
        assert_eq!(quantile(&counts, 0.5), None);
        (counts[3], counts[9]) = (5, 5);
        assert_eq!(quantile(&counts, 0.5), Some(3));
        assert_eq!(quantile(&counts, 0.99), Some(9));
    }

    proptest! {
        #[test]
        fn range_counts_equal_a_linear_count(values in prop::collection::vec((0..50i64, 0..BINS), 0..4000), start in -5..2100i64, len in 0..2000i64) {
            let mut series = Series::default();
            let mut all = Vec::new();
            let mut now = 0;
            for (k, (step, bin)) in values.iter().enumerate() {
                now += step / 40;
                series.push(Nanos(now), *bin, k as u32);
                all.push((now, *bin));
            }
            let counts = series.counts(Nanos(start), Nanos(start + len));
            let mut walked = [0; BINS];
            all.iter().filter(|(at, _)| (start..start + len).contains(at)).for_each(|(_, b)| walked[*b] += 1);
            prop_assert_eq!(counts, walked);
        }
    }
}
