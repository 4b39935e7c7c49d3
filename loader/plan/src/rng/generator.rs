//! Generator: seeding, words, integers and uniform numbers.

use super::mt19937::Mt19937;
use crate::error::LoaderError;
use loadscope_words::say;

/// Range from which `randint` draws 64 bits per number.
pub(crate) const RANDINT_WIDE: u64 = 1 << 28;

/// `torch.Generator` on the CPU. A clone continues the stream independently (about 5 KB).
#[derive(Clone)]
pub struct Generator {
    pub(super) seed: u64,
    pub(super) stream: Mt19937,
    pub(super) draws: u64,
}

impl std::fmt::Debug for Generator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Generator")
            .field("seed", &self.seed)
            .field("draws", &self.draws)
            .finish_non_exhaustive()
    }
}

impl Generator {
    /// `torch.Generator().manual_seed(seed)`. Only the low 32 bits of the seed affect the stream.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            stream: Mt19937::new(seed as u32),
            draws: 0,
        }
    }

    /// Restarts the stream with another seed, and resets the number of draws.
    pub fn manual_seed(&mut self, seed: u64) {
        *self = Self::new(seed);
    }

    /// Returns the whole 64-bit seed, as `initial_seed()`.
    pub fn initial_seed(&self) -> u64 {
        self.seed
    }

    /// Returns the number of raw 32-bit words drawn since seeding.
    pub fn draws(&self) -> u64 {
        self.draws
    }

    /// Returns the next raw 32-bit word.
    #[inline]
    pub fn next_u32(&mut self) -> u32 {
        self.draws += 1;
        self.stream.next_u32()
    }

    /// Skips `count` 32-bit words. It is faster than drawing them.
    pub fn discard(&mut self, count: u64) {
        self.draws += count;
        self.stream.discard(count);
    }

    /// Returns the next 64 bits. The first word is the high one.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let high = u64::from(self.next_u32());
        high << 32 | u64::from(self.next_u32())
    }

    /// `torch.empty((), dtype=torch.int64).random_()`: 0 ..= 2^63 − 1. A loader's base seed is such a number.
    pub fn random_i64(&mut self) -> i64 {
        (self.next_u64() & i64::MAX as u64) as i64
    }

    /// `torch.empty((), dtype=torch.int32).random_()`: 0 ..= 2^31 − 1.
    pub fn random_i32(&mut self) -> i32 {
        (self.next_u32() & i32::MAX as u32) as i32
    }

    /// `torch.randint(low, high, (count,))`: integers in `low..high`.
    ///
    /// # Errors
    /// RuntimeError if the range is empty. In this case nothing is drawn.
    pub fn randint(&mut self, low: i64, high: i64, count: usize) -> Result<Vec<i64>, LoaderError> {
        let mut next = self.randint_stream(low, high)?;
        let mut out = reserve(count)?;
        out.extend((0..count).map(|_| next()));
        Ok(out)
    }

    /// Returns a function that draws the numbers of [`randint`](Self::randint), one per call.
    pub(super) fn randint_stream(
        &mut self,
        low: i64,
        high: i64,
    ) -> Result<impl FnMut() -> i64 + use<'_>, LoaderError> {
        if low >= high {
            return Err(LoaderError::runtime(format!(
                "random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
            )));
        }
        let range = high.wrapping_sub(low) as u64;
        Ok(move || {
            // The remainder is not perfectly uniform, but it is PyTorch's method.
            let offset = if range < RANDINT_WIDE {
                u64::from(self.next_u32() % range as u32)
            } else {
                self.next_u64() % range
            };
            low.wrapping_add(offset as i64)
        })
    }

    /// Returns 24 random bits k. `torch.rand` in float32 is k · 2^-24.
    pub fn rand_f32_k(&mut self) -> u32 {
        self.next_u32() & ((1 << 24) - 1)
    }

    /// Returns 53 random bits k. `torch.rand` in float64 is k · 2^-53.
    pub fn rand_f64_k(&mut self) -> u64 {
        self.next_u64() & ((1 << 53) - 1)
    }

    /// Returns one element of `torch.rand(..)`, in 0..1.
    pub fn rand_f32(&mut self) -> f32 {
        self.rand_f32_k() as f32 * (1.0 / (1u32 << 24) as f32)
    }

    /// Returns one element of `torch.rand(.., dtype=torch.float64)`, in 0..1.
    pub fn rand_f64(&mut self) -> f64 {
        self.rand_f64_k() as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

/// Allocates memory for `count` numbers, or returns an allocation error.
pub(crate) fn reserve<T>(count: usize) -> Result<Vec<T>, LoaderError> {
    let mut out = Vec::new();
    out.try_reserve_exact(count).map_err(|_| {
        LoaderError::runtime(say!(
            "not enough memory: a list of {count} random numbers needs {} bytes. Use fewer samples.",
            (count as u128) * size_of::<T>() as u128
        ))
    })?;
    Ok(out)
}
