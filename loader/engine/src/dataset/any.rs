//! A dataset of either style.

use std::sync::Arc;

use super::{Dataset, IterableDataset};
use crate::value::Value;

/// A dataset of either style, for where PyTorch looks at run time which one it got.
pub enum AnyDataset<S = Value> {
    /// Samples by index.
    Map(Arc<dyn Dataset<Sample = S>>),
    /// Samples in a stream.
    Iterable(Arc<dyn IterableDataset<Sample = S>>),
}

impl<S: Send + 'static> AnyDataset<S> {
    /// A map-style dataset of any type.
    pub fn map(dataset: impl Dataset<Sample = S>) -> Self {
        Self::Map(Arc::new(dataset))
    }

    /// An iterable-style dataset of any type.
    pub fn iterable(dataset: impl IterableDataset<Sample = S>) -> Self {
        Self::Iterable(Arc::new(dataset))
    }

    /// `len(dataset)`, samples; `None` = it has no length.
    pub fn len(&self) -> Option<usize> {
        match self {
            Self::Map(dataset) => Some(dataset.len()),
            Self::Iterable(dataset) => dataset.len(),
        }
    }

    /// True if the dataset says that it has no samples.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// Names for labels, if the dataset has them.
    pub fn classes(&self) -> &[String] {
        match self {
            Self::Map(dataset) => dataset.classes(),
            Self::Iterable(dataset) => dataset.classes(),
        }
    }

    /// The class of each sample, where it is known without loading one.
    pub fn labels(&self) -> Option<Vec<u32>> {
        match self {
            Self::Map(dataset) => dataset.labels(),
            Self::Iterable(_) => None,
        }
    }

    /// What the person who chose the dataset should know. Sentences.
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
