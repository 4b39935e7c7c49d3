//! How the indices of an epoch are shared among ranks.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{EngineError, ExceptionKind};
use crate::rng::{Indices, reserve};

/// One rank of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    pub num_replicas: usize,
    pub rank: usize,
}

impl Rank {
    /// # Errors
    /// ValueError if `rank` is not in `0..num_replicas`.
    pub fn new(num_replicas: i64, rank: i64) -> Result<Self, EngineError> {
        match (usize::try_from(num_replicas), usize::try_from(rank)) {
            (Ok(num_replicas), Ok(rank)) if rank < num_replicas => Ok(Self { num_replicas, rank }),
            _ => Err(EngineError::value_error(format!(
                "Invalid rank {rank}, rank should be in the interval [0, {}]",
                i128::from(num_replicas) - 1
            ))),
        }
    }

    /// How many of `count` indices each rank gets.
    pub fn num_samples(self, count: usize, drop_last: bool) -> usize {
        if drop_last {
            count / self.num_replicas
        } else {
            count.div_ceil(self.num_replicas)
        }
    }

    /// The `num_samples` indices of this rank: every `num_replicas`-th of the list, which begins anew where it ends too
    /// early. `at` gives the index at a position below `count`; all indices are below `bound`.
    ///
    /// # Errors
    /// What PyTorch raises if the list does not fit: AssertionError, or ZeroDivisionError if it is empty. It fits unless
    /// the data set has changed its length since the sampler was made.
    pub fn take(
        self,
        num_samples: usize,
        count: usize,
        bound: usize,
        drop_last: bool,
        at: impl Fn(usize) -> usize,
    ) -> Result<Indices, EngineError> {
        let total = num_samples.saturating_mul(self.num_replicas);
        fits(count, total, drop_last)?;
        let positions = (0..num_samples).map(|i| (self.rank + i * self.num_replicas) % count);
        if u32::try_from(bound).is_ok() {
            let mut items = reserve(num_samples)?;
            items.extend(positions.map(|position| at(position) as u32));
            return Ok(Indices::U32(items));
        }
        let mut items = reserve(num_samples)?;
        items.extend(positions.map(|position| at(position) as u64));
        Ok(Indices::U64(items))
    }
}

fn fits(count: usize, total: usize, drop_last: bool) -> Result<(), EngineError> {
    // What PyTorch's list is long after padding or cutting.
    let padded = if drop_last {
        count.min(total)
    } else if total >= count {
        if count == 0 && total > 0 {
            let kind = ExceptionKind::ZERO_DIVISION_ERROR;
            return Err(EngineError::python(kind, "division by zero"));
        }
        total
    } else {
        // A negative padding, with which Python appends all but the last few once more.
        count + count.saturating_sub(count - total)
    };
    if padded == total {
        return Ok(());
    }
    Err(EngineError::python(
        ExceptionKind::ASSERTION_ERROR,
        format!("Number of indices ({padded}) does not match total_size ({total})"),
    ))
}

/// A seed that all ranks know, and the number of the epoch.
#[derive(Debug, Default)]
pub struct Seed {
    pub seed: u64,
    epoch: AtomicU64,
}

impl Seed {
    pub fn set_epoch(&self, epoch: u64) {
        self.epoch.store(epoch, Ordering::Relaxed);
    }

    /// What the generator of the epoch is seeded with.
    pub fn now(&self) -> u64 {
        self.seed.wrapping_add(self.epoch.load(Ordering::Relaxed))
    }
}
