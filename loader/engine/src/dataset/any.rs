//! A dataset of either style.

use std::sync::Arc;

use super::{Dataset, IterableDataset};
use crate::value::Value;

/// A dataset of either style. PyTorch checks the style at run time.
pub enum AnyDataset<S = Value> {
    /// Map-style: samples by index.
    Map(Arc<dyn Dataset<Sample = S>>),
    /// Iterable-style: a stream of samples.
    Iterable(Arc<dyn IterableDataset<Sample = S>>),
}

impl<S: Send + 'static> AnyDataset<S> {
    /// Wraps a map-style dataset of any type.
    pub fn map(dataset: impl Dataset<Sample = S>) -> Self {
        Self::Map(Arc::new(dataset))
    }

    /// Wraps an iterable-style dataset of any type.
    pub fn iterable(dataset: impl IterableDataset<Sample = S>) -> Self {
        Self::Iterable(Arc::new(dataset))
    }

    /// Returns `len(dataset)` in samples, or `None` if it has no length.
    pub fn len(&self) -> Option<usize> {
        match self {
            Self::Map(dataset) => Some(dataset.len()),
            Self::Iterable(dataset) => dataset.len(),
        }
    }

    /// Returns true if the dataset reports a length of 0.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// Returns the class names, or an empty slice.
    pub fn classes(&self) -> &[String] {
        match self {
            Self::Map(dataset) => dataset.classes(),
            Self::Iterable(dataset) => dataset.classes(),
        }
    }

    /// Returns the class of each sample, or `None` if that requires loading samples.
    pub fn labels(&self) -> Option<Vec<u32>> {
        match self {
            Self::Map(dataset) => dataset.labels(),
            Self::Iterable(_) => None,
        }
    }

    /// Returns notes for the user who chose the dataset, one or more sentences each.
    pub fn notes(&self) -> &[String] {
        match self {
            Self::Map(dataset) => dataset.notes(),
            Self::Iterable(dataset) => dataset.notes(),
        }
    }
}

impl<S> Clone for AnyDataset<S> {
    fn clone(&self) -> Self {
        match self {
            Self::Map(dataset) => Self::Map(Arc::clone(dataset)),
            Self::Iterable(dataset) => Self::Iterable(Arc::clone(dataset)),
        }
    }
}

impl<S> From<Arc<dyn Dataset<Sample = S>>> for AnyDataset<S> {
    fn from(dataset: Arc<dyn Dataset<Sample = S>>) -> Self {
        Self::Map(dataset)
    }
}

impl<S> From<Arc<dyn IterableDataset<Sample = S>>> for AnyDataset<S> {
    fn from(dataset: Arc<dyn IterableDataset<Sample = S>>) -> Self {
        Self::Iterable(dataset)
    }
}
