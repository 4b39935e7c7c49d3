//! `collate_fn`: the function that makes a batch of samples.

use loadscope_words::say;
use tch::Tensor;

use crate::batch::Batch;
use crate::collate::{CollateSite, default_collate, default_convert};
use crate::error::LoaderError;
use crate::value::Value;

/// PyTorch's `collate_fn`.
pub trait Collate<S>: Send + Sync + 'static {
    /// Batch type.
    type Batch: Batch;

    /// Collates `samples`.
    ///
    /// # Errors
    /// If the samples cannot be collated.
    fn collate(&self, samples: Vec<S>, site: CollateSite) -> Result<Self::Batch, LoaderError>;

    /// Returns the conversion of a stacked tensor to a batch. Returns `None` if the function needs the samples.
    ///
    /// Only a function that stacks tensors of one dtype and shape, and does nothing else, returns a conversion. The fetcher then copies
    /// directly into the stack, without individual samples.
    fn stacking(&self) -> Option<Stacking<Self::Batch>> {
        None
    }

    /// Returns the positions, increasing, of samples that [`collate`](Self::collate) will drop from the batch.
    fn left_out(&self, samples: &[S]) -> Vec<u32> {
        let _ = samples;
        Vec::new()
    }

    /// Converts a single sample in a loader without batches (`batch_size=None`).
    ///
    /// # Errors
    /// TypeError if this function takes only lists of samples. [`Convert`] wraps a function of single samples.
    fn convert(&self, sample: S, site: CollateSite) -> Result<Self::Batch, LoaderError> {
        let _ = (sample, site);
        Err(LoaderError::type_error(say!(
            "this collate_fn takes a list of samples, but with batch_size=None it receives single samples. Set a batch_size, or use a collate_fn for single samples."
        )))
    }
}

/// Conversion of a stacked tensor to a batch.
pub type Stacking<B> = fn(Tensor) -> B;

/// PyTorch's `default_collate`, or `default_convert` in a loader without batches.
#[derive(Clone, Copy, Debug, Default)]
pub struct DefaultCollate;

impl Collate<Value> for DefaultCollate {
    type Batch = Value;

    fn collate(&self, samples: Vec<Value>, site: CollateSite) -> Result<Value, LoaderError> {
        default_collate(samples, site)
    }

    fn stacking(&self) -> Option<Stacking<Value>> {
        Some(Value::Tensor)
    }

    fn convert(&self, sample: Value, _site: CollateSite) -> Result<Value, LoaderError> {
        default_convert(sample)
    }
}

/// Any function of a list of samples is a collate function.
impl<S, B, F> Collate<S> for F
where
    B: Batch,
    F: Fn(Vec<S>) -> Result<B, LoaderError> + Send + Sync + 'static,
{
    type Batch = B;

    fn collate(&self, samples: Vec<S>, _site: CollateSite) -> Result<B, LoaderError> {
        self(samples)
    }
}

/// A collate function of single samples, for loaders without batches (`batch_size=None`).
#[derive(Clone, Copy, Debug)]
pub struct Convert<F>(pub F);

impl<S, B, F> Collate<S> for Convert<F>
where
    B: Batch,
    F: Fn(S) -> Result<B, LoaderError> + Send + Sync + 'static,
{
    type Batch = B;

    fn collate(&self, _samples: Vec<S>, _site: CollateSite) -> Result<B, LoaderError> {
        Err(LoaderError::type_error(say!(
            "this collate_fn takes single samples, but it receives a list. Set batch_size=None, or use a collate_fn for lists."
        )))
    }

    fn convert(&self, sample: S, _site: CollateSite) -> Result<B, LoaderError> {
        self.0(sample)
    }
}
