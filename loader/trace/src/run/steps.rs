//! The lengths of the training steps.

use crate::column::Column;
use crate::{Nanos, Octaves};

/// A training step longer than so many times the usual one is something else: the program saved a checkpoint, or never asked
/// for another batch. Only so much of it counts.
const LONGEST_STEP: f64 = 20.0;

/// Of fewer steps none is usual.
const FEW_STEPS: u64 = 4;

/// The lengths of the training steps that are over.
#[derive(Clone, Debug, Default)]
pub(crate) struct Steps {
    /// All that are shown.
    shown: Histogram,
    lengths: Column<Nanos>,
    /// The first `k * EVERY` of them.
    before: Vec<Histogram>,
}

/// Lengths by powers of two.
#[derive(Clone, Debug)]
struct Histogram {
    counts: [u64; 64],
    sums: [i64; 64],
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            counts: [0; 64],
            sums: [0; 64],
        }
    }
}

impl Steps {
    /// So many steps have one histogram in `before`.
    const EVERY: usize = 1024;

    pub(super) fn record(&mut self, took: Nanos) {
        if self.lengths.len().is_multiple_of(Self::EVERY) {
            self.before.push(self.shown.clone());
        }
        self.lengths.push(took);
        self.shown.record(took);
    }

    /// Hides all but the first `count`.
    pub(super) fn show(&mut self, count: usize) {
        let count = count.min(self.lengths.all().len());
        let block = (count / Self::EVERY).min(self.before.len().saturating_sub(1));
        let mut shown = self.before.get(block).cloned().unwrap_or_default();
        let rest = self.lengths.all().get(block * Self::EVERY..count);
        let rest = rest.into_iter().flatten();
        rest.for_each(|took| shown.record(*took));
        self.shown = shown;
        self.lengths.show(count);
    }

    /// Hides nothing.
    pub(super) fn show_all(&mut self) {
        self.show(self.lengths.all().len());
    }

    /// All together, of steps that are too long only as much as counts; and the longest that counts.
    pub(super) fn sum(&self) -> (f64, f64) {
        self.shown.sum()
    }

    /// The same of those and of others, of which less is known.
    pub(super) fn sum_with(&self, past: &Octaves) -> (f64, f64) {
        let mut all = self.shown.clone();
        for (octave, count, sum) in past.iter() {
            let octave = usize::from(octave).min(63);
            all.counts[octave] = all.counts[octave].saturating_add(count);
            all.sums[octave] = all.sums[octave].saturating_add(sum);
        }
        all.sum()
    }

    /// What they cost in memory.
    pub(super) fn bytes(&self) -> usize {
        self.lengths.capacity() * size_of::<Nanos>()
            + self.before.capacity() * size_of::<Histogram>()
    }
}

impl Histogram {
    fn record(&mut self, took: Nanos) {
        let bucket = bucket(took);
        self.counts[bucket] += 1;
        self.sums[bucket] = self.sums[bucket].saturating_add(took.0.max(0));
    }

    /// The longest that a step counts with, ns.
    fn longest(&self) -> f64 {
        let all = self.counts.iter().copied().fold(0, u64::saturating_add);
        if all < FEW_STEPS {
            return f64::INFINITY;
        }
        let mut seen = 0u64;
        let median = self.counts.iter().position(|count| {
            seen = seen.saturating_add(*count);
            seen.saturating_mul(2) >= all
        });
        median.map_or(f64::INFINITY, |bucket| {
            let mean = self.sums[bucket] as f64 / self.counts[bucket].max(1) as f64;
            LONGEST_STEP * mean.max(1.0)
        })
    }

    fn sum(&self) -> (f64, f64) {
        let longest = self.longest();
        let each = self.counts.iter().zip(&self.sums);
        let sums = each.map(|(count, sum)| (*sum as f64).min(*count as f64 * longest));
        (sums.sum(), longest)
    }
}

fn bucket(took: Nanos) -> usize {
    63 - (took.0.max(1) as u64).leading_zeros() as usize
}
