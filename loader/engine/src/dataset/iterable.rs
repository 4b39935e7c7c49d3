//! Iterable-style datasets: samples come as a stream, and there is no access by index.

use std::sync::Arc;

use super::{SampleClock, SampleError};

/// PyTorch's `IterableDataset`.
///
/// Every worker iterates the whole dataset, as in PyTorch: one that is to be shared among workers looks at
/// [`get_worker_info`](crate::get_worker_info) in [`iter`](Self::iter) and takes its part.
pub trait IterableDataset: Send + Sync + 'static {
    /// What the stream yields.
    type Sample: Send + 'static;

    /// `iter(dataset)`, called in the thread that will pull the samples, anew for every epoch.
    ///
    /// # Errors
    /// Whatever the dataset meets when it opens its source.
    fn iter(&self) -> Result<Box<dyn SampleStream<Self::Sample>>, SampleError>;

    /// `len(dataset)`, samples; `None` = the dataset has no `__len__`. Only reported to people: a stream may be shorter
    /// or longer.
    fn len(&self) -> Option<usize> {
        None
    }

    /// True if the dataset says that it has no samples.
    fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// Names for labels (class names), if the dataset has them.
    fn classes(&self) -> &[String] {
        &[]
    }

    /// What the person who chose the dataset should know. Sentences.
    fn notes(&self) -> &[String] {
        &[]
    }

    /// The name of the type, for messages. PyTorch prints the object's `repr`.
    fn type_name(&self) -> &str {
        "IterableDataset"
    }
}

/// What is shared is a dataset, too.
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

/// What `iter(dataset)` returns: a Python iterator.
pub trait SampleStream<S>: Send {
    /// `next(iterator)`; `None` = `StopIteration`. After an error the stream is finished, as a Python generator is.
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
