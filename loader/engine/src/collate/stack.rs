//! Stacking tensors: one allocation, and one copy per sample.

use loadscope_words::say;
use tch::{TchError, Tensor};

use super::CollateSite;
use crate::error::{ExceptionKind, LoaderError};
use crate::value::{
    DType, Value, dense_bytes, is_plain, lazy_dispatch_key, new_tensor, torch_error,
};

const SPARSE: &str = "Batches of sparse tensors are not currently supported by the default collate_fn; please provide \
                      a custom collate_fn to handle them appropriately.";

/// Returns `torch.stack(batch, 0)`. In a worker, `out=` is memory of the first sample's dtype.
pub(super) fn tensors(batch: &[Value], site: CollateSite) -> Result<Tensor, LoaderError> {
    let mut items = Vec::with_capacity(batch.len());
    for (position, value) in batch.iter().enumerate() {
        match value {
            Value::Tensor(tensor) => items.push(tensor),
            // A PyTorch worker sums up `numel` before it stacks, and fails there.
            other if site == CollateSite::Worker => {
                return Err(LoaderError::python(
                    ExceptionKind::ATTRIBUTE_ERROR,
                    format!("'{}' object has no attribute 'numel'", other.type_name()),
                ));
            }
            other => {
                return Err(LoaderError::type_error(format!(
                    "expected Tensor as element {position} in argument 0, but got {}",
                    other.type_name()
                )));
            }
        }
    }
    stack(&items, site)
}

/// Stacks tensors with one copy per sample. With different dtypes or other than dense tensors, libtorch stacks them as in PyTorch.
pub(super) fn stack(items: &[&Tensor], site: CollateSite) -> Result<Tensor, LoaderError> {
    let Some(first) = items.first() else {
        return Err(LoaderError::runtime("stack expects a non-empty TensorList"));
    };
    if items.iter().any(|t| t.defined() && t.is_sparse()) {
        return Err(LoaderError::runtime(SPARSE));
    }
    if items.iter().any(|t| !t.defined()) {
        return Err(LoaderError::runtime(say!(
            "a sample contains an undefined tensor (tch::Tensor::new()), which has no shape to stack"
        )));
    }
    let size = first.size();
    let dtype = dtype_of(first)?;
    if site == CollateSite::Worker {
        // PyTorch allocates shared memory through the first sample. A lazy tensor does not support it.
        if let Some(key) = lazy_dispatch_key(first, dtype) {
            return Err(LoaderError::runtime(format!(
                "DispatchKey {key} doesn't correspond to a device"
            )));
        }
        // PyTorch allocates shared memory for the sum of all elements and resizes it to the first sample's shape.
        let have: usize = items.iter().map(|t| t.numel()).sum();
        if have < items.len() * first.numel() {
            return Err(LoaderError::runtime(
                "Trying to resize storage that is not resizable",
            ));
        }
    }
    let other = |(_, item): &(usize, &&Tensor)| item.size() != size;
    if let Some((position, item)) = items.iter().enumerate().find(other) {
        return Err(unequal_sizes(&size, position, &item.size()));
    }
    let mut one_dtype = true;
    for item in items {
        one_dtype &= dtype_of(item)? == dtype;
    }
    // Only dense CPU tensors can be copied byte by byte. libtorch handles the others.
    let plain = items.iter().all(|t| is_plain(t) && !t.requires_grad());
    match site {
        CollateSite::Main if !one_dtype || !plain => {
            Tensor::f_stack(items, 0).map_err(|e| stack_error(&e))
        }
        CollateSite::Worker if !one_dtype => {
            refuse_casts(items, dtype)?;
            copy(items, &size, dtype)
        }
        _ => copy(items, &size, dtype),
    }
}

fn copy(items: &[&Tensor], size: &[i64], dtype: DType) -> Result<Tensor, LoaderError> {
    let failed = |e| torch_error(say!("stack the tensors of a batch"), &e);
    let mut shape = Vec::with_capacity(size.len() + 1);
    shape.push(items.len() as i64);
    shape.extend_from_slice(size);
    let mut rest = Vec::new();
    let out = new_tensor(&shape, dtype, |bytes| {
        let stride = bytes.len() / items.len().max(1);
        if stride == 0 {
            return;
        }
        for (position, (row, item)) in bytes.chunks_exact_mut(stride).zip(items).enumerate() {
            match dense_bytes(item) {
                Some(source) if source.len() == stride && DType::of(item) == Some(dtype) => {
                    row.copy_from_slice(source);
                }
                _ => rest.push((position, *item)),
            }
        }
    })
    .map_err(failed)?;
    // libtorch copies strided samples and converts those of another dtype.
    for (position, item) in rest {
        let source = item.f_detach().map_err(failed)?;
        out.f_select(0, position as i64)
            .and_then(|mut row| row.f_copy_(&source))
            .map_err(failed)?;
    }
    Ok(out)
}

/// Refuses casts to a lower category of number.
///
/// `torch.cat(.., out=)` converts between integers of any width, even if values wrap.
fn refuse_casts(items: &[&Tensor], dtype: DType) -> Result<(), LoaderError> {
    let mut common = dtype;
    for item in items {
        common = promote(common, dtype_of(item)?)?;
    }
    let castable = match (common, dtype) {
        (from, to) if from == to => true,
        (DType::Kind(from), DType::Kind(to)) => Tensor::f_can_cast(from, to)
            .map_err(|e| torch_error(say!("compare the dtypes of a batch"), &e))?,
        // The wide unsigned integers have a common dtype only with floating-point numbers.
        _ => false,
    };
    match castable {
        true => Ok(()),
        false => Err(LoaderError::type_error(format!(
            "torch.cat(): input types can't be cast to the desired output type {}",
            dtype.cpp_name()
        ))),
    }
}

/// Returns `torch.promote_types(a, b)`.
///
/// # Errors
/// RuntimeError for uint16, uint32 or uint64 with another dtype that is not floating-point.
pub(super) fn promote(a: DType, b: DType) -> Result<DType, LoaderError> {
    if a == b {
        return Ok(a);
    }
    // `cat` is the smallest operation that promotes by libtorch's own table, independent of values.
    let one = |dtype| new_tensor(&[1], dtype, |bytes| bytes.fill(0));
    let both = one(a).and_then(|a| Tensor::f_cat(&[a, one(b)?], 0));
    dtype_of(&both.map_err(|e| stack_error(&e))?)
}

/// Returns libtorch's error as the RuntimeError that PyTorch raises.
fn stack_error(error: &TchError) -> LoaderError {
    match torch_error(say!("stack the tensors of a batch"), error) {
        LoaderError::Torch { message, .. } => LoaderError::runtime(message),
        other => other,
    }
}

pub(super) fn dtype_of(tensor: &Tensor) -> Result<DType, LoaderError> {
    DType::of(tensor).ok_or_else(|| {
        LoaderError::runtime(say!(
            "a sample contains a tensor whose dtype cannot be collated"
        ))
    })
}

/// Returns PyTorch's error for a sample of another size than the first.
pub(super) fn unequal_sizes(first: &[i64], position: usize, other: &[i64]) -> LoaderError {
    // Rust prints a list of sizes as PyTorch does.
    LoaderError::runtime(format!(
        "stack expects each tensor to be equal size, but got {first:?} at entry 0 and {other:?} at entry {position}"
    ))
}
