//! `torch.utils.data.WeightedRandomSampler`.

use std::sync::Arc;

use super::arguments::{PyArg, boolean_argument, positive_int_argument, weights_argument};
use super::epoch::{BlockEpoch, Blocks, drawn_at_once};
use super::{Draws, Epoch, IndexIter, RandomSource, Sampler};
use crate::error::{EngineError, ExceptionKind};
use crate::rng::{lock_generator, multinomial_words};

/// Indices drawn with a probability in proportion to their weight, with or without replacement.
///
/// An epoch is one [`multinomial`](crate::rng::Generator::multinomial) straight from the generator, the default one
/// included. There may be more than 2^24 weights, which PyTorch refuses.
#[derive(Clone, Debug)]
pub struct WeightedRandomSampler {
    weights: Arc<[f64]>,
    num_samples: usize,
    replacement: bool,
    source: RandomSource,
}

impl WeightedRandomSampler {
    /// Draws `num_samples` of the indices `0..weights.len()` an epoch. The weights need not sum to 1; whether they can be
    /// drawn from turns out at the first pull, as in PyTorch.
    ///
    /// # Errors
    /// ValueError if `num_samples` is not positive.
    pub fn new(
        weights: impl Into<Arc<[f64]>>,
        num_samples: i64,
        replacement: bool,
        source: RandomSource,
    ) -> Result<Self, EngineError> {
        let num_samples = num_samples_argument(&num_samples.into())?;
        Ok(Self {
            weights: weights.into(),
            num_samples,
            replacement,
            source,
        })
    }

    /// The same with arguments of any Python type.
    ///
    /// # Errors
    /// ValueError if `num_samples` is not a positive int, if `replacement` is not a bool or if `weights` is not a list of
    /// numbers, in this order; TypeError if it holds something else than numbers.
    pub fn from_args(
        weights: &PyArg,
        num_samples: &PyArg,
        replacement: &PyArg,
        source: RandomSource,
    ) -> Result<Self, EngineError> {
        let num_samples = num_samples_argument(num_samples)?;
        let kind = ExceptionKind::VALUE_ERROR;
        let replacement = boolean_argument("replacement", replacement, kind)?;
        let weights = weights_argument(weights)?.into();
        Ok(Self {
            weights,
            num_samples,
            replacement,
            source,
        })
    }

    /// The weights.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Whether an index may come twice in an epoch.
    pub fn replacement(&self) -> bool {
        self.replacement
    }

    fn start(&self) -> BlockEpoch<impl Blocks + use<>> {
        let of = self.clone();
        drawn_at_once(move || {
            lock_generator(of.source.direct()).multinomial(
                &of.weights,
                of.num_samples,
                of.replacement,
            )
        })
    }
}

pub(super) fn num_samples_argument(num_samples: &PyArg) -> Result<usize, EngineError> {
    positive_int_argument("num_samples", num_samples, false)
}

impl Sampler for WeightedRandomSampler {
    fn len(&self) -> usize {
        self.num_samples
    }

    fn iter(&self) -> IndexIter {
        Box::new(self.start())
    }

    fn epoch(&self) -> Box<dyn Epoch> {
        Box::new(self.start())
    }

    fn draws(&self) -> Option<Draws> {
        let words = multinomial_words(&self.weights, self.num_samples, self.replacement);
        Some(self.source.draws(words))
    }
}
