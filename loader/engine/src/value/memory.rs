//! Access to the bytes of tensors.

use std::ffi::CStr;

use tch::{Device, Kind, TchError, Tensor};

use super::DType;

/// Returns true for a tensor whose elements this process can read: defined, in main memory, neither sparse nor opaque.
pub(crate) fn is_plain(tensor: &Tensor) -> bool {
    tensor.defined() && tensor.device() == Device::Cpu && !tensor.is_sparse() && !tensor.is_mkldnn()
}

/// Returns libtorch's dispatch key of a lazy conjugation or negation, if the tensor has one.
pub(crate) fn lazy_dispatch_key(tensor: &Tensor, dtype: DType) -> Option<&'static str> {
    let negative = || tensor.is_neg().then_some("Negative");
    // A lazily negated tensor is the imaginary part of a lazy conjugate, so it is a float.
    match dtype {
        DType::Kind(Kind::ComplexHalf | Kind::ComplexFloat | Kind::ComplexDouble) => {
            let conjugate = tensor.is_conj().then_some("Conjugate");
            conjugate.or_else(negative)
        }
        DType::Kind(Kind::Half | Kind::Float | Kind::Double) => negative(),
        _ => None,
    }
}

/// Returns the bytes of a plain, contiguous tensor without lazy conjugation, row-major. Returns `None` for any other tensor.
pub(crate) fn dense_bytes(tensor: &Tensor) -> Option<&[u8]> {
    if !is_plain(tensor) || !tensor.is_contiguous() {
        return None;
    }
    let dtype = DType::of(tensor)?;
    if lazy_dispatch_key(tensor, dtype).is_some() {
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
    // SAFETY: a contiguous CPU tensor holds `numel` elements from `data_ptr` on and owns them during its lifetime.
    Some(unsafe { std::slice::from_raw_parts(data, len) })
}

/// Returns a new contiguous CPU tensor. `fill` receives its bytes (row-major, with arbitrary initial content).
///
/// # Errors
/// libtorch's error if the size is invalid (negative or too large).
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
    // The product is computed without a call to libtorch, if possible.
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
    advise_huge_pages(data, len);
    // SAFETY: the tensor is new, so nothing else refers to its `len` bytes. They come from libtorch's allocator, which
    // is opaque to the compiler, and every bit pattern is a valid u8.
    fill(unsafe { std::slice::from_raw_parts_mut(data, len) });
    Ok(tensor)
}

/// Minimum size of tensors on huge pages, bytes.
const MIN_HUGE_PAGE_BYTES: usize = 4 << 20;

/// Requests pages of 2 MiB for memory before its first write: one page fault instead of 512.
///
/// The request has no visible effect on memory that was written before.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "a system call")]
fn advise_huge_pages(data: *mut u8, len: usize) {
    const PAGE: usize = 2 << 20;
    if len < MIN_HUGE_PAGE_BYTES {
        return;
    }
    // The advice covers only whole pages inside the range. The rest of a partial page belongs to other allocations.
    let skip = data.align_offset(PAGE);
    let Some(whole) = len.checked_sub(skip).map(|rest| rest / PAGE * PAGE) else {
        return;
    };
    // SAFETY: the range is part of the tensor's memory. The advice changes its backing, not its content. If it is refused, nothing happens.
    unsafe {
        libc::madvise(data.wrapping_add(skip).cast(), whole, libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(target_os = "linux"))]
fn advise_huge_pages(_: *mut u8, _: usize) {}

/// Returns `torch.empty(size, dtype=…)` for a dtype without a name in tch.
fn empty(size: &[i64], dtype: DType) -> Result<Tensor, TchError> {
    /// libtorch's code of the CPU, as tch passes it.
    const CPU: i32 = -1;
    let mut made = std::ptr::null_mut();
    let len = i32::try_from(size.len()).unwrap_or(i32::MAX);
    // SAFETY: `size` holds `len` numbers and is only read. libtorch either writes one owned tensor to `made`, or leaves
    // it null and stores an error.
    unsafe {
        torch_sys::c_generated::atg_empty(&mut made, size.as_ptr(), len, dtype.code(), CPU);
    }
    take_tensor(made, dtype)
}

/// Returns `tensor.view(dtype)`: the same bytes as elements of another dtype.
///
/// # Errors
/// libtorch's error if the last dimension does not fit.
pub(crate) fn view_dtype(tensor: &Tensor, dtype: DType) -> Result<Tensor, TchError> {
    let code = match dtype {
        DType::Kind(kind) => return tensor.f_view_dtype(kind),
        wide => wide.code(),
    };
    let mut made = std::ptr::null_mut();
    // SAFETY: the tensor is alive and only read. libtorch either writes one owned tensor to `made`, or leaves it null and stores an error.
    unsafe {
        torch_sys::c_generated::atg_view_dtype(&mut made, tensor.as_ptr().cast_mut(), code);
    }
    take_tensor(made, dtype)
}

/// Returns libtorch's tensor or error. `made` is null, or a tensor without an owner yet.
fn take_tensor(made: *mut torch_sys::C_tensor, dtype: DType) -> Result<Tensor, TchError> {
    if !made.is_null() {
        // SAFETY: the pointer is a tensor without another owner.
        return Ok(unsafe { Tensor::from_ptr(made) });
    }
    // SAFETY: the function has no arguments. The result is null or a C string that the caller must free.
    let error = unsafe { torch_sys::get_and_reset_last_err() };
    if error.is_null() {
        return Err(TchError::UnknownKind(dtype.code()));
    }
    // SAFETY: `error` is not null, so it is a C string, allocated by malloc and not used elsewhere.
    let text = unsafe {
        let text = CStr::from_ptr(error).to_string_lossy().into_owned();
        libc::free(error.cast());
        text
    };
    Err(TchError::Torch(text))
}

/// Compares dtype, shape and bits. Returns false for a tensor that is not plain.
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

/// Returns the size of a tensor's elements in bytes, or 0 for an undefined one.
pub(super) fn tensor_bytes(tensor: &Tensor) -> u64 {
    match DType::of(tensor) {
        Some(dtype) if tensor.defined() => (tensor.numel() * dtype.width()) as u64,
        _ => 0,
    }
}

impl DType {
    /// Returns `tensor.to(dtype)`: a converted copy, or a reference to the same tensor if it already has the dtype.
    ///
    /// # Errors
    /// libtorch's error if there is no such conversion.
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
    fn large_tensors_contain_their_fill_value() {
        for len in [
            MIN_HUGE_PAGE_BYTES - 1,
            MIN_HUGE_PAGE_BYTES,
            MIN_HUGE_PAGE_BYTES + 1,
            3 * MIN_HUGE_PAGE_BYTES + 4097,
        ] {
            let tensor = new_tensor(&[len as i64], Kind::Uint8, |out| out.fill(7)).unwrap();
            assert_eq!(dense_bytes(&tensor), Some(&*vec![7; len]));
        }
    }
}
