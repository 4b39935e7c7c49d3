//! What a loader yields.

use std::ops::{Deref, DerefMut};

use loadscope_trace::{BatchContent, BatchId, WorkerId};

use crate::content::{ContentLimits, describe};
use crate::error::LoaderError;
use crate::pin::{Lease, Pinner};
use crate::value::Value;

/// What a `collate_fn` makes. Implement it for your own batch types; PyTorch's counterpart is an object with a `pin_memory` method.
pub trait Batch: Sized + Send + 'static {
    /// Moves everything to page-locked memory; what is not a tensor stays as it is.
    ///
    /// # Errors
    /// If memory cannot be locked.
    fn pin(self, pinner: &Pinner) -> Result<(Self, Lease), LoaderError> {
        let _ = pinner;
        Ok((self, Lease::default()))
    }

    /// What is inside, for people.
    fn describe(&self, id: BatchId) -> Option<BatchContent> {
        let _ = id;
        None
    }
}

impl Batch for Value {
    fn pin(mut self, pinner: &Pinner) -> Result<(Self, Lease), LoaderError> {
        let mut lease = Lease::default();
        for tensor in self.tensors_mut() {
            *tensor = pinner.pin(tensor, &mut lease)?;
        }
        Ok((self, lease))
    }

    fn describe(&self, id: BatchId) -> Option<BatchContent> {
        Some(describe(id, self, &ContentLimits::default()))
    }
}

/// A plain list of anything is a batch, as with `collate_fn=lambda batch: batch`.
impl<T: Send + 'static> Batch for Vec<T> {}

/// A batch together with where it comes from. Dereferences to the batch.
///
/// With `pin_memory=mlock` its tensors lie in buffers that are used again after it is dropped. A tensor that is to outlive
/// it must be copied, or the whole batch taken with [`Loaded::into_batch`].
#[derive(Debug)]
pub struct Loaded<B> {
    /// Its name.
    pub id: BatchId,
    /// Who made it; `None`: the main thread.
    pub worker: Option<WorkerId>,
    batch: B,
    /// Page-locked buffers that go back to their pool when this is dropped.
    lease: Lease,
}

impl<B> Loaded<B> {
    pub(crate) fn new(id: BatchId, worker: Option<WorkerId>, batch: B, lease: Lease) -> Self {
        Self {
            id,
            worker,
            batch,
            lease,
        }
    }

    /// The batch alone, to be kept for as long as you like. Pooled buffers it lies in are given up by the pool.
    pub fn into_batch(self) -> B {
        self.lease.keep();
        self.batch
    }
}

impl<B> Deref for Loaded<B> {
    type Target = B;
    fn deref(&self) -> &B {
        &self.batch
    }
}

impl<B> DerefMut for Loaded<B> {
    fn deref_mut(&mut self) -> &mut B {
        &mut self.batch
    }
}
