//! Mersenne Twister MT19937. PyTorch, Python and NumPy use it with two different ways of seeding.

/// Number of state words.
pub(super) const N: usize = 624;
/// Distance of the words that are mixed.
const M: usize = 397;

/// Stream of 32-bit words.
#[derive(Clone, Debug)]
pub(super) struct Mt19937 {
    /// Untempered state of the current block.
    state: Box<[u32; N]>,
    /// Tempered words of the current block.
    block: Box<[u32; N]>,
    /// Next word of `block`. `N`: the block is used up.
    next: usize,
}

impl Mt19937 {
    /// Seeds the stream with one word (`init_genrand`), as PyTorch does.
    pub fn new(seed: u32) -> Self {
        let mut state = Box::new([0; N]);
        let mut word = seed;
        for (i, slot) in state.iter_mut().enumerate() {
            if i > 0 {
                word = (word ^ (word >> 30))
                    .wrapping_mul(1_812_433_253)
                    .wrapping_add(i as u32);
            }
            *slot = word;
        }
        Self::at_end(state)
    }

    /// Seeds the stream with a list of words (`init_by_array`), as Python and NumPy do. An empty list counts as one zero.
    pub fn by_array(key: &[u32]) -> Self {
        let key = if key.is_empty() { &[0][..] } else { key };
        let mut state = Self::new(19_650_218).state;
        let stir = |word: u32| word ^ (word >> 30);
        let after = |i: usize| if i + 1 < N { i + 1 } else { 1 };
        let (mut i, mut last) = (1, state[0]);
        let words = key.iter().enumerate().cycle();
        for (j, &word) in words.take(N.max(key.len())) {
            last = (state[i] ^ stir(last).wrapping_mul(1_664_525))
                .wrapping_add(word)
                .wrapping_add(j as u32);
            state[i] = last;
            i = after(i);
        }
        // The second pass continues at the end of the first one.
        for _ in 0..N - 1 {
            last = (state[i] ^ stir(last).wrapping_mul(1_566_083_941)).wrapping_sub(i as u32);
            state[i] = last;
            i = after(i);
        }
        state[0] = 0x8000_0000;
        Self::at_end(state)
    }

    fn at_end(state: Box<[u32; N]>) -> Self {
        Self {
            state,
            block: Box::new([0; N]),
            next: N,
        }
    }

    /// Resumes a stream at word `next` of a block. Returns `None` if `next` is outside the block.
    pub fn resume(state: Box<[u32; N]>, next: usize) -> Option<Self> {
        let mut stream = Self::at_end(state);
        stream.temper();
        stream.next = next;
        (next <= N).then_some(stream)
    }

    /// Returns the untempered state of the current block.
    pub fn words(&self) -> &[u32; N] {
        &self.state
    }

    /// Returns the number of words of the current block that were yielded.
    pub fn position(&self) -> usize {
        self.next
    }

    /// Returns the next word.
    #[inline]
    pub fn next_u32(&mut self) -> u32 {
        if self.next >= N {
            self.twist();
            self.temper();
            self.next = 0;
        }
        let word = self.block[self.next];
        self.next += 1;
        word
    }

    /// Returns the next 64 bits. The first word is the high one, as in PyTorch and NumPy.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let high = u64::from(self.next_u32());
        high << 32 | u64::from(self.next_u32())
    }

    /// Returns a number in 0..1 with 53 bits, as Python's `random.random()` and NumPy's `random_sample()`.
    pub fn real(&mut self) -> f64 {
        let high = f64::from(self.next_u32() >> 5);
        let low = f64::from(self.next_u32() >> 6);
        (high * 67_108_864.0 + low) / 9_007_199_254_740_992.0
    }

    /// Skips `count` words. It is faster than drawing them.
    pub fn discard(&mut self, count: u64) {
        let mut left = count;
        while left > (N - self.next) as u64 {
            left -= (N - self.next) as u64;
            self.twist();
            if left <= N as u64 {
                self.temper();
            }
            self.next = 0;
        }
        self.next += left as usize;
    }

    fn twist(&mut self) {
        let mix = |a: u32, b: u32| {
            let y = (a & 0x8000_0000) | (b & 0x7fff_ffff);
            (y >> 1) ^ (0x9908_b0df & (b & 1).wrapping_neg())
        };
        let s = &mut *self.state;
        for i in 0..N - M {
            s[i] = s[i + M] ^ mix(s[i], s[i + 1]);
        }
        for i in N - M..N - 1 {
            s[i] = s[i + M - N] ^ mix(s[i], s[i + 1]);
        }
        s[N - 1] = s[M - 1] ^ mix(s[N - 1], s[0]);
    }

    fn temper(&mut self) {
        for (out, &word) in self.block.iter_mut().zip(self.state.iter()) {
            let mut y = word;
            y ^= y >> 11;
            y ^= (y << 7) & 0x9d2c_5680;
            y ^= (y << 15) & 0xefc6_0000;
            *out = y ^ (y >> 18);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn seeding_by_a_list_gives_the_published_words() {
        let mut stream = Mt19937::by_array(&[0x123, 0x234, 0x345, 0x456]);
        let words: Vec<u32> = (0..5).map(|_| stream.next_u32()).collect();
        assert_eq!(
            words,
            [1067595299, 955945823, 477289528, 4107218783, 4228976476]
        );
    }

    proptest! {
        #[test]
        fn discarding_equals_drawing(key in prop::collection::vec(any::<u32>(), 0..700), drawn in 0usize..700, count in 0u64..3000) {
            let mut a = Mt19937::by_array(&key);
            for _ in 0..drawn {
                a.next_u32();
            }
            let mut b = a.clone();
            for _ in 0..count {
                a.next_u32();
            }
            b.discard(count);
            prop_assert_eq!(a.next_u32(), b.next_u32());
            let mut c = Mt19937::resume(Box::new(*a.words()), a.position()).unwrap();
            prop_assert_eq!(a.next_u64(), c.next_u64());
        }
    }
}
