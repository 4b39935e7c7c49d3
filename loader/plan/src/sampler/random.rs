//! `torch.utils.data.RandomSampler`.

use super::arguments::{PyArg, boolean_argument, positive_int_argument};
use super::epoch::{BlockEpoch, Blocks};
use super::{DataLen, Draws, Epoch, IndexIter, RandomSource, Sampler};
use crate::error::{ExceptionKind, LoaderError};
use crate::rng::{Indices, RANDINT_WIDE, SharedGenerator, lock_generator, randperm_words};

/// Size of the blocks in which PyTorch draws indices with replacement.
const BLOCK: usize = 32;

/// Random indices, with or without replacement.
#[derive(Clone, Debug)]
pub struct RandomSampler {
    len: DataLen,
    replacement: bool,
    num_samples: Option<usize>,
    source: RandomSource,
}

impl RandomSampler {
    /// Creates a sampler that draws `num_samples` of the indices `0..len` per epoch (default: the length of the dataset).
    /// Without replacement, `num_samples` may exceed `len`. An epoch then consists of several permutations.
    ///
    /// # Errors
    /// ValueError if `num_samples` is not positive, and if it is omitted and the dataset is empty.
    pub fn new(
        len: impl Into<DataLen>,
        replacement: bool,
        num_samples: Option<i64>,
        source: RandomSource,
    ) -> Result<Self, LoaderError> {
        let num_samples = num_samples.into();
        Self::from_args(len, &PyArg::Bool(replacement), &num_samples, source)
    }

    /// Creates a sampler from arguments of any Python type.
    ///
    /// # Errors
    /// TypeError if `replacement` is not a bool. Then ValueError if `num_samples` is neither a positive int (including
    /// `True`) nor None with a non-empty dataset.
    pub fn from_args(
        len: impl Into<DataLen>,
        replacement: &PyArg,
        num_samples: &PyArg,
        source: RandomSource,
    ) -> Result<Self, LoaderError> {
        let len = len.into();
        let kind = ExceptionKind::TYPE_ERROR;
        let replacement = boolean_argument("replacement", replacement, kind)?;
        let check = |value: &PyArg| positive_int_argument("num_samples", value, true);
        let num_samples = match num_samples {
            // The length is checked but not stored. It is evaluated again in every epoch.
            PyArg::None => {
                check(&len.get().into())?;
                None
            }
            count => Some(check(count)?),
        };
        Ok(Self {
            len,
            replacement,
            num_samples,
            source,
        })
    }

    fn num_samples(&self) -> usize {
        self.num_samples.unwrap_or_else(|| self.len.get())
    }

    fn start(&self) -> BlockEpoch<Random> {
        BlockEpoch::new(Random {
            sampler: self.clone(),
            running: None,
        })
    }
}

impl Sampler for RandomSampler {
    fn len(&self) -> usize {
        self.num_samples()
    }

    fn generators(&self) -> Vec<SharedGenerator> {
        self.source.generators()
    }

    fn iter(&self) -> IndexIter {
        Box::new(self.start())
    }

    fn epoch(&self) -> Box<dyn Epoch> {
        Box::new(self.start())
    }

    fn draws(&self) -> Option<Draws> {
        if let RandomSource::Default(_) = self.source {
            // The seed of the private generator takes two words.
            return Some(self.source.draws(2));
        }
        let (n, num_samples) = (self.len.get(), self.num_samples());
        let words = match (n, self.replacement) {
            (0, _) => 0,
            (_, true) if (n as u64) < RANDINT_WIDE => num_samples as u64,
            (_, true) => (num_samples as u64).saturating_mul(2),
            (_, false) => {
                let permutations = (num_samples / n) as u64 + 1;
                randperm_words(n).saturating_mul(permutations)
            }
        };
        Some(self.source.draws(words))
    }
}

/// One epoch. Like PyTorch's generator function, it draws in the order of its consumer's pulls.
struct Random {
    sampler: RandomSampler,
    /// `None` before the first pull.
    running: Option<Running>,
}

struct Running {
    n: usize,
    generator: SharedGenerator,
    /// Remaining complete blocks (with replacement) or permutations (without).
    full: usize,
    /// Length of the last, truncated block. It is drawn even if the length is 0. `None`: already drawn.
    tail: Option<usize>,
}

impl Running {
    fn start(sampler: &RandomSampler) -> Result<Self, LoaderError> {
        let n = sampler.len.get();
        let generator = sampler.source.private();
        let num_samples = sampler.num_samples();
        let block = if sampler.replacement { BLOCK } else { n };
        if block == 0 {
            return Err(LoaderError::python(
                ExceptionKind::ZERO_DIVISION_ERROR,
                "integer division or modulo by zero",
            ));
        }
        Ok(Self {
            n,
            generator,
            full: num_samples / block,
            tail: Some(num_samples % block),
        })
    }
}

impl Blocks for Random {
    fn next_block(&mut self, block: &mut Indices) -> Result<bool, LoaderError> {
        let running = match &mut self.running {
            Some(running) => running,
            slot => slot.insert(Running::start(&self.sampler)?),
        };
        let (n, replacement) = (running.n, self.sampler.replacement);
        let take = if running.full > 0 {
            running.full -= 1;
            if replacement { BLOCK } else { n }
        } else {
            match running.tail.take() {
                Some(tail) => tail,
                None => return Ok(false),
            }
        };
        let mut generator = lock_generator(&running.generator);
        if replacement {
            generator.randint_indices(n, take, block)?;
        } else {
            // The old numbers are freed first, since a second permutation of a long dataset would double the memory.
            *block = Indices::default();
            *block = generator.randperm_head(n, take)?;
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::shared_generator;
    use proptest::prelude::*;

    fn sampler(n: usize, replacement: bool, k: Option<i64>, g: &SharedGenerator) -> RandomSampler {
        RandomSampler::new(n, replacement, k, RandomSource::Generator(g.clone())).unwrap()
    }

    #[test]
    fn constructor_errors_match_pytorch() {
        let g = shared_generator(0);
        let make = |n: usize, k| RandomSampler::new(n, false, k, RandomSource::Default(g.clone()));
        for (n, k, shown) in [(10, Some(0), "0"), (10, Some(-1), "-1"), (0, None, "0")] {
            assert_eq!(
                make(n, k).unwrap_err().to_string(),
                format!(
                    "ValueError: num_samples should be a positive integer value, but got num_samples={shown}"
                )
            );
        }
        let errors: Vec<_> = make(0, Some(3)).unwrap().iter().collect();
        assert_eq!(errors.len(), 1);
        assert_eq!(
            errors[0].as_ref().unwrap_err().to_string(),
            "ZeroDivisionError: integer division or modulo by zero"
        );
        let with = RandomSampler::new(0, true, Some(3), RandomSource::Default(g.clone())).unwrap();
        assert_eq!(
            with.iter().next().unwrap().unwrap_err().to_string(),
            "RuntimeError: random_ expects 'from' to be less than 'to', but got from=0 >= to=0"
        );
    }

    #[test]
    fn the_first_number_is_drawn_at_the_first_pull() {
        let g = shared_generator(1);
        let sampler = sampler(10, false, None, &g);
        let mut epoch = sampler.iter();
        assert_eq!(lock_generator(&g).draws(), 0);
        for _ in 0..10 {
            epoch.next();
        }
        assert_eq!(lock_generator(&g).draws(), 9);
        assert!(epoch.next().is_none());
        assert_eq!(
            lock_generator(&g).draws(),
            18,
            "the tail permutation is drawn"
        );
        assert!(epoch.next().is_none());
        assert_eq!(lock_generator(&g).draws(), 18);
    }

    proptest! {
        #[test]
        fn items_have_the_requested_count_and_range(seed: u64, n in 1usize..80, k in 1i64..200, replacement: bool) {
            let g = shared_generator(seed);
            let sampler = sampler(n, replacement, Some(k), &g);
            let items: Vec<usize> = sampler.iter().map(Result::unwrap).collect();
            prop_assert_eq!(items.len(), k as usize);
            prop_assert_eq!(sampler.len(), k as usize);
            prop_assert!(items.as_slice().iter().all(|&i| i < n));
            if !replacement {
                for chunk in items.chunks(n) {
                    let mut seen = chunk.to_vec();
                    seen.sort_unstable();
                    seen.dedup();
                    prop_assert_eq!(seen.len(), chunk.len());
                }
            }
        }
    }
}
