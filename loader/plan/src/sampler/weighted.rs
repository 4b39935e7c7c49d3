//! `torch.utils.data.WeightedRandomSampler`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::arguments::{PyArg, boolean_argument, positive_int_argument};
use super::epoch::{BlockEpoch, Blocks, single_block_epoch};
use super::{Draws, Epoch, IndexIter, RandomSource, Sampler};
use crate::error::{ExceptionKind, LoaderError};
use crate::rng::{SharedGenerator, lock_generator, multinomial_words};

/// Indices drawn with probabilities proportional to their weights, with or without replacement.
///
/// An epoch is one [`multinomial`](crate::rng::Generator::multinomial) directly from the generator, including the default
/// one. More than 2^24 weights are allowed, unlike in PyTorch.
#[derive(Clone, Debug)]
pub struct WeightedRandomSampler {
    weights: Arc<[f64]>,
    num_samples: usize,
    replacement: bool,
    source: RandomSource,
}

impl WeightedRandomSampler {
    /// Creates a sampler that draws `num_samples` of the indices `0..weights.len()` per epoch. The weights need not sum to 1.
    /// As in PyTorch, invalid weights cause an error at the first pull.
    ///
    /// # Errors
    /// ValueError if `num_samples` is not positive.
    pub fn new(
        weights: impl Into<Arc<[f64]>>,
        num_samples: i64,
        replacement: bool,
        source: RandomSource,
    ) -> Result<Self, LoaderError> {
        let num_samples = num_samples_argument(&num_samples.into())?;
        Ok(Self {
            weights: weights.into(),
            num_samples,
            replacement,
            source,
        })
    }

    /// Creates a sampler from arguments of any Python type.
    ///
    /// # Errors
    /// ValueError if `num_samples` is not a positive int, `replacement` is not a bool, or `weights` is not a list of numbers, checked in
    /// this order. TypeError if the list contains anything but numbers.
    pub fn from_args(
        weights: &PyArg,
        num_samples: &PyArg,
        replacement: &PyArg,
        source: RandomSource,
    ) -> Result<Self, LoaderError> {
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

    /// Returns the weights.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Returns true if an index may occur more than once in an epoch.
    pub fn replacement(&self) -> bool {
        self.replacement
    }

    fn start(&self) -> BlockEpoch<impl Blocks + use<>> {
        let of = self.clone();
        single_block_epoch(move || {
            lock_generator(of.source.direct()).multinomial(
                &of.weights,
                of.num_samples,
                of.replacement,
            )
        })
    }
}

/// Returns weights that draw all classes equally often: 1 divided by the number of samples of the class.
pub fn balanced_weights(labels: &[u32]) -> Vec<f64> {
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for label in labels {
        *counts.entry(*label).or_default() += 1;
    }
    let weight = |label| 1.0 / counts.get(label).copied().unwrap_or(1) as f64;
    labels.iter().map(weight).collect()
}

pub(super) fn num_samples_argument(num_samples: &PyArg) -> Result<usize, LoaderError> {
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

    fn generators(&self) -> Vec<SharedGenerator> {
        self.source.generators()
    }

    fn draws(&self) -> Option<Draws> {
        let words = multinomial_words(&self.weights, self.num_samples, self.replacement);
        Some(self.source.draws(words))
    }
}

/// Converts a list of weights like `torch.as_tensor(weights, dtype=torch.double)`.
///
/// # Errors
/// ValueError if it does not have exactly one dimension, or is ragged. TypeError (ValueError for a list of texts) if it
/// contains anything but numbers.
fn weights_argument(weights: &PyArg) -> Result<Vec<f64>, LoaderError> {
    let shape = shape_of(weights)?;
    let mut numbers = Vec::new();
    flatten(weights, &shape, 0, &mut numbers)?;
    if shape.len() == 1 {
        return Ok(numbers);
    }
    let shown: Vec<String> = shape.into_iter().map(|n| n.to_string()).collect();
    Err(LoaderError::value_error(format!(
        "weights should be a 1d sequence but given weights have shape ({})",
        shown.join(", ")
    )))
}

/// Returns the shape according to the first elements, like PyTorch.
fn shape_of(weights: &PyArg) -> Result<Vec<usize>, LoaderError> {
    let mut shape = Vec::new();
    let mut value = Some(weights);
    while let Some(PyArg::List(items)) = value {
        shape.push(items.len());
        value = items.first();
    }
    // In Python a text is a sequence of texts.
    match (value, shape.is_empty()) {
        (Some(PyArg::Str(_)), true) => {
            Err(LoaderError::type_error("new(): invalid data type 'str'"))
        }
        (Some(PyArg::Str(_)), false) => Err(LoaderError::value_error("too many dimensions 'str'")),
        _ => Ok(shape),
    }
}

fn flatten(
    value: &PyArg,
    shape: &[usize],
    dim: usize,
    out: &mut Vec<f64>,
) -> Result<(), LoaderError> {
    match (value, shape.get(dim)) {
        (PyArg::List(items), Some(&len)) if items.len() == len => items
            .iter()
            .try_for_each(|item| flatten(item, shape, dim + 1, out)),
        (PyArg::List(items), Some(len)) => Err(LoaderError::value_error(format!(
            "expected sequence of length {len} at dim {dim} (got {})",
            items.len()
        ))),
        (PyArg::Int(value), None) => {
            out.push(*value as f64);
            Ok(())
        }
        (PyArg::Bool(value), None) => {
            out.push(f64::from(*value));
            Ok(())
        }
        (PyArg::Float(value), None) => {
            out.push(*value);
            Ok(())
        }
        (_, Some(_)) => Err(LoaderError::type_error("not a sequence")),
        (other, None) => Err(LoaderError::type_error(format!(
            "must be real number, not {}",
            other.type_name()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balanced_classes_are_drawn_equally_often() {
        let labels: Vec<u32> = (0..1000)
            .map(|i| if i % 100 == 0 { 7 } else { i % 2 })
            .collect();
        let weights = balanced_weights(&labels);
        let of = |class| {
            let pairs = weights.iter().zip(&labels);
            pairs
                .filter(|(_, label)| **label == class)
                .map(|(weight, _)| weight)
                .sum::<f64>()
        };
        for class in [0, 1, 7] {
            assert!((of(class) - 1.0).abs() < 1e-9);
        }
        let source = RandomSource::Generator(crate::rng::shared_generator(5));
        let sampler = WeightedRandomSampler::new(weights, 30_000, true, source).unwrap();
        let mut drawn = BTreeMap::new();
        for index in sampler.iter() {
            *drawn.entry(labels[index.unwrap()]).or_insert(0) += 1;
        }
        assert!(
            drawn.values().all(|count| (9_500..10_500).contains(count)),
            "{drawn:?}"
        );
    }

    #[test]
    fn weights_other_than_a_1d_sequence_are_refused() {
        let message = |value: PyArg| weights_argument(&value).unwrap_err().to_string();
        let shaped = |shape: &str| {
            format!(
                "ValueError: weights should be a 1d sequence but given weights have shape {shape}"
            )
        };
        assert_eq!(message(vec![vec![1.0, 2.0]].into()), shaped("(1, 2)"));
        assert_eq!(message(3.0.into()), shaped("()"));
        let ragged = PyArg::List(vec![vec![1].into(), 1.into()]);
        let mixed = PyArg::List(vec![1.into(), "x".into()]);
        for (weights, expected) in [
            ("x".into(), "TypeError: new(): invalid data type 'str'"),
            (vec!["x"].into(), "ValueError: too many dimensions 'str'"),
            (mixed, "TypeError: must be real number, not str"),
            (ragged, "TypeError: not a sequence"),
        ] {
            assert_eq!(message(weights), expected);
        }
        assert_eq!(
            message(vec![vec![1, 2], vec![3]].into()),
            "ValueError: expected sequence of length 2 at dim 1 (got 1)"
        );
        assert_eq!(weights_argument(&vec![1, 2].into()).unwrap(), [1.0, 2.0]);
        assert!(weights_argument(&PyArg::List(vec![])).unwrap().is_empty());
    }
}
