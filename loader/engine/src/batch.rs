//! Batches that a loader yields.

use std::ops::{Deref, DerefMut};

use loadscope_trace::{BatchContent, BatchId, WorkerId};

use crate::content::{ContentLimits, describe};
use crate::error::LoaderError;
use crate::pin::{Lease, Pinner};
use crate::value::Value;

/// Return type of a `collate_fn`. Implement it for your own batch types.
///
/// The counterpart in PyTorch is an object with a `pin_memory` method.
pub trait Batch: Sized + Send + 'static {
    /// Moves all tensors to page-locked memory. All other values stay as they are.
    ///
    /// # Errors
    /// If memory cannot be locked.
    fn pin(self, pinner: &Pinner) -> Result<(Self, Lease), LoaderError> {
        let _ = pinner;
        Ok((self, Lease::default()))
    }

    /// Describes the contents for display. Returns `None` if the batch type has no description.
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

/// A plain list is a batch, as with `collate_fn=lambda batch: batch`.
impl<T: Send + 'static> Batch for Vec<T> {}

/// A batch with its origin. Dereferences to the batch.
///
/// With `pin_memory=mlock` its tensors use pooled buffers, which are reused after it is dropped. Copy a tensor that
/// must outlive it, or take the whole batch with [`Loaded::into_batch`].
#[derive(Debug)]
pub struct Loaded<B> {
    /// Batch ID.
    pub id: BatchId,
    /// Worker that made the batch, or `None` for a batch of the consumer's thread (`num_workers=0`).
    pub worker: Option<WorkerId>,
    batch: B,
    /// Page-locked buffers that return to their pool on drop.
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

    /// Returns the batch alone, without a limit on its lifetime. Its pooled buffers leave the pool.
    pub fn into_batch(self) -> B {
        self.lease.detach();
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
