//! Weighted draws.

use super::generator::reserve;
use super::topk::{argmax, top_k, top_k_of_many};
use super::{Generator, Indices};
use crate::error::LoaderError;

/// Maximum number of categories of `torch.multinomial`. This crate allows more.
const PYTORCH_MAX_CATEGORIES: usize = 1 << 24;
/// Maximum number of entries of the lookup table.
const MAX_BUCKETS: usize = 1 << 24;

impl Generator {
    /// `torch.multinomial(weights, num_samples, replacement)` for float64 weights: draws categories with probabilities
    /// proportional to their weights.
    ///
    /// With replacement every draw takes one uniform number. Without replacement, and for a single draw, every category
    /// takes one, including those of weight 0. Such categories are returned if the others do not suffice.
    ///
    /// `torch.multinomial` allows 2^24 categories. More categories are drawn in the same way, and equal scores are ordered
    /// by category number. On Intel's CPUs PyTorch draws without replacement from a stream of Intel's library. This
    /// function draws as on all other CPUs.
    ///
    /// # Errors
    /// RuntimeError with PyTorch's message if weights are negative, infinite, NaN or all 0, or if there are fewer
    /// categories than draws without replacement. In this case nothing is drawn.
    pub fn multinomial(
        &mut self,
        weights: &[f64],
        num_samples: usize,
        replacement: bool,
    ) -> Result<Indices, LoaderError> {
        check(weights, num_samples, replacement)?;
        if weights.len() <= u32::MAX as usize {
            let items = self.draw_weighted(weights, num_samples, replacement, |i| i as u32)?;
            return Ok(Indices::U32(items));
        }
        let items = self.draw_weighted(weights, num_samples, replacement, |i| i as u64)?;
        Ok(Indices::U64(items))
    }

    fn draw_weighted<T: Copy + Ord>(
        &mut self,
        weights: &[f64],
        num_samples: usize,
        replacement: bool,
        number: impl Fn(usize) -> T,
    ) -> Result<Vec<T>, LoaderError> {
        if replacement && num_samples > 1 {
            let cumulative = Cumulative::new(weights, num_samples)?;
            let mut out = reserve(num_samples)?;
            let mut block = [Search::default(); BLOCK];
            while out.len() < num_samples {
                let count = BLOCK.min(num_samples - out.len());
                for slot in block.iter_mut().take(count) {
                    *slot = cumulative.begin(self.rand_f64());
                }
                out.extend(
                    block
                        .iter()
                        .take(count)
                        .map(|search| number(cumulative.end(search))),
                );
            }
            return Ok(out);
        }
        let scores = weights.iter().map(|&weight| {
            let exponential = -(-self.rand_f64()).ln_1p();
            // Adding 0 turns −0 into 0, which PyTorch treats as equal.
            weight / exponential + 0.0
        });
        if num_samples == 1 {
            return Ok(argmax(scores).map(number).into_iter().collect());
        }
        if weights.len() <= PYTORCH_MAX_CATEGORIES {
            return top_k(scores, weights.len(), num_samples, number);
        }
        top_k_of_many(scores, weights.len(), num_samples, number)
    }
}

/// Returns the number of 32-bit words that [`Generator::multinomial`] draws.
pub(crate) fn multinomial_words(weights: &[f64], num_samples: usize, replacement: bool) -> u64 {
    if check(weights, num_samples, replacement).is_err() {
        return 0;
    }
    let numbers = if replacement && num_samples > 1 {
        num_samples
    } else {
        weights.len()
    };
    (numbers as u64).saturating_mul(2)
}

/// Performs PyTorch's checks, which differ between its two methods.
fn check(weights: &[f64], num_samples: usize, replacement: bool) -> Result<(), LoaderError> {
    const NO_SUM: &str = "invalid multinomial distribution (sum of probabilities <= 0)";
    let fail = |message: &str| Err(LoaderError::runtime(message));
    if num_samples == 0 {
        return fail("cannot sample n_sample <= 0 samples");
    }
    if !replacement && num_samples > weights.len() {
        return fail("cannot sample n_sample > prob_dist.size(-1) samples without replacement");
    }
    let is_zero = || weights.iter().all(|&weight| weight == 0.0);
    if replacement && num_samples > 1 {
        for &weight in weights {
            if weight.is_nan() || weight < 0.0 {
                return fail(
                    "invalid multinomial distribution (encountering probability entry < 0)",
                );
            }
            if weight.is_infinite() {
                return fail(
                    "invalid multinomial distribution (encountering probability entry = infinity or NaN)",
                );
            }
        }
        return if is_zero() { fail(NO_SUM) } else { Ok(()) };
    }
    if weights.is_empty() {
        return fail(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.",
        );
    }
    if !weights.iter().all(|w| w.is_finite() && *w >= 0.0) {
        return fail("probability tensor contains either `inf`, `nan` or element < 0");
    }
    if is_zero() { fail(NO_SUM) } else { Ok(()) }
}

/// Cumulative distribution with a lookup table.
struct Cumulative {
    /// Share of the weights up to and including each category. The last one is 1.
    shares: Vec<f64>,
    /// For every `b`: first category whose share is at least `b / (guide.len() - 1)`. Empty if the table does not pay off.
    guide: Vec<u32>,
}

impl Cumulative {
    fn new(weights: &[f64], num_samples: usize) -> Result<Self, LoaderError> {
        let mut shares = reserve(weights.len())?;
        let mut sum = 0.0;
        shares.extend(weights.iter().map(|&weight| {
            sum += weight;
            sum
        }));
        shares.iter_mut().for_each(|share| *share /= sum);
        if let Some(last) = shares.last_mut() {
            *last = 1.0;
        }
        // If the sum overflows, the shares are not sorted. Only PyTorch's own search then has the same results.
        let in_order = f64::is_finite(sum);
        let pays = num_samples >= weights.len() / 16 && u32::try_from(weights.len()).is_ok();
        let guide = if in_order && pays {
            Self::guide(&shares)?
        } else {
            Vec::new()
        };
        Ok(Self { shares, guide })
    }

    fn guide(shares: &[f64]) -> Result<Vec<u32>, LoaderError> {
        // The size is a power of two, so that the bucket of a number is exact.
        let buckets = shares.len().next_power_of_two().min(MAX_BUCKETS);
        let mut guide = reserve(buckets + 1)?;
        let mut category = 0;
        for bucket in 0..=buckets {
            let bound = bucket as f64 / buckets as f64;
            while shares.get(category).is_some_and(|&share| share < bound) {
                category += 1;
            }
            guide.push(category as u32);
        }
        Ok(guide)
    }

    /// Starts the search for the first category whose share is at least `u`, for `u` in 0..1.
    #[inline]
    fn begin(&self, u: f64) -> Search {
        let bucket = (u * self.guide.len().saturating_sub(1) as f64) as usize;
        let (low, high) = match self.guide.get(bucket..bucket + 2) {
            Some(&[low, high]) => (low as usize, high as usize),
            _ => (0, self.shares.len()),
        };
        Search {
            u,
            low,
            high,
            share: self.shares.get(low).copied().unwrap_or_default(),
        }
    }

    /// Returns the category that a search finds.
    #[inline]
    fn end(&self, search: &Search) -> usize {
        let (u, mut low, mut high) = (search.u, search.low, search.high);
        if !self.guide.is_empty() && search.share >= u {
            return low;
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if self.shares[middle] < u {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

/// Number of searches in progress at once. Their memory accesses overlap.
const BLOCK: usize = 64;

/// Search in progress.
#[derive(Clone, Copy, Default)]
struct Search {
    u: f64,
    /// Range `low ..= high` of the category.
    low: usize,
    high: usize,
    /// Share of category `low`.
    share: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn weight() -> impl Strategy<Value = f64> {
        prop_oneof![Just(0.0), 0.0..1.0, 0.0..1e-300, 1e300..1e308]
    }

    proptest! {
        #[test]
        fn the_guide_table_finds_the_result_of_the_search(weights in prop::collection::vec(weight(), 1..200), u in 0.0..1.0) {
            prop_assume!(weights.iter().any(|&w| w > 0.0));
            let with = Cumulative::new(&weights, 1000).unwrap();
            let without = Cumulative { guide: Vec::new(), shares: with.shares.clone() };
            for u in with.shares.iter().copied().filter(|u| *u < 1.0).chain([u, 0.0]) {
                prop_assert_eq!(with.end(&with.begin(u)), without.end(&without.begin(u)));
            }
        }

        #[test]
        fn drawn_categories_have_a_positive_weight(
            seed: u64,
            weights in prop::collection::vec(weight(), 1..100),
            count in 1usize..100,
            replacement: bool,
        ) {
            let mut generator = Generator::new(seed);
            let words = multinomial_words(&weights, count, replacement);
            let Ok(drawn) = generator.multinomial(&weights, count, replacement) else {
                prop_assert_eq!((generator.draws(), words), (0, 0));
                return Ok(());
            };
            prop_assert_eq!(generator.draws(), words);
            prop_assert_eq!(drawn.len(), count);
            let heavy = weights.iter().filter(|&&w| w > 0.0).count();
            if !replacement {
                let mut seen: Vec<usize> = drawn.iter().collect();
                seen.sort_unstable();
                seen.dedup();
                prop_assert_eq!(seen.len(), count, "every category once");
                prop_assert!(drawn.iter().take(heavy).all(|i| weights[i] > 0.0));
            }
        }
    }
}
