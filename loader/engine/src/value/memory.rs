//! The memory of tensors, byte by byte.

use std::ffi::CStr;

use tch::{Device, Kind, TchError, Tensor};

use super::DType;

/// True for a tensor whose elements this process can read: defined, in main memory, neither sparse nor opaque.
pub(crate) fn is_plain(tensor: &Tensor) -> bool {
    tensor.defined() && tensor.device() == Device::Cpu && !tensor.is_sparse() && !tensor.is_mkldnn()
}

/// libtorch's name for what is done to the elements when they are read, if they are not those in memory.
pub(crate) fn lazy(tensor: &Tensor, dtype: DType) -> Option<&'static str> {
    let negative = || tensor.is_neg().then_some("Negative");
    // Whatever is negative so is a part of conjugates, so it is a float.
    match dtype {
        DType::Kind(Kind::ComplexHalf | Kind::ComplexFloat | Kind::ComplexDouble) => {
            let conjugate = tensor.is_conj().then_some("Conjugate");
            conjugate.or_else(negative)
        }
        DType::Kind(Kind::Half | Kind::Float | Kind::Double) => negative(),
        _ => None,
    }
}

/// The bytes of a plain, contiguous tensor without lazy conjugates, row-major; `None` for any other.
pub(crate) fn dense_bytes(tensor: &Tensor) -> Option<&[u8]> {
    if !is_plain(tensor) || !tensor.is_contiguous() {
        return None;
    }
    let dtype = DType::of(tensor)?;
    if lazy(tensor, dtype).is_some() {
        return None;
    }
    let len = tensor.numel() * dtype.width();
    if len == 0 {
        return Some(&[]);
    }
    let data = tensor.data_ptr().cast::<u8>();
    if data.is_null() {
        return None;
    }
    // SAFETY: a contiguous CPU tensor holds `numel` elements from `data_ptr` on and owns them as long as it lives.
    Some(unsafe { std::slice::from_raw_parts(data, len) })
}

/// A new contiguous CPU tensor, filled by `fill`, which gets its bytes (row-major, at first of arbitrary content).
///
/// # Errors
/// libtorch's, if the size is refused (negative or too large).
pub(crate) fn new_tensor(
    size: &[i64],
    dtype: impl Into<DType>,
    fill: impl FnOnce(&mut [u8]),
) -> Result<Tensor, TchError> {
    let dtype = dtype.into();
    let tensor = match dtype {
        DType::Kind(kind) => Tensor::f_empty(size, (kind, Device::Cpu))?,
        wide => empty(size, wide)?,
    };
    // Where it can be told without asking libtorch.
    let elements = size
        .iter()
        .try_fold(1i64, |product, n| product.checked_mul(*n));
    let elements = elements.and_then(|n| usize::try_from(n).ok());
    let len = elements.unwrap_or_else(|| tensor.numel()) * dtype.width();
    let data = tensor.data_ptr().cast::<u8>();
    if len == 0 || data.is_null() {
        fill(&mut []);
        return Ok(tensor);
    }
    on_large_pages(data, len);
    // SAFETY: the tensor was made here, so nothing else refers to its `len` bytes. They come from libtorch's allocator,
    // whose inside the compiler does not see, and every bit pattern is a valid u8.
    fill(unsafe { std::slice::from_raw_parts_mut(data, len) });
    Ok(tensor)
}

/// Tensors of this many bytes and more are put on large pages.
const LARGE: usize = 4 << 20;

/// Asks the system to back memory, which is about to be written for the first time, by pages of 2 MiB: one fault instead of 512. Of
/// memory that was written before, it changes nothing that is seen.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "a system call")]
fn on_large_pages(data: *mut u8, len: usize) {
    const PAGE: usize = 2 << 20;
    if len < LARGE {
        return;
    }
    // Only the pages that lie in it as a whole: what is beside it belongs to others.
    let skip = data.align_offset(PAGE);
    let Some(whole) = len.checked_sub(skip).map(|rest| rest / PAGE * PAGE) else {
        return;
    };
    // SAFETY: the range is part of the tensor's memory; the advice changes how it is backed and not what it holds. Where it is refused,
    // nothing happens.
    unsafe {
        libc::madvise(data.wrapping_add(skip).cast(), whole, libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(target_os = "linux"))]
fn on_large_pages(_: *mut u8, _: usize) {}

/// `torch.empty(size, dtype=…)` for a dtype that tch has no name for.
fn empty(size: &[i64], dtype: DType) -> Result<Tensor, TchError> {
    /// libtorch's number for main memory, as tch passes it on.
    const CPU: i32 = -1;
    let mut made = std::ptr::null_mut();
    let len = i32::try_from(size.len()).unwrap_or(i32::MAX);
    // SAFETY: `size` holds `len` numbers and is only read; libtorch writes one owned tensor to `made`, or leaves it alone
    // and keeps an error.
    unsafe {
        torch_sys::c_generated::atg_empty(&mut made, size.as_ptr(), len, dtype.code(), CPU);
    }
    owned(made, dtype)
}

/// `tensor.view(dtype)`: the same bytes as elements of another dtype.
///
/// # Errors
/// libtorch's, if the last dimension does not fit.
pub(crate) fn view_dtype(tensor: &Tensor, dtype: DType) -> Result<Tensor, TchError> {
    let code = match dtype {
        DType::Kind(kind) => return tensor.f_view_dtype(kind),
        wide => wide.code(),
    };
    let mut made = std::ptr::null_mut();
    // SAFETY: the tensor is alive and only read; libtorch writes one owned tensor to `made`, or leaves it alone and keeps
    // an error.
    unsafe {
        torch_sys::c_generated::atg_view_dtype(&mut made, tensor.as_ptr().cast_mut(), code);
    }
    owned(made, dtype)
}

/// What libtorch made, or why it did not. `made` is null, or a tensor without an owner yet.
fn owned(made: *mut torch_sys::C_tensor, dtype: DType) -> Result<Tensor, TchError> {
    if !made.is_null() {
        // SAFETY: the pointer is a tensor of its own without another owner.
        return Ok(unsafe { Tensor::from_ptr(made) });
    }
    // SAFETY: takes nothing; what comes back is null or a C string that is ours to free.
    let error = unsafe { torch_sys::get_and_reset_last_err() };
    if error.is_null() {
        return Err(TchError::UnknownKind(dtype.code()));
    }
    // SAFETY: not null, so it is a C string, allocated by malloc and used nowhere else.
    let text = unsafe {
        let text = CStr::from_ptr(error).to_string_lossy().into_owned();
        libc::free(error.cast());
        text
    };
    Err(TchError::Torch(text))
}

/// Equality of dtype, shape and bits; false for what is not a plain tensor.
pub(super) fn same_tensors(a: &Tensor, b: &Tensor) -> bool {
    if !(is_plain(a) && is_plain(b)) || a.size() != b.size() {
        return false;
    }
    let (Some(dtype_a), Some(dtype_b)) = (DType::of(a), DType::of(b)) else {
        return false;
    };
    if dtype_a != dtype_b {
        return false;
    }
    let resolved = |t: &Tensor| t.f_resolve_conj()?.f_resolve_neg()?.f_contiguous();
    let (Ok(a), Ok(b)) = (resolved(a), resolved(b)) else {
        return false;
    };
    matches!((dense_bytes(&a), dense_bytes(&b)), (Some(a), Some(b)) if a == b)
}

/// Bytes of the elements of a tensor; 0 for an undefined one.
pub(super) fn tensor_bytes(tensor: &Tensor) -> u64 {
    match DType::of(tensor) {
        Some(dtype) if tensor.defined() => (tensor.numel() * dtype.width()) as u64,
        _ => 0,
    }
}

impl DType {
    /// `tensor.to(dtype)`: a copy of that dtype, or another reference to the same tensor if it has it.
    ///
    /// # Errors
    /// libtorch's, if there is no such conversion.
    pub fn convert(self, tensor: &Tensor) -> Result<Tensor, TchError> {
        match self {
            Self::Kind(kind) => tensor.f_to_kind(kind),
            wide if Self::of(tensor) == Some(wide) => Ok(tensor.shallow_clone()),
            wide => {
                let mut copy = new_tensor(&tensor.size(), wide, |_| {})?;
                copy.f_copy_(tensor)?;
                Ok(copy)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tch::Kind;

    #[test]
    fn large_tensors_hold_what_they_are_filled_with() {
        for len in [LARGE - 1, LARGE, LARGE + 1, 3 * LARGE + 4097] {
            let tensor = new_tensor(&[len as i64], Kind::Uint8, |out| out.fill(7)).unwrap();
            assert_eq!(dense_bytes(&tensor), Some(&*vec![7; len]));
        }
    }
}
