//! Generators of samplers, and the number of words that they draw.

use crate::rng::{SharedGenerator, default_generator, lock_generator, shared_generator};

/// Generator that a sampler draws from.
#[derive(Clone, Debug)]
pub enum RandomSource {
    /// `generator=g`: all draws are directly from `g`.
    Generator(SharedGenerator),
    /// `generator=None`: this default generator. A [`RandomSampler`](super::RandomSampler) draws one int64 per epoch
    /// from it as the seed of a private generator. Other samplers draw directly from it.
    Default(SharedGenerator),
}

impl Default for RandomSource {
    /// `generator=None` with the default generator of the process.
    fn default() -> Self {
        Self::Default(default_generator())
    }
}

impl RandomSource {
    /// Returns the generator of a new epoch of a `RandomSampler`. It draws from the default generator, so it must be called
    /// at the first pull.
    pub(super) fn private(&self) -> SharedGenerator {
        match self {
            Self::Generator(generator) => generator.clone(),
            Self::Default(default) => {
                let seed = lock_generator(default).random_i64();
                shared_generator(seed as u64)
            }
        }
    }

    /// Returns the generator of samplers without a private one.
    pub(super) fn direct(&self) -> &SharedGenerator {
        match self {
            Self::Generator(generator) | Self::Default(generator) => generator,
        }
    }

    /// Returns the generator of either variant.
    pub(super) fn generators(&self) -> Vec<SharedGenerator> {
        vec![self.direct().clone()]
    }

    /// Returns `words` as direct draws from this source.
    pub(super) fn draws(&self, words: u64) -> Draws {
        match self {
            Self::Generator(_) => Draws {
                generator: words,
                default: 0,
            },
            Self::Default(_) => Draws {
                generator: 0,
                default: words,
            },
        }
    }
}

/// Number of 32-bit words that an epoch draws until its end, including the request after the last index. Draws from
/// private generators are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Draws {
    /// Words from the sampler's own generator (`generator=g`).
    pub generator: u64,
    /// Words from the default generator (`generator=None`).
    pub default: u64,
}

impl Draws {
    /// No draws.
    pub const NONE: Self = Self {
        generator: 0,
        default: 0,
    };
}
