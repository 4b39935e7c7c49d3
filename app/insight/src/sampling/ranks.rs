//! Split of indices among ranks, with padding (repeated indices) and left out indices.

/// Split of an epoch's samples among ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranks {
    /// One share per rank.
    pub shares: Vec<Share>,
    /// Exclusive upper bound of the dataset's indices.
    pub bound: u64,
    /// Number of columns in [`Share::columns`].
    pub columns: usize,
    /// First repeated indices of all ranks together.
    pub repeated: Vec<u64>,
    /// Number of indices that are repeated to give all ranks equal numbers.
    pub padding: u64,
    /// Number of repeated draws with replacement. `None` if the sampler passes through the dataset instead.
    pub drawn_again: Option<u64>,
    /// First indices that no rank receives.
    pub missing: Vec<u64>,
    /// Number of indices that no rank receives.
    pub left_out: u64,
    /// Ranks whose workers have the same seeds as those of another rank.
    pub same_seeds: Vec<u32>,
}

/// Share of one rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Number of the rank.
    pub rank: u32,
    /// Number of its indices.
    pub len: u64,
    /// Number of its indices in each of equal parts of the dataset.
    pub columns: Vec<u32>,
}

/// Builder of [`Ranks`], which adds one rank after another.
#[derive(Debug)]
pub struct Builder {
    ranks: Ranks,
    counts: Vec<u8>,
    seeds: Vec<(u32, u64)>,
}

impl Ranks {
    /// Largest dataset that is counted index by index.
    pub const LARGEST: u64 = 1 << 30;
    /// Maximum number of columns.
    const COLUMNS: u64 = 1024;
    /// Maximum number of listed indices.
    const LISTED: usize = 1_000;

    /// Returns the column of an index.
    pub fn column(&self, index: u64) -> usize {
        let column = u128::from(index) * self.columns as u128 / u128::from(self.bound.max(1));
        (column as usize).min(self.columns.saturating_sub(1))
    }
}

impl Builder {
    /// Creates a builder for a dataset of `bound` samples. Returns `None` if the dataset is too large.
    pub fn new(bound: u64) -> Option<Self> {
        (bound <= Ranks::LARGEST).then(|| Self {
            ranks: Ranks {
                bound,
                columns: bound.clamp(1, Ranks::COLUMNS) as usize,
                ..Ranks::default()
            },
            counts: vec![0; bound as usize],
            seeds: Vec::new(),
        })
    }

    /// Adds the indices of `rank` and the seeds of its workers.
    pub fn add(&mut self, rank: u32, indices: &[u64], seeds: &[u64]) {
        let mut columns = vec![0; self.ranks.columns];
        for &index in indices {
            if let Some(count) = self.counts.get_mut(index as usize) {
                *count = count.saturating_add(1);
                columns[self.ranks.column(index)] += 1;
            }
        }
        if let Some(&seed) = seeds.first() {
            let same = self.seeds.iter().find(|(_, s)| *s == seed).copied();
            if let Some((first, _)) = same {
                let same = &mut self.ranks.same_seeds;
                if !same.contains(&first) {
                    same.push(first);
                }
                same.push(rank);
            }
            self.seeds.push((rank, seed));
        }
        self.ranks.shares.push(Share {
            rank,
            len: indices.len() as u64,
            columns,
        });
    }

    /// Returns the split. `draws` is the number of draws of all ranks. `None` means that the ranks split the dataset.
    pub fn finish(mut self, draws: Option<u64>) -> Ranks {
        for (index, count) in self.counts.iter().enumerate() {
            match count {
                0 => {
                    self.ranks.left_out += 1;
                    if self.ranks.missing.len() < Ranks::LISTED {
                        self.ranks.missing.push(index as u64);
                    }
                }
                1 => {}
                more => {
                    self.ranks.padding += u64::from(*more) - 1;
                    if self.ranks.repeated.len() < Ranks::LISTED {
                        self.ranks.repeated.push(index as u64);
                    }
                }
            }
        }
        // With replacement, a repeated index is not necessarily padding.
        if let Some(draws) = draws {
            let all: u64 = self.ranks.shares.iter().map(|share| share.len).sum();
            let repeated = self.ranks.padding;
            self.ranks.padding = all.saturating_sub(draws).min(repeated);
            self.ranks.drawn_again = Some(repeated - self.ranks.padding);
        }
        self.ranks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_and_tails_are_reported() {
        let mut builder = Builder::new(10).unwrap();
        builder.add(0, &[0, 4, 8, 1], &[7, 8]);
        builder.add(1, &[1, 5, 9, 0], &[9]);
        builder.add(2, &[2, 6], &[7]);
        let ranks = builder.finish(None);
        assert_eq!((ranks.padding, ranks.left_out), (2, 2));
        assert_eq!((ranks.repeated, ranks.missing), (vec![0, 1], vec![3, 7]));
        assert_eq!(ranks.same_seeds, [0, 2]);
        assert_eq!(ranks.shares[2].columns, [0, 0, 1, 0, 0, 0, 1, 0, 0, 0]);
        assert!(Builder::new(u64::MAX).is_none());
    }
}
