//! Split of the indices of an epoch among ranks.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{ExceptionKind, LoaderError};
use crate::rng::{Indices, reserve};

/// One of several ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    pub num_replicas: usize,
    pub rank: usize,
}

impl Rank {
    /// Creates rank `rank` of `num_replicas`.
    ///
    /// # Errors
    /// ValueError if `rank` is not in `0..num_replicas`.
    pub fn new(num_replicas: i64, rank: i64) -> Result<Self, LoaderError> {
        match (usize::try_from(num_replicas), usize::try_from(rank)) {
            (Ok(num_replicas), Ok(rank)) if rank < num_replicas => Ok(Self { num_replicas, rank }),
            _ => Err(LoaderError::value_error(format!(
                "Invalid rank {rank}, rank should be in the interval [0, {}]",
                i128::from(num_replicas) - 1
            ))),
        }
    }

    /// Returns the number of indices of each rank, out of `count`.
    pub fn num_samples(self, count: usize, drop_last: bool) -> usize {
        if drop_last {
            count / self.num_replicas
        } else {
            count.div_ceil(self.num_replicas)
        }
    }

    /// Returns the `num_samples` indices of this rank: every `num_replicas`-th of a list, which starts over at its end.
    /// It needs no more memory than the list.
    ///
    /// # Errors
    /// PyTorch's error if the length of the list does not match: AssertionError, or ZeroDivisionError if it is empty. It
    /// matches unless the length of the dataset changed after the creation of the sampler.
    pub fn share_of(
        self,
        list: Indices,
        num_samples: usize,
        drop_last: bool,
    ) -> Result<Indices, LoaderError> {
        self.fits(list.len(), num_samples, drop_last)?;
        Ok(match list {
            Indices::U32(items) => Indices::U32(self.gather(items, num_samples)),
            Indices::U64(items) => Indices::U64(self.gather(items, num_samples)),
        })
    }

    /// Returns the share of the list `0..count` without creating the list.
    ///
    /// # Errors
    /// As [`share_of`](Self::share_of).
    pub fn share_of_range(
        self,
        count: usize,
        num_samples: usize,
        drop_last: bool,
    ) -> Result<Indices, LoaderError> {
        self.fits(count, num_samples, drop_last)?;
        let positions = (0..num_samples).map(|i| self.position(i) % count);
        if u32::try_from(count).is_ok() {
            let mut items = reserve(num_samples)?;
            items.extend(positions.map(|position| position as u32));
            return Ok(Indices::U32(items));
        }
        let mut items = reserve(num_samples)?;
        items.extend(positions.map(|position| position as u64));
        Ok(Indices::U64(items))
    }

    /// Returns the position of this rank's `i`-th index in the list of all ranks.
    fn position(self, i: usize) -> usize {
        self.rank + i * self.num_replicas
    }

    fn gather<T: Copy>(self, mut items: Vec<T>, num_samples: usize) -> Vec<T> {
        let count = items.len();
        let inside = count
            .saturating_sub(self.rank)
            .div_ceil(self.num_replicas)
            .min(num_samples);
        // The repeated indices are read before the share is moved to the front and overwrites them.
        let again: Vec<T> = (inside..num_samples)
            .filter_map(|i| items.get(self.position(i) % count).copied())
            .collect();
        for i in 0..inside {
            items[i] = items[self.position(i)];
        }
        items.truncate(inside);
        items.extend(again);
        items.shrink_to_fit();
        items
    }

    fn fits(self, count: usize, num_samples: usize, drop_last: bool) -> Result<(), LoaderError> {
        fits(
            count,
            num_samples.saturating_mul(self.num_replicas),
            drop_last,
        )
    }
}

fn fits(count: usize, total: usize, drop_last: bool) -> Result<(), LoaderError> {
    // `padded` is the length of PyTorch's list after padding or truncation.
    let padded = if drop_last {
        count.min(total)
    } else if total >= count {
        if count == 0 && total > 0 {
            let kind = ExceptionKind::ZERO_DIVISION_ERROR;
            return Err(LoaderError::python(kind, "division by zero"));
        }
        total
    } else {
        // The padding is negative. Python then appends all but the last few indices again.
        count + count.saturating_sub(count - total)
    };
    if padded == total {
        return Ok(());
    }
    Err(LoaderError::python(
        ExceptionKind::ASSERTION_ERROR,
        format!("Number of indices ({padded}) does not match total_size ({total})"),
    ))
}

/// Seed that all ranks share, with the number of the epoch.
#[derive(Debug, Default)]
pub struct Seed {
    pub seed: u64,
    epoch: AtomicU64,
}

impl Seed {
    pub fn set_epoch(&self, epoch: u64) {
        self.epoch.store(epoch, Ordering::Relaxed);
    }

    /// Returns the generator's seed for the current epoch.
    pub fn now(&self) -> u64 {
        self.seed.wrapping_add(self.epoch.load(Ordering::Relaxed))
    }
}
