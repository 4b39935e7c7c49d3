//! `collate_fn`: how samples become a batch.

use loadscope_words::say;
use tch::Tensor;

use crate::batch::Batch;
use crate::collate::{CollateSite, default_collate, default_convert};
use crate::error::LoaderError;
use crate::value::Value;

/// PyTorch's `collate_fn`.
pub trait Collate<S>: Send + Sync + 'static {
    /// What it makes.
    type Batch: Batch;

    /// Puts `samples` together.
    ///
    /// # Errors
    /// If they do not fit together.
    fn collate(&self, samples: Vec<S>, site: CollateSite) -> Result<Self::Batch, LoaderError>;

    /// For a function that stacks samples if they are tensors of one dtype and shape, and does nothing else to them: what makes the
    /// batch of that stack. Then it can be copied together without samples. `None`: the samples are needed.
    fn stacking(&self) -> Option<Stacking<Self::Batch>> {
        None
    }

    /// The places, increasing, of those samples that [`collate`](Self::collate) will leave out of the batch.
    fn left_out(&self, samples: &[S]) -> Vec<u32> {
        let _ = samples;
        Vec::new()
    }

    /// What becomes of a single sample of a loader without batches (`batch_size=None`).
    ///
    /// # Errors
    /// TypeError if this function only knows lists of samples; [`Convert`] makes one that takes samples.
    fn convert(&self, sample: S, site: CollateSite) -> Result<Self::Batch, LoaderError> {
        let _ = (sample, site);
        Err(LoaderError::type_error(say!(
            "this collate_fn takes a list of samples, but with batch_size=None it receives single samples. Set a batch_size, or use a collate_fn for single samples."
        )))
    }
}

/// What makes a batch of the tensor that stacking its samples gives.
pub type Stacking<B> = fn(Tensor) -> B;

/// PyTorch's `default_collate`; `default_convert` in a loader without batches.
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
