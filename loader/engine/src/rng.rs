//! PyTorch's CPU random number generator, bit for bit: MT19937 and what `torch` draws from it.

mod numpy;
mod permutation;
mod worker;

use std::f64::consts::PI;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use numpy::numpy_seed_state;
pub use permutation::Permutation;
pub use worker::WorkerRng;

use crate::error::EngineError;

/// Words of state.
const N: usize = 624;
/// Distance of the words that are mixed.
const M: usize = 397;
/// From this many elements on `randperm` draws 64 bits a step: (2^32 − 1) / 20.
pub const RANDPERM_WIDE: usize = 214_748_364;
/// From this range on `randint` draws 64 bits a number.
const RANDINT_WIDE: u64 = 1 << 28;

/// A generator that several samplers and the loader draw from, as they share one `torch.Generator` in Python.
pub type SharedGenerator = Arc<Mutex<Generator>>;

/// A new generator to share, seeded as [`Generator::new`].
pub fn shared_generator(seed: u64) -> SharedGenerator {
    Arc::new(Mutex::new(Generator::new(seed)))
}

/// Locks a shared generator. A panic elsewhere leaves the generator usable: every draw completes or does not start.
pub fn lock_generator(generator: &SharedGenerator) -> MutexGuard<'_, Generator> {
    generator.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `torch.Generator` on the CPU. A clone continues the stream independently (about 5 KB).
#[derive(Clone)]
pub struct Generator {
    seed: u64,
    /// Untempered state of the current block.
    state: Box<[u32; N]>,
    /// The current block as it is handed out.
    block: Box<[u32; N]>,
    /// Next word of `block`; `N` = the block is used up.
    next: usize,
    draws: u64,
    /// The second value of the last Box-Muller pair, which PyTorch keeps in the generator as well.
    spare_normal: Option<f64>,
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
    /// `torch.Generator().manual_seed(seed)`: only the low 32 bits of the seed reach the stream.
    pub fn new(seed: u64) -> Self {
        let mut state = Box::new([0; N]);
        let mut word = seed as u32;
        for (i, slot) in state.iter_mut().enumerate() {
            if i > 0 {
                word = (word ^ (word >> 30))
                    .wrapping_mul(1_812_433_253)
                    .wrapping_add(i as u32);
            }
            *slot = word;
        }
        Self {
            seed,
            state,
            block: Box::new([0; N]),
            next: N,
            draws: 0,
            spare_normal: None,
        }
    }

    /// Starts the stream again with another seed; the count of draws restarts as well.
    pub fn manual_seed(&mut self, seed: u64) {
        *self = Self::new(seed);
    }

    /// The whole 64-bit seed, as `initial_seed()` reports it.
    pub fn initial_seed(&self) -> u64 {
        self.seed
    }

    /// Number of raw 32-bit words drawn since seeding.
    pub fn draws(&self) -> u64 {
        self.draws
    }

    /// The next raw 32-bit word.
    #[inline]
    pub fn next_u32(&mut self) -> u32 {
        if self.next >= N {
            self.refill();
        }
        let word = self.block[self.next];
        self.next += 1;
        self.draws += 1;
        word
    }

    /// The next 64 bits: the first word is the high one.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let high = u64::from(self.next_u32());
        high << 32 | u64::from(self.next_u32())
    }

    /// `torch.empty((), dtype=torch.int64).random_()`: 0 ..= 2^63 − 1. Loaders draw their base seed so.
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
    /// RuntimeError if the range is empty; then nothing is drawn.
    pub fn randint(&mut self, low: i64, high: i64, count: usize) -> Result<Vec<i64>, EngineError> {
        if low >= high {
            return Err(EngineError::runtime(format!(
                "random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
            )));
        }
        let range = high.wrapping_sub(low) as u64;
        let mut out = reserve(count)?;
        out.extend((0..count).map(|_| {
            // The plain remainder is not quite uniform, but it is what PyTorch takes.
            let offset = if range < RANDINT_WIDE {
                u64::from(self.next_u32()) % range
            } else {
                self.next_u64() % range
            };
            low.wrapping_add(offset as i64)
        }));
        Ok(out)
    }

    /// 24 random bits k; `torch.rand` in float32 is k · 2^-24.
    pub fn rand_f32_k(&mut self) -> u32 {
        self.next_u32() & ((1 << 24) - 1)
    }

    /// 53 random bits k; `torch.rand` in float64 is k · 2^-53.
    pub fn rand_f64_k(&mut self) -> u64 {
        self.next_u64() & ((1 << 53) - 1)
    }

    /// One element of `torch.rand(..)`, in 0..1.
    pub fn rand_f32(&mut self) -> f32 {
        self.rand_f32_k() as f32 * (1.0 / (1u32 << 24) as f32)
    }

    /// One element of `torch.rand(.., dtype=torch.float64)`, in 0..1.
    pub fn rand_f64(&mut self) -> f64 {
        self.rand_f64_k() as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// `torch.randperm(n)`: the numbers `0..n` in random order. `n <= 1` draws nothing.
    ///
    /// # Errors
    /// RuntimeError if there is no memory for so many numbers.
    pub fn randperm(&mut self, n: usize) -> Result<Permutation, EngineError> {
        if let Ok(count) = u32::try_from(n) {
            let mut items: Vec<u32> = reserve(n)?;
            items.extend(0..count);
            if n < RANDPERM_WIDE {
                self.shuffle_narrow(&mut items);
            } else {
                self.shuffle_wide(&mut items, |i| i as u32);
            }
            return Ok(Permutation::U32(items.into_boxed_slice()));
        }
        let mut items: Vec<u64> = reserve(n)?;
        items.extend(0..n as u64);
        self.shuffle_wide(&mut items, |i| i as u64);
        Ok(Permutation::U64(items.into_boxed_slice()))
    }

    /// Fisher-Yates from the front, one word a step; the last element needs none.
    fn shuffle_narrow(&mut self, items: &mut [u32]) {
        let n = items.len();
        for i in 0..n.saturating_sub(1) {
            // n < 2^28, so the remainder of 32-bit numbers is exact (and faster than that of usize).
            let z = self.next_u32() % (n - i) as u32;
            items.swap(i, i + z as usize);
        }
    }

    /// The inside-out variant with 64 bits a step, also for the first element.
    fn shuffle_wide<T: Copy>(&mut self, items: &mut [T], number: impl Fn(usize) -> T) {
        for i in 0..items.len() {
            let z = (self.next_u64() % (i as u64 + 1)) as usize;
            items[i] = items[z];
            items[z] = number(i);
        }
    }

    /// `torch.randn(count)` in float32. Agrees with PyTorch to about 1e-5: its vectorised log and cos differ by CPU.
    pub fn randn_f32(&mut self, count: usize) -> Vec<f32> {
        if count < 16 {
            return (0..count).map(|_| self.normal() as f32).collect();
        }
        let mut out: Vec<f32> = (0..count).map(|_| self.rand_f32()).collect();
        let box_muller = |a: f32, b: f32| {
            let radius = (-2.0 * (1.0 - a).ln()).sqrt();
            let theta = 2.0 * std::f32::consts::PI * b;
            (radius * theta.cos(), radius * theta.sin())
        };
        self.fill_normal(&mut out, Self::rand_f32, box_muller);
        out
    }

    /// `torch.randn(count, dtype=torch.float64)`. Agrees with PyTorch to about 1e-12.
    pub fn randn_f64(&mut self, count: usize) -> Vec<f64> {
        if count < 16 {
            return (0..count).map(|_| self.normal()).collect();
        }
        let mut out: Vec<f64> = (0..count).map(|_| self.rand_f64()).collect();
        let box_muller = |a: f64, b: f64| {
            let radius = (-2.0 * (1.0 - a).ln()).sqrt();
            let theta = 2.0 * PI * b;
            (radius * theta.cos(), radius * theta.sin())
        };
        self.fill_normal(&mut out, Self::rand_f64, box_muller);
        out
    }

    /// PyTorch's path for fewer than 16 elements: pairs in f64, of which the second waits in the generator.
    fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare_normal.take() {
            return spare;
        }
        let u1 = self.rand_f64();
        let u2 = self.rand_f64();
        let radius = (-2.0 * (-u2).ln_1p()).sqrt();
        let theta = 2.0 * PI * u1;
        self.spare_normal = Some(radius * theta.sin());
        radius * theta.cos()
    }

    /// PyTorch's path for 16 and more elements: blocks of 16 uniforms become 8 pairs; an incomplete last block is
    /// drawn anew together with its predecessors.
    fn fill_normal<T: Copy>(
        &mut self,
        out: &mut [T],
        uniform: impl Fn(&mut Self) -> T,
        box_muller: impl Fn(T, T) -> (T, T),
    ) {
        let block = |values: &mut [T]| {
            for j in 0..8 {
                (values[j], values[j + 8]) = box_muller(values[j], values[j + 8]);
            }
        };
        let ragged = !out.len().is_multiple_of(16);
        out.chunks_exact_mut(16).for_each(block);
        if ragged {
            let start = out.len() - 16;
            out[start..].fill_with(|| uniform(self));
            block(&mut out[start..]);
        }
    }

    fn refill(&mut self) {
        let twist = |a: u32, b: u32| {
            let y = (a & 0x8000_0000) | (b & 0x7fff_ffff);
            (y >> 1) ^ (0x9908_b0df & (b & 1).wrapping_neg())
        };
        let s = &mut *self.state;
        for i in 0..N - M {
            s[i] = s[i + M] ^ twist(s[i], s[i + 1]);
        }
        for i in N - M..N - 1 {
            s[i] = s[i + M - N] ^ twist(s[i], s[i + 1]);
        }
        s[N - 1] = s[M - 1] ^ twist(s[N - 1], s[0]);
        for (out, &word) in self.block.iter_mut().zip(s.iter()) {
            *out = temper(word);
        }
        self.next = 0;
    }
}

/// A word of the state as it is handed out.
fn temper(mut y: u32) -> u32 {
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c_5680;
    y ^= (y << 15) & 0xefc6_0000;
    y ^ (y >> 18)
}

/// Room for `count` numbers, or the error PyTorch's allocator raises.
fn reserve<T>(count: usize) -> Result<Vec<T>, EngineError> {
    let mut out = Vec::new();
    out.try_reserve_exact(count).map_err(|_| {
        EngineError::runtime(format!(
            "not enough memory: a list of {count} random numbers needs {} bytes. Use fewer samples",
            (count as u128) * size_of::<T>() as u128
        ))
    })?;
    Ok(out)
}

/// A generator's state, to be saved and set again.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GeneratorState {
    seed: u64,
    state: Vec<u32>,
    next: usize,
    draws: u64,
    spare_normal: Option<u64>,
}

impl Generator {
    /// `get_state()`
    pub fn state(&self) -> GeneratorState {
        GeneratorState {
            seed: self.seed,
            state: self.state.to_vec(),
            next: self.next,
            draws: self.draws,
            spare_normal: self.spare_normal.map(f64::to_bits),
        }
    }

    /// `set_state(state)`
    ///
    /// # Errors
    /// ValueError if it is no state of a generator.
    pub fn set_state(&mut self, saved: &GeneratorState) -> Result<(), EngineError> {
        let words: Result<[u32; N], _> = saved.state.clone().try_into();
        let (Ok(words), 0..=N) = (words, saved.next) else {
            return Err(EngineError::value_error(
                "this is not the state of a generator: it does not hold 624 words",
            ));
        };
        let mut block = [0; N];
        for (out, word) in block.iter_mut().zip(words) {
            *out = temper(word);
        }
        *self = Self {
            seed: saved.seed,
            state: Box::new(words),
            block: Box::new(block),
            next: saved.next,
            draws: saved.draws,
            spare_normal: saved.spare_normal.map(f64::from_bits),
        };
        Ok(())
    }
}
/// STUB
pub fn default_generator() -> SharedGenerator {
    shared_generator(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_permutations_draw_nothing() {
        let mut generator = Generator::new(3);
        assert!(generator.randperm(0).unwrap().is_empty());
        assert_eq!(generator.randperm(1).unwrap().get(0), Some(0));
        assert_eq!(generator.draws(), 0);
        generator.randperm(5).unwrap();
        assert_eq!(generator.draws(), 4);
    }

    #[test]
    fn absurd_lengths_are_errors() {
        let mut generator = Generator::new(0);
        assert!(generator.randperm(usize::MAX / 2).is_err());
        assert!(generator.randint(3, 3, 1).is_err());
        assert_eq!(generator.randint(i64::MIN, i64::MAX, 2).unwrap().len(), 2);
    }

    proptest! {
        #[test]
        fn permutations_hold_every_number_once(seed: u64, n in 0usize..3000) {
            let mut items: Vec<usize> = Generator::new(seed).randperm(n).unwrap().iter().collect();
            items.sort_unstable();
            prop_assert!(items.into_iter().eq(0..n));
        }

        #[test]
        fn a_clone_continues_alike(seed: u64, skip in 0usize..2000) {
            let mut a = Generator::new(seed);
            for _ in 0..skip {
                a.next_u32();
            }
            a.randn_f64(3);
            let mut b = a.clone();
            prop_assert_eq!(a.next_u64(), b.next_u64());
            prop_assert_eq!(a.randn_f64(2), b.randn_f64(2));
            prop_assert_eq!(a.draws(), b.draws());
        }

        #[test]
        fn wide_shuffles_are_permutations(seed: u64, n in 0usize..500) {
            let mut items: Vec<u32> = (0..n as u32).collect();
            Generator::new(seed).shuffle_wide(&mut items, |i| i as u32);
            items.sort_unstable();
            prop_assert!(items.into_iter().eq(0..n as u32));
        }
    }
}
