//! Counts of each index in an epoch, and the missing and repeated indices.

use crate::background::{Cancelled, Progress};

/// Number of occurrences of each index.
#[derive(Debug)]
pub struct Counts {
    /// Exclusive upper bound of the dataset's indices.
    bound: u64,
    seen: Seen,
    /// Number of indices outside the dataset.
    outside: u64,
}

#[derive(Debug)]
enum Seen {
    /// Counts by index.
    Dense(Vec<u32>),
    /// Ascending indices with their counts, for few indices of a large dataset.
    Sparse(Vec<(u64, u64)>),
}

impl Counts {
    /// Counts `indices` of a dataset of `len` samples, if known.
    ///
    /// # Errors
    /// If the result is no longer needed.
    pub fn of(indices: &[u64], len: Option<u64>, progress: &Progress) -> Result<Self, Cancelled> {
        let largest = indices.iter().max().map_or(0, |i| i.saturating_add(1));
        let bound = len.unwrap_or(largest);
        let room = (indices.len() as u64).saturating_mul(8).max(1 << 16);
        let mut outside = 0;
        let seen = if bound <= room {
            let mut counts = vec![0u32; bound as usize];
            for (k, piece) in indices.chunks(Progress::PIECE).enumerate() {
                progress.report(0.4 * (k * Progress::PIECE) as f64 / indices.len() as f64)?;
                for &index in piece {
                    match counts.get_mut(index as usize) {
                        Some(count) => *count = count.saturating_add(1),
                        None => outside += 1,
                    }
                }
            }
            Seen::Dense(counts)
        } else {
            let mut sorted: Vec<u64> = indices.iter().copied().filter(|i| *i < bound).collect();
            outside = (indices.len() - sorted.len()) as u64;
            sorted.sort_unstable();
            progress.report(0.4)?;
            let runs = sorted.chunk_by(|a, b| a == b);
            Seen::Sparse(runs.map(|r| (r[0], r.len() as u64)).collect())
        };
        Ok(Self {
            bound,
            seen,
            outside,
        })
    }

    /// Returns the observed indices in ascending order with their counts.
    pub fn each(&self) -> Box<dyn Iterator<Item = (u64, u64)> + '_> {
        match &self.seen {
            Seen::Dense(counts) => {
                let counts = counts.iter().enumerate();
                let came = counts.filter(|(_, count)| **count > 0);
                Box::new(came.map(|(index, count)| (index as u64, u64::from(*count))))
            }
            Seen::Sparse(counts) => Box::new(counts.iter().copied()),
        }
    }

    /// Returns the summary.
    pub fn coverage(&self) -> Coverage {
        let mut coverage = Coverage {
            bound: self.bound,
            outside: self.outside,
            ..Coverage::default()
        };
        let mut next = 0;
        for (index, count) in self.each() {
            coverage.miss(next, index);
            next = index + 1;
            coverage.distinct += 1;
            coverage.total += count;
            coverage.times[(count as usize).min(Coverage::TIMES - 1)] += 1;
            if count > 1 && coverage.repeated.len() < Coverage::LISTED {
                coverage.repeated.push((index, count));
            }
        }
        coverage.miss(next, self.bound);
        coverage
    }
}

/// Summary of the counts of indices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Exclusive upper bound of the dataset's indices.
    pub bound: u64,
    /// Number of indices inside the dataset, including repetitions.
    pub total: u64,
    /// Number of distinct indices.
    pub distinct: u64,
    /// Number of indices with 0, 1, 2, … occurrences. The last entry also counts more occurrences.
    pub times: [u64; Self::TIMES],
    /// First missing indices, as half-open ranges.
    pub missing: Vec<(u64, u64)>,
    /// First repeated indices with their counts.
    pub repeated: Vec<(u64, u64)>,
    /// Number of indices outside the dataset, including repetitions.
    pub outside: u64,
}

impl Coverage {
    /// Length of [`Coverage::times`].
    pub const TIMES: usize = 6;
    /// Maximum number of listed ranges or indices.
    const LISTED: usize = 1_000;

    /// Returns the number of missing indices.
    pub fn missed(&self) -> u64 {
        self.times[0]
    }

    /// Returns the number of repeated indices.
    pub fn more_than_once(&self) -> u64 {
        self.times[2..].iter().sum()
    }

    fn miss(&mut self, from: u64, to: u64) {
        if from < to {
            self.times[0] += to - from;
            if self.missing.len() < Self::LISTED {
                self.missing.push((from, to));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn coverage(indices: &[u64], len: Option<u64>) -> Coverage {
        let counts = Counts::of(indices, len, &Progress::default()).unwrap();
        counts.coverage()
    }

    #[test]
    fn missing_and_repeated_indices_are_listed() {
        let c = coverage(&[5, 1, 1, 9, 5, 1, 20], Some(10));
        assert_eq!(c.missing, [(0, 1), (2, 5), (6, 9)]);
        assert_eq!(c.repeated, [(1, 3), (5, 2)]);
        assert_eq!((c.outside, c.missed(), c.more_than_once()), (1, 7, 2));
        assert_eq!(c.times, [7, 1, 1, 1, 0, 0]);
        assert_eq!(coverage(&[], None), Coverage::default());
    }

    proptest! {
        #[test]
        fn a_permutation_has_each_index_once(order in Just((0..500u64).collect::<Vec<_>>()).prop_shuffle()) {
            let c = coverage(&order, None);
            prop_assert_eq!((c.bound, c.distinct, c.times[1]), (500, 500, 500));
            prop_assert!(c.missing.is_empty() && c.repeated.is_empty());
        }

        #[test]
        fn dense_and_sparse_counts_are_equal(order in prop::collection::vec(0..100u64, 0..60)) {
            // The first call counts by index, the second by sorting.
            let (dense, sparse) = (coverage(&order, Some(100)), coverage(&order, Some(1 << 40)));
            prop_assert_eq!(&dense.repeated, &sparse.repeated);
            prop_assert_eq!(&dense.times[1..], &sparse.times[1..]);
            prop_assert_eq!(sparse.times.iter().sum::<u64>(), 1 << 40);
            let missing: u64 = sparse.missing.iter().map(|(a, b)| b - a).sum();
            prop_assert_eq!(missing, sparse.missed());
        }
    }
}
