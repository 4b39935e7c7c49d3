//! Stacking tensors: one allocation, one copy a sample.

use loadscope_words::say;
use tch::{TchError, Tensor};

use super::CollateSite;
use crate::error::{ExceptionKind, LoaderError};
use crate::value::{DType, Value, dense_bytes, is_plain, lazy, new_tensor, torch_error};

const SPARSE: &str = "Batches of sparse tensors are not currently supported by the default collate_fn; please provide \
                      a custom collate_fn to handle them appropriately.";

/// `torch.stack(batch, 0)`, in a worker with `out=` in memory of the first sample's dtype.
pub(super) fn tensors(batch: &[Value], site: CollateSite) -> Result<Tensor, LoaderError> {
    let mut items = Vec::with_capacity(batch.len());
    for (position, value) in batch.iter().enumerate() {
        match value {
            Value::Tensor(tensor) => items.push(tensor),
            // A worker sums up sizes before it stacks, and stumbles there.
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

/// The same for what is known to be tensors.
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
        // PyTorch asks for shared memory in the first sample's name, which such a tensor cannot give.
        if let Some(key) = lazy(first, dtype) {
            return Err(LoaderError::runtime(format!(
                "DispatchKey {key} doesn't correspond to a device"
            )));
        }
        // The shared memory is made for the sum of all elements, then shaped by the first sample.
        let have: usize = items.iter().map(|t| t.numel()).sum();
        if have < items.len() * first.numel() {
            return Err(LoaderError::runtime(
                "Trying to resize storage that is not resizable",
            ));
        }
    }
    let other = |(_, item): &(usize, &&Tensor)| item.size() != size;
    if let Some((position, item)) = items.iter().enumerate().find(other) {
        return Err(unequal(&size, position, &item.size()));
    }
    let mut one_dtype = true;
    for item in items {
        one_dtype &= dtype_of(item)? == dtype;
    }
    // Only what sits in main memory can be copied byte by byte; the rest is libtorch's business.
    let plain = items.iter().all(|t| is_plain(t) && !t.requires_grad());
    match site {
        CollateSite::Main if !one_dtype || !plain => {
            Tensor::f_stack(items, 0).map_err(|e| refused(&e))
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
    // Strided samples and those of another dtype: libtorch walks and converts them.
    for (position, item) in rest {
        let source = item.f_detach().map_err(failed)?;
        out.f_select(0, position as i64)
            .and_then(|mut row| row.f_copy_(&source))
            .map_err(failed)?;
    }
    Ok(out)
}

/// `torch.cat(.., out=)` converts between integers of any width, even if values wrap, but never to a lesser kind of
/// number.
fn refuse_casts(items: &[&Tensor], dtype: DType) -> Result<(), LoaderError> {
    let mut common = dtype;
    for item in items {
        common = promote(common, dtype_of(item)?)?;
    }
    let castable = match (common, dtype) {
        (from, to) if from == to => true,
        (DType::Kind(from), DType::Kind(to)) => Tensor::f_can_cast(from, to)
            .map_err(|e| torch_error(say!("compare the dtypes of a batch"), &e))?,
        // With the wide integers only floating-point numbers have a dtype in common.
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

/// The dtype that holds both, as `torch.promote_types`.
///
/// # Errors
/// RuntimeError for unsigned integers of more than 8 bits, which PyTorch promotes to nothing else.
pub(super) fn promote(a: DType, b: DType) -> Result<DType, LoaderError> {
    if a == b {
        return Ok(a);
    }
    // libtorch's own table, through the smallest operation that promotes without regard to values.
    let one = |dtype| new_tensor(&[1], dtype, |bytes| bytes.fill(0));
    let both = one(a).and_then(|a| Tensor::f_cat(&[a, one(b)?], 0));
    dtype_of(&both.map_err(|e| refused(&e))?)
}

/// What libtorch says in its own words, PyTorch passes on as a RuntimeError.
fn refused(error: &TchError) -> LoaderError {
    match torch_error(say!("stack the tensors of a batch"), error) {
        LoaderError::Torch { message, .. } => LoaderError::runtime(message),
        other => other,
    }
}

/// The dtype of a tensor.
pub(super) fn dtype_of(tensor: &Tensor) -> Result<DType, LoaderError> {
    DType::of(tensor).ok_or_else(|| {
        LoaderError::runtime(say!(
            "a sample contains a tensor whose dtype cannot be collated"
        ))
    })
}

/// What PyTorch says when a sample is not of the size of the first.
pub(super) fn unequal(first: &[i64], position: usize, other: &[i64]) -> LoaderError {
    // Rust prints a list of sizes as PyTorch does.
    LoaderError::runtime(format!(
        "stack expects each tensor to be equal size, but got {first:?} at entry 0 and {other:?} at entry {position}"
    ))
}
