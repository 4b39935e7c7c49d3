//! `torch.utils.data.RandomSampler`.

use super::{DataLen, IndexIter, Sampler};
use crate::error::EngineError;
use crate::rng::{Generator, Permutation, SharedGenerator, lock_generator, shared_generator};

/// PyTorch draws indices with replacement in blocks of this many.
const BLOCK: usize = 32;

/// Where a sampler takes its randomness from.
#[derive(Clone, Debug)]
pub enum RandomSource {
    /// `generator=g`: every draw comes straight from `g`.
    Generator(SharedGenerator),
    /// `generator=None`: every epoch draws one int64 from this default generator and seeds a private one with it.
    Default(SharedGenerator),
}

impl RandomSource {
    /// The generator of a new epoch. Draws from the default generator, so it must be called at the first pull.
    fn start(&self) -> SharedGenerator {
        match self {
            Self::Generator(generator) => generator.clone(),
            Self::Default(default) => {
                let seed = lock_generator(default).random_i64();
                shared_generator(seed as u64)
            }
        }
    }
}

/// Random indices, with or without replacement.
#[derive(Clone, Debug)]
pub struct RandomSampler {
    len: DataLen,
    replacement: bool,
    num_samples: Option<usize>,
    source: RandomSource,
}

impl RandomSampler {
    /// Draws `num_samples` (default: as many as the data set has) of the indices `0..len` an epoch. Without
    /// replacement, `num_samples` may be more than `len`: then the epoch holds several permutations.
    ///
    /// # Errors
    /// ValueError if `num_samples` is not positive, and if it is left out and the data set is empty.
    pub fn new(
        len: impl Into<DataLen>,
        replacement: bool,
        num_samples: Option<i64>,
        source: RandomSource,
    ) -> Result<Self, EngineError> {
        let len = len.into();
        let refuse = |got: &dyn std::fmt::Display| {
            EngineError::value_error(format!(
                "num_samples should be a positive integer value, but got num_samples={got}"
            ))
        };
        let num_samples = match num_samples {
            None if len.get() == 0 => return Err(refuse(&0)),
            None => None,
            Some(count) => match usize::try_from(count) {
                Ok(count) if count > 0 => Some(count),
                _ => return Err(refuse(&count)),
            },
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
}

impl Sampler for RandomSampler {
    fn len(&self) -> usize {
        self.num_samples()
    }

    fn generators(&self) -> Vec<SharedGenerator> {
        let (RandomSource::Generator(g) | RandomSource::Default(g)) = &self.source;
        vec![g.clone()]
    }

    fn iter(&self) -> IndexIter {
        Box::new(Epoch {
            sampler: self.clone(),
            state: State::New,
        })
    }
}

/// One epoch: a transcript of PyTorch's generator function, which draws in the order its consumer pulls.
struct Epoch {
    sampler: RandomSampler,
    state: State,
}

enum State {
    New,
    Running(Running),
    Done,
}

struct Running {
    n: usize,
    generator: SharedGenerator,
    /// Blocks (with replacement) or permutations (without) still to be drawn in full.
    full: usize,
    /// Length of the last, truncated one, which is drawn even if this is 0; `None` once it was.
    tail: Option<usize>,
    drawn: Drawn,
    position: usize,
    end: usize,
}

enum Drawn {
    Nothing,
    Block(Vec<i64>),
    Permutation(Permutation),
}

impl Drawn {
    fn get(&self, position: usize) -> Option<usize> {
        match self {
            Self::Nothing => None,
            Self::Block(items) => items.get(position).map(|&i| i as usize),
            Self::Permutation(items) => items.get(position),
        }
    }
}

impl Running {
    fn start(sampler: &RandomSampler) -> Result<Self, EngineError> {
        let n = sampler.len.get();
        let generator = sampler.source.start();
        let num_samples = sampler.num_samples();
        let block = if sampler.replacement { BLOCK } else { n };
        if block == 0 {
            return Err(EngineError::python(
                crate::error::ExceptionKind::ZERO_DIVISION_ERROR,
                "integer division or modulo by zero",
            ));
        }
        Ok(Self {
            n,
            generator,
            full: num_samples / block,
            tail: Some(num_samples % block),
            drawn: Drawn::Nothing,
            position: 0,
            end: 0,
        })
    }

    fn pull(&mut self, replacement: bool) -> Result<Option<usize>, EngineError> {
        while self.position >= self.end {
            let full = if replacement { BLOCK } else { self.n };
            let take = if self.full > 0 {
                self.full -= 1;
                full
            } else {
                match self.tail.take() {
                    Some(tail) => tail,
                    None => return Ok(None),
                }
            };
            // Let go of the old numbers first: a second permutation of a long data set would double the memory.
            self.drawn = Drawn::Nothing;
            let mut generator = lock_generator(&self.generator);
            self.drawn = Self::draw(&mut generator, replacement, self.n, take)?;
            (self.position, self.end) = (0, take);
        }
        self.position += 1;
        Ok(self.drawn.get(self.position - 1))
    }

    fn draw(
        generator: &mut Generator,
        replacement: bool,
        n: usize,
        take: usize,
    ) -> Result<Drawn, EngineError> {
        if replacement {
            let high = i64::try_from(n).unwrap_or(i64::MAX);
            return Ok(Drawn::Block(generator.randint(0, high, take)?));
        }
        Ok(Drawn::Permutation(generator.randperm(n)?))
    }
}

impl Iterator for Epoch {
    type Item = Result<usize, EngineError>;

    fn next(&mut self) -> Option<Self::Item> {
        if matches!(self.state, State::New) {
            match Running::start(&self.sampler) {
                Ok(running) => self.state = State::Running(running),
                Err(error) => {
                    self.state = State::Done;
                    return Some(Err(error));
                }
            }
        }
        let State::Running(running) = &mut self.state else {
            return None;
        };
        let item = running.pull(self.sampler.replacement).transpose();
        if !matches!(item, Some(Ok(_))) {
            self.state = State::Done;
        }
        item
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sampler(n: usize, replacement: bool, k: Option<i64>, g: &SharedGenerator) -> RandomSampler {
        RandomSampler::new(n, replacement, k, RandomSource::Generator(g.clone())).unwrap()
    }

    #[test]
    fn constructor_checks_as_pytorch() {
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
    fn nothing_is_drawn_before_the_first_pull() {
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
        fn lengths_and_ranges(seed: u64, n in 1usize..80, k in 1i64..200, replacement: bool) {
            let g = shared_generator(seed);
            let sampler = sampler(n, replacement, Some(k), &g);
            let items: Vec<usize> = sampler.iter().map(Result::unwrap).collect();
            prop_assert_eq!(items.len(), k as usize);
            prop_assert_eq!(sampler.len(), k as usize);
            prop_assert!(items.iter().all(|&i| i < n));
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
