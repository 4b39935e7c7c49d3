//! NumPy's legacy random numbers, and their seed in PyTorch's workers.

use super::mt19937::Mt19937;
use crate::error::LoaderError;

/// Returns the four words with which PyTorch seeds NumPy in a worker (`_generate_state`). They are a hash of the worker id and the
/// loader's base seed, similar to NumPy's `SeedSequence`.
pub fn numpy_seed_state(base_seed: u64, worker_id: u32) -> [u32; 4] {
    const SHIFT: u32 = 16;
    let mut constant: u32 = 0x43b0_d7e5;
    let mut hash = |value: u32| {
        let value = value ^ constant;
        constant = constant.wrapping_mul(0x931e_8875);
        let value = value.wrapping_mul(constant);
        value ^ (value >> SHIFT)
    };
    let mix = |x: u32, y: u32| {
        let value = 0xca01_f9dd_u32
            .wrapping_mul(x)
            .wrapping_sub(0x4973_f715_u32.wrapping_mul(y));
        value ^ (value >> SHIFT)
    };
    let mut pool = [worker_id, base_seed as u32, (base_seed >> 32) as u32, 0].map(&mut hash);
    for source in 0..4 {
        for target in 0..4 {
            if source != target {
                pool[target] = mix(pool[target], hash(pool[source]));
            }
        }
    }
    let mut constant: u32 = 0x8b51_f9dd;
    pool.map(|value| {
        let value = value ^ constant;
        constant = constant.wrapping_mul(0x58f3_8ded);
        let value = value.wrapping_mul(constant);
        value ^ (value >> SHIFT)
    })
}

/// NumPy's legacy `numpy.random.RandomState`, which `numpy.random.rand` and similar functions use.
#[derive(Clone, Debug)]
pub struct NumpyRandom {
    stream: Mt19937,
}

impl NumpyRandom {
    /// `numpy.random.seed([..])` with a list of words, as PyTorch calls it in workers.
    pub fn new(words: &[u32]) -> Self {
        Self {
            stream: Mt19937::by_array(words),
        }
    }

    /// `numpy.random.randint(low, high)` and `randint(low, high, dtype=numpy.int64)`: a number in `low..high`.
    ///
    /// # Errors
    /// ValueError if the range is empty.
    pub fn randint(&mut self, low: i64, high: i64) -> Result<i64, LoaderError> {
        if low >= high {
            return Err(LoaderError::value_error("low >= high"));
        }
        let most = high.wrapping_sub(low).wrapping_sub(1) as u64;
        Ok(low.wrapping_add(self.up_to(most) as i64))
    }

    /// Returns a number in `0..=most`. It draws as many bits as `most` has until the number is small enough. Each attempt takes one word
    /// if `most` fits into 32 bits, otherwise two. Nothing is drawn for 0.
    fn up_to(&mut self, most: u64) -> u64 {
        if most == 0 {
            return 0;
        }
        let mask = u64::MAX >> most.leading_zeros();
        loop {
            let word = if most <= u64::from(u32::MAX) {
                u64::from(self.stream.next_u32())
            } else {
                self.stream.next_u64()
            };
            if word & mask <= most {
                return word & mask;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Expected values are from NumPy 2.4.
    #[test]
    fn numbers_match_numpy() {
        let numbers = |words: &[u32]| {
            let mut r = NumpyRandom::new(words);
            let begin = (
                r.stream.real(),
                r.randint(-5, 10).unwrap(),
                r.randint(0, 1 << 40).unwrap(),
            );
            let u64s = [(0, u64::MAX >> 32), (0, u64::MAX), (3, (u64::MAX >> 1) - 3)];
            let u64s = u64s.map(|(low, most)| low + r.up_to(most));
            let u32s = [(0, u64::MAX >> 32), (10, 989)].map(|(low, most)| low + r.up_to(most));
            let i64s = [(i64::MIN, i64::MAX), (4, 5), (0, 1000)];
            let i64s = i64s.map(|(low, high)| r.randint(low, high).unwrap());
            (begin, u64s, u32s, i64s)
        };
        let four = (
            (0.6788657548888402, 5, 571437788660),
            [1604204313, 15879207804970529154, 7052781608484281612],
            [498842411, 591],
            [8565186329072356255, 4, 899],
        );
        assert_eq!(numbers(&[1, 2, 3, 4]), four);
        let zero = (
            (0.8444218515250481, 7, 560152089685),
            [173879092, 4776171012174165242, 207981843480691176],
            [1739178872, 957],
            [5235159937288584544, 4, 777],
        );
        assert_eq!(numbers(&[0]), zero);
    }

    proptest! {
        #[test]
        fn numbers_are_in_range(words in prop::collection::vec(any::<u32>(), 1..6), low: i64, high: i64) {
            let mut r = NumpyRandom::new(&words);
            match r.randint(low, high) {
                Ok(number) => prop_assert!((low..high).contains(&number)),
                Err(error) => {
                    prop_assert!(low >= high);
                    prop_assert_eq!(error.to_string(), "ValueError: low >= high");
                }
            }
        }
    }
}
