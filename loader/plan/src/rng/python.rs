//! Python's `random`.

use super::mt19937::Mt19937;

/// Python's `random.Random`.
#[derive(Clone, Debug)]
pub struct PythonRandom {
    stream: Mt19937,
}

impl PythonRandom {
    /// `random.seed(seed)` with an int. The sign has no effect.
    pub fn new(seed: impl Into<i128>) -> Self {
        let mut size = seed.into().unsigned_abs();
        let mut key = vec![size as u32];
        while size > u128::from(u32::MAX) {
            size >>= 32;
            key.push(size as u32);
        }
        Self {
            stream: Mt19937::by_array(&key),
        }
    }

    /// `random.random()`: a number in 0..1 with 53 bits.
    pub fn random(&mut self) -> f64 {
        self.stream.real()
    }

    /// `random.getrandbits(k)`: `k` random bits. If `k` exceeds 64, all bits are drawn and the low 64 returned.
    pub fn getrandbits(&mut self, k: u32) -> u64 {
        let mut bits = 0;
        for shift in (0..k).step_by(32) {
            // The lowest word comes first. The last word contributes its high bits.
            let word = self.stream.next_u32() >> (32 - (k - shift).min(32));
            bits |= u64::from(word).checked_shl(shift).unwrap_or(0);
        }
        bits
    }

    /// Python's `_randbelow(n)`, the basis of `randrange`, `choice` and `shuffle`: a number in `0..n`. It is 0 if `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        let bits = u64::BITS - n.leading_zeros();
        loop {
            let number = self.getrandbits(bits);
            if number < n || n == 0 {
                return number;
            }
        }
    }

    /// `random.shuffle(items)`.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = self.below(i as u64 + 1) as usize;
            items.swap(i, j);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Expected values are from Python 3.11.
    #[test]
    fn numbers_match_python() {
        let numbers = |seed: i128| {
            let mut r = PythonRandom::new(seed);
            let mut list = [0, 1, 2, 3, 4, 5, 6, 7];
            let begin = (
                r.random(),
                r.getrandbits(7),
                r.getrandbits(33),
                r.getrandbits(64),
            );
            let ranges = (r.below(13) as i64 - 3, r.below(1 << 40));
            r.shuffle(&mut list);
            (begin, ranges, list, r.getrandbits(100), r.getrandbits(32))
        };
        let five = (
            (0.6229016948897019, 94, 5834865596, 17385139117288923102),
            (8, 62406045989),
            [2, 3, 4, 5, 0, 1, 6, 7],
            16019991071338850466,
            2335435112,
        );
        assert_eq!(numbers(5), five);
        assert_eq!(numbers(-5), five);
        let zero = (
            (0.8444218515250481, 97, 3823568514, 4776171008201404212),
            (5, 891145273829),
            [6, 0, 5, 1, 7, 2, 3, 4],
            2577854692418029171,
            2655874620,
        );
        assert_eq!(numbers(0), zero);
        let beyond = (
            (0.9625990769630326, 41, 4502143968, 12399281091811327640),
            (5, 1075688035110),
            [4, 1, 0, 7, 6, 3, 2, 5],
            10042248123865632253,
            286838445,
        );
        assert_eq!(numbers((1 << 64) + 7), beyond);
    }

    proptest! {
        #[test]
        fn numbers_are_in_range(seed: i64, stop in 1u64.., k in 0u32..200) {
            let mut stream = PythonRandom::new(seed);
            prop_assert!((0.0..1.0).contains(&stream.random()));
            prop_assert!(k >= 64 || stream.getrandbits(k) >> k == 0);
            prop_assert!(stream.below(stop) < stop);
            prop_assert_eq!(stream.below(0), 0);
        }

        #[test]
        fn the_sign_of_a_seed_is_ignored(seed in 0i64..i64::MAX) {
            let (mut a, mut b) = (PythonRandom::new(seed), PythonRandom::new(-seed));
            prop_assert_eq!(a.getrandbits(64), b.getrandbits(64));
        }
    }
}
