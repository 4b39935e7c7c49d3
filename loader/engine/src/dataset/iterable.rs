//! Iterable-style datasets: a stream of samples without access by index.

use std::sync::Arc;

use super::{SampleClock, SampleError};

/// PyTorch's `IterableDataset`.
///
/// As in PyTorch, every worker iterates over the whole dataset. A dataset that is split among workers calls
/// [`get_worker_info`](crate::get_worker_info) in [`iter`](Self::iter) and takes its share.
pub trait IterableDataset: Send + Sync + 'static {
    /// Type of the samples.
    type Sample: Send + 'static;

    /// Returns `iter(dataset)`. Called once per epoch, in the thread that pulls the samples.
    ///
    /// # Errors
    /// Any error of the dataset when it opens its source.
    fn iter(&self) -> Result<Box<dyn SampleStream<Self::Sample>>, SampleError>;

    /// Returns `len(dataset)` in samples, or `None` if the dataset has no `__len__`.
    ///
    /// The length is only displayed. A stream may yield fewer or more samples.
    fn len(&self) -> Option<usize> {
        None
    }

    /// Returns true if the dataset reports a length of 0.
    fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// Returns the class names, or an empty slice.
    fn classes(&self) -> &[String] {
        &[]
    }

    /// Returns notes for the user who chose the dataset, one or more sentences each.
    fn notes(&self) -> &[String] {
        &[]
    }

    /// Returns the type's name for messages. PyTorch prints the object's `repr`.
    fn type_name(&self) -> &str {
        "IterableDataset"
    }
}

/// A shared dataset is also a dataset.
impl<D: IterableDataset + ?Sized> IterableDataset for Arc<D> {
    type Sample = D::Sample;

    fn iter(&self) -> Result<Box<dyn SampleStream<D::Sample>>, SampleError> {
        (**self).iter()
    }

    fn len(&self) -> Option<usize> {
        (**self).len()
    }

    fn classes(&self) -> &[String] {
        (**self).classes()
    }

    fn notes(&self) -> &[String] {
        (**self).notes()
    }

    fn type_name(&self) -> &str {
        (**self).type_name()
    }
}

/// Python iterator that `iter(dataset)` returns.
pub trait SampleStream<S>: Send {
    /// Returns `next(iterator)`, or `None` for `StopIteration`. An error ends the stream, as in a Python generator.
    fn next(&mut self, clock: &mut SampleClock) -> Option<Result<S, SampleError>>;
}

/// Every Rust iterator over results is a stream.
impl<S, I> SampleStream<S> for I
where
    I: Iterator<Item = Result<S, SampleError>> + Send,
{
    fn next(&mut self, _clock: &mut SampleClock) -> Option<Result<S, SampleError>> {
        Iterator::next(self)
    }
}
