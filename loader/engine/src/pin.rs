//! Page-locked memory: CUDA's if a GPU is present, or buffers locked with `mlock` on request.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use loadscope_trace::PinMemory;
use loadscope_words::say;
use tch::{Device, Kind, Tensor};

use crate::error::LoaderError;
use crate::value::{DType, torch_error, view_dtype};

/// Allocator of page-locked copies of tensors.
#[derive(Clone, Debug)]
pub enum Pinner {
    /// CUDA's page-locked memory.
    Cuda,
    /// Pooled buffers locked with `mlock`.
    Mlock(MlockPool),
}

/// Pinning of a loader, with its description and warning.
#[derive(Debug)]
pub struct Pinning {
    /// Allocator of the copies, or `None` if batches are not copied.
    pub pinner: Option<Pinner>,
    /// Description of the memory for display, if batches are copied.
    pub label: Option<String>,
    /// PyTorch's warning, such as for a missing GPU.
    pub warning: Option<String>,
}

impl Pinning {
    /// Resolves `pin_memory` on this host.
    ///
    /// # Errors
    /// If `mlock` was requested and memory cannot be locked.
    pub fn choose(asked: PinMemory) -> Result<Self, LoaderError> {
        let none = |warning| Self {
            pinner: None,
            label: None,
            warning,
        };
        match asked {
            PinMemory::Off => Ok(none(None)),
            PinMemory::On if tch::Cuda::is_available() => Ok(Self {
                pinner: Some(Pinner::Cuda),
                label: Some("CUDA page-locked memory".to_owned()),
                warning: None,
            }),
            PinMemory::On => Ok(none(Some(
                "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be used."
                    .to_owned(),
            ))),
            PinMemory::Mlock => {
                let pool = MlockPool::default();
                // The first lock happens here, so that a failure is not reported only with the first batch.
                pool.release(vec![Buffer::new(1)?]);
                Ok(Self {
                    pinner: Some(Pinner::Mlock(pool)),
                    label: Some("mlock: page-locked buffers without a GPU".to_owned()),
                    warning: None,
                })
            }
        }
    }
}

impl Pinner {
    /// Copies `tensor` to page-locked memory, with the same shape and type, contiguous.
    ///
    /// # Errors
    /// If memory cannot be allocated or locked.
    pub fn pin(&self, tensor: &Tensor, lease: &mut Lease) -> Result<Tensor, LoaderError> {
        match self {
            Self::Cuda => tensor
                .f_pin_memory(Device::Cuda(0))
                .map_err(|e| torch_error(say!("pin a tensor"), &e)),
            Self::Mlock(pool) => pool.pin(tensor, lease),
        }
    }
}

/// A pool of locked buffers. Clones share the pool.
///
/// The buffers are ordinary byte tensors with locked pages. A tensor in a buffer keeps it alive, even if the pool is dropped.
#[derive(Clone, Debug, Default)]
pub struct MlockPool(Arc<Mutex<Vec<Buffer>>>);

/// One locked buffer.
struct Buffer {
    /// Lock guard, declared first so that it is dropped before the memory it unlocks.
    lock: region::LockGuard,
    /// Locked bytes: whole pages without other data.
    bytes: Tensor,
    len: usize,
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} locked bytes", self.len)
    }
}

impl Buffer {
    fn new(len: usize) -> Result<Self, LoaderError> {
        let page = region::page::size();
        // The length is rounded up, so that batches of almost the same size reuse buffers.
        let len = len.max(1).next_multiple_of(page);
        let torch = |e: &tch::TchError| torch_error(say!("allocate a buffer to lock"), e);
        // The buffer has one more page, so that whole pages can be cut out. Locking is by page, and unlocking a page that is shared
        // with another buffer would unlock that buffer as well.
        let wide = Tensor::f_empty([(len + page) as i64], (Kind::Uint8, Device::Cpu));
        let wide = wide.map_err(|e| torch(&e))?;
        let skip = wide.data_ptr().align_offset(page).min(page);
        let bytes = wide
            .f_narrow(0, skip as i64, len as i64)
            .map_err(|e| torch(&e))?;
        let lock = region::lock(bytes.data_ptr().cast::<u8>(), len).map_err(|e| {
            LoaderError::runtime(say!(
                "pin_memory=mlock cannot lock {len} bytes of memory: {e}. Raise the limit with `ulimit -l unlimited`, or use pin_memory=off.",
                e = loadscope_words::strip_os_error_codes(&e.to_string())
            ))
        })?;
        Ok(Self { lock, bytes, len })
    }
}

impl MlockPool {
    fn pin(&self, tensor: &Tensor, lease: &mut Lease) -> Result<Tensor, LoaderError> {
        let torch = |e: &tch::TchError| torch_error(say!("copy a tensor to locked memory"), e);
        let dtype = DType::of(tensor).ok_or_else(|| {
            LoaderError::runtime(say!(
                "a tensor whose dtype is unknown cannot be copied to locked memory"
            ))
        })?;
        let len = tensor.numel() * dtype.width();
        let buffer = match self.take(len) {
            Some(buffer) => buffer,
            None => Buffer::new(len)?,
        };
        let target = buffer
            .bytes
            .f_narrow(0, 0, len as i64)
            .and_then(|t| view_dtype(&t, dtype))
            .and_then(|t| t.f_view(&tensor.size()[..]));
        let copied = target.and_then(|mut target| {
            target.f_copy_(tensor)?;
            Ok(target)
        });
        lease.pool.get_or_insert_with(|| self.clone());
        lease.buffers.push(buffer);
        copied.map_err(|e| torch(&e))
    }

    /// Takes the smallest free buffer that is large enough.
    fn take(&self, len: usize) -> Option<Buffer> {
        let mut free = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fitting = free.iter().enumerate().filter(|(_, b)| b.len >= len);
        let (at, _) = fitting.min_by_key(|(_, b)| b.len)?;
        Some(free.swap_remove(at))
    }

    fn release(&self, buffers: Vec<Buffer>) {
        let mut free = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        free.extend(buffers);
    }
}

/// Pooled buffers of a batch, which return to the pool on drop.
#[derive(Debug, Default)]
pub struct Lease {
    pool: Option<MlockPool>,
    buffers: Vec<Buffer>,
}

impl Lease {
    /// Removes the buffers from the pool. The buffers stay locked, and are freed with their last tensor.
    pub(crate) fn detach(mut self) {
        self.pool = None;
        for buffer in self.buffers.drain(..) {
            // Unlocking now would unlock the memory of a batch that is still in use.
            std::mem::forget(buffer.lock);
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(pool) = self.pool.take() {
            pool.release(std::mem::take(&mut self.buffers));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;

    #[test]
    fn pinned_copies_are_equal_and_buffers_are_reused() {
        let pinning = Pinning::choose(PinMemory::Mlock).expect("a page can be locked");
        let Some(pinner) = pinning.pinner else {
            panic!("mlock was asked for by name");
        };
        let tensor = Tensor::from_slice(&[1.5f32, -2.0, 3.0, 4.0, 5.0, 6.0]).view([2, 3]);
        let wide = DType::UInt16.convert(&Tensor::from_slice(&[1i64, 65535]));
        let wide = wide.expect("libtorch has the dtype");
        let complex = Tensor::from_slice(&[1.0, 2.0, 3.0, 4.0]);
        let complex = complex.view([2, 2]).view_as_complex().conj();
        for tensor in [wide, complex] {
            let pinned = pinner.pin(&tensor, &mut Lease::default());
            assert!(Value::from(pinned.expect("it is small")).same(&tensor.into()));
        }
        let mut address = None;
        for _ in 0..3 {
            let mut lease = Lease::default();
            let pinned = pinner.pin(&tensor, &mut lease).expect("it fits a page");
            assert_eq!(pinned, tensor);
            assert_eq!(pinned.size(), [2, 3]);
            assert_eq!(*address.get_or_insert(pinned.data_ptr()), pinned.data_ptr());
        }
    }

    #[test]
    fn large_buffers_are_unlocked_before_they_are_freed() {
        let pool = MlockPool::default();
        for kept in [false, true] {
            let mut leases = Vec::new();
            for k in 0..3 {
                let tensor = Tensor::full([5 << 20], k, (Kind::Uint8, Device::Cpu));
                let mut lease = Lease::default();
                let pinned = pool.pin(&tensor, &mut lease).expect("15 MiB can be locked");
                assert_eq!(pinned, tensor);
                assert_eq!(pinned.data_ptr().align_offset(region::page::size()), 0);
                leases.push((pinned, lease));
            }
            for (pinned, lease) in leases {
                if kept {
                    lease.detach();
                }
                drop(pinned);
            }
        }
    }

    #[test]
    fn pinning_without_an_accelerator_is_off_with_a_warning() {
        let pinning = Pinning::choose(PinMemory::On).expect("never an error");
        assert_eq!(pinning.pinner.is_none(), !tch::Cuda::is_available());
        assert_eq!(pinning.warning.is_some(), !tch::Cuda::is_available());
    }
}
