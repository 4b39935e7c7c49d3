//! Permutations.

use super::generator::reserve;
use super::{Generator, Indices, Permutation};
use crate::error::LoaderError;

/// Length from which `randperm` draws 64 bits per step: (2^32 − 1) / 20.
pub const RANDPERM_WIDE: usize = 214_748_364;

impl Generator {
    /// `torch.randperm(n)`: the numbers `0..n` in random order. `n <= 1` draws nothing.
    ///
    /// # Errors
    /// RuntimeError if the memory does not suffice.
    pub fn randperm(&mut self, n: usize) -> Result<Permutation, LoaderError> {
        self.randperm_head(n, n)
    }

    /// `torch.randperm(n)[:take]`. It draws as many words as the whole permutation, without the other work for the rest.
    ///
    /// # Errors
    /// RuntimeError if the memory does not suffice.
    pub fn randperm_head(&mut self, n: usize, take: usize) -> Result<Indices, LoaderError> {
        if take == 0 {
            self.discard(randperm_words(n));
            return Ok(Indices::default());
        }
        let Ok(count) = u32::try_from(n) else {
            let mut items: Vec<u64> = reserve(n)?;
            items.extend(0..n as u64);
            self.shuffle_wide(&mut items, |i| i as u64);
            items.truncate(take);
            return Ok(Indices::U64(items));
        };
        let mut items: Vec<u32> = reserve(n)?;
        items.extend(0..count);
        if n < RANDPERM_WIDE {
            self.shuffle_narrow(&mut items, take);
        } else {
            self.shuffle_wide(&mut items, |i| i as u32);
        }
        items.truncate(take);
        Ok(Indices::U32(items))
    }

    /// Fisher-Yates shuffle from the front, with one word per step except for the last element. Only the first `take` elements are final,
    /// since no later step changes them.
    fn shuffle_narrow(&mut self, items: &mut [u32], take: usize) {
        let n = items.len();
        let steps = n.saturating_sub(1);
        let here = steps.min(take);
        for i in 0..here {
            // n < 2^28, so the remainder in 32 bits is exact, and faster than with usize.
            let z = self.next_u32() % (n - i) as u32;
            items.swap(i, i + z as usize);
        }
        self.discard((steps - here) as u64);
    }

    /// Inside-out variant with 64 bits per step, including the first element.
    fn shuffle_wide<T: Copy>(&mut self, items: &mut [T], number: impl Fn(usize) -> T) {
        for i in 0..items.len() {
            let z = (self.next_u64() % (i as u64 + 1)) as usize;
            items[i] = items[z];
            items[z] = number(i);
        }
    }
}

/// Returns the number of 32-bit words that `randperm(n)` draws.
pub(crate) fn randperm_words(n: usize) -> u64 {
    let n = n as u64;
    if n < RANDPERM_WIDE as u64 {
        n.saturating_sub(1)
    } else {
        n.saturating_mul(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn permutations_of_zero_or_one_item_draw_nothing() {
        let mut generator = Generator::new(3);
        assert!(generator.randperm(0).unwrap().is_empty());
        assert_eq!(generator.randperm(1).unwrap().get(0), Some(0));
        assert_eq!(generator.draws(), 0);
        generator.randperm(5).unwrap();
        assert_eq!(generator.draws(), 4);
    }

    #[test]
    fn impossible_lengths_and_ranges_are_errors() {
        let mut generator = Generator::new(0);
        assert!(generator.randperm(usize::MAX / 2).is_err());
        assert!(generator.randint(3, 3, 1).is_err());
        assert_eq!(generator.randint(i64::MIN, i64::MAX, 2).unwrap().len(), 2);
    }

    proptest! {
        #[test]
        fn permutations_contain_every_number_once(seed: u64, n in 0usize..3000) {
            let mut items: Vec<usize> = Generator::new(seed).randperm(n).unwrap().iter().collect();
            items.sort_unstable();
            prop_assert!(items.into_iter().eq(0..n));
        }

        #[test]
        fn a_clone_continues_with_the_same_numbers(seed: u64, skip in 0usize..2000) {
            let mut a = Generator::new(seed);
            for _ in 0..skip {
                a.next_u32();
            }
            let mut b = a.clone();
            prop_assert_eq!(a.next_u64(), b.next_u64());
            prop_assert_eq!(a.draws(), b.draws());
        }

        #[test]
        fn randperm_head_equals_the_start_of_randperm(seed: u64, n in 0usize..3000, take in 0usize..3000) {
            let (mut a, mut b) = (Generator::new(seed), Generator::new(seed));
            let whole = a.randperm(n).unwrap();
            let head = b.randperm_head(n, take).unwrap();
            prop_assert!(head.iter().eq(whole.iter().take(take)));
            prop_assert_eq!(a.draws(), randperm_words(n));
            prop_assert_eq!((a.draws(), a.next_u32()), (b.draws(), b.next_u32()));
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
