//! Where samplers take their randomness from, and how much.

use crate::rng::{SharedGenerator, default_generator, lock_generator, shared_generator};

/// Where a sampler takes its randomness from.
#[derive(Clone, Debug)]
pub enum RandomSource {
    /// `generator=g`: every draw comes straight from `g`.
    Generator(SharedGenerator),
    /// `generator=None`: from this default generator. A [`RandomSampler`](super::RandomSampler) draws one int64 an epoch
    /// from it and seeds a private generator with that; other samplers draw straight from it.
    Default(SharedGenerator),
}

impl Default for RandomSource {
    /// `generator=None` with the default generator of the process.
    fn default() -> Self {
        Self::Default(default_generator())
    }
}

impl RandomSource {
    /// The generator of a new epoch of a `RandomSampler`. Draws from the default generator, so it must be called at the
    /// first pull.
    pub(super) fn private(&self) -> SharedGenerator {
        match self {
            Self::Generator(generator) => generator.clone(),
            Self::Default(default) => {
                let seed = lock_generator(default).random_i64();
                shared_generator(seed as u64)
            }
        }
    }

    /// The generator of samplers that have no private one.
    pub(super) fn direct(&self) -> &SharedGenerator {
        match self {
            Self::Generator(generator) | Self::Default(generator) => generator,
        }
    }

    /// The generator that is drawn from, whichever it is.
    pub(super) fn generators(&self) -> Vec<SharedGenerator> {
        vec![self.direct().clone()]
    }

    /// `words` drawn straight from this source.
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

/// How many 32-bit words an epoch draws that is run to its end, that is until it was asked for one index too many. What is
/// drawn from private generators does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Draws {
    /// Words from the generator that the sampler was given (`generator=g`).
    pub generator: u64,
    /// Words from the default generator (`generator=None`).
    pub default: u64,
}

impl Draws {
    /// Nothing at all.
    pub const NONE: Self = Self {
        generator: 0,
        default: 0,
    };
}
