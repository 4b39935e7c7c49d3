//! Stacking tensors: one allocation, one copy a sample.

use tch::{Device, Kind, Tensor};

use super::CollateSite;
use crate::error::{EngineError, ExceptionKind};
use crate::value::{Value, dense_bytes, is_plain, new_tensor};

const SPARSE: &str = "Batches of sparse tensors are not currently supported by the default collate_fn; please provide \
                      a custom collate_fn to handle them appropriately.";

/// `torch.stack(batch, 0)`, in a worker with `out=` in memory of the first sample's dtype.
pub(super) fn tensors(batch: &[Value], site: CollateSite) -> Result<Tensor, EngineError> {
    let mut items = Vec::with_capacity(batch.len());
    for (position, value) in batch.iter().enumerate() {
        match value {
            Value::Tensor(tensor) => items.push(tensor),
            // A worker sums up sizes before it stacks, and stumbles there.
            other if site == CollateSite::Worker => {
                return Err(EngineError::python(
                    ExceptionKind::ATTRIBUTE_ERROR,
                    format!("'{}' object has no attribute 'numel'", other.type_name()),
                ));
            }
            other => {
                return Err(EngineError::type_error(format!(
                    "expected Tensor as element {position} in argument 0, but got {}",
                    other.type_name()
                )));
            }
        }
    }
    let Some(first) = items.first() else {
        return Err(EngineError::runtime("stack expects a non-empty TensorList"));
    };
    if items.iter().any(|t| t.defined() && t.is_sparse()) {
        return Err(EngineError::runtime(SPARSE));
    }
    if items.iter().any(|t| !t.defined()) {
        return Err(EngineError::runtime(
            "a sample holds an undefined tensor (tch::Tensor::new()), which has no shape to stack",
        ));
    }
    let size = first.size();
    if site == CollateSite::Worker {
        // The shared memory is made for the sum of all elements, then shaped by the first sample.
        let have: usize = items.iter().map(|t| t.numel()).sum();
        if have < items.len() * first.numel() {
            return Err(EngineError::runtime(
                "Trying to resize storage that is not resizable",
            ));
        }
    }
    if let Some(position) = items.iter().position(|t| t.size() != size) {
        return Err(EngineError::runtime(format!(
            "stack expects each tensor to be equal size, but got {} at entry 0 and {} at entry {position}",
            shape(&size),
            shape(&items[position].size())
        )));
    }
    let kind = kind_of(first)?;
    let mut one_kind = true;
    for item in &items {
        one_kind &= kind_of(item)? == kind;
    }
    // Only what sits in main memory can be copied byte by byte; the rest is libtorch's business.
    let plain = items.iter().all(|t| is_plain(t) && !t.requires_grad());
    match site {
        CollateSite::Main if !one_kind || !plain => Tensor::f_stack(&items, 0)
            .map_err(|e| EngineError::torch("stack the tensors of a batch", &e)),
        CollateSite::Worker if !one_kind => {
            refuse_casts(&items, kind)?;
            copy(&items, &size, kind)
        }
        _ => copy(&items, &size, kind),
    }
}

fn copy(items: &[&Tensor], size: &[i64], kind: Kind) -> Result<Tensor, EngineError> {
    let failed = |e| EngineError::torch("stack the tensors of a batch", &e);
    let mut shape = Vec::with_capacity(size.len() + 1);
    shape.push(items.len() as i64);
    shape.extend_from_slice(size);
    let mut rest = Vec::new();
    let out = new_tensor(&shape, kind, |bytes| {
        let stride = bytes.len() / items.len().max(1);
        if stride == 0 {
            return;
        }
        for (position, (row, item)) in bytes.chunks_exact_mut(stride).zip(items).enumerate() {
            match dense_bytes(item) {
                Some(source) if source.len() == stride && item.f_kind().ok() == Some(kind) => {
                    row.copy_from_slice(source);
                }
                _ => rest.push(position),
            }
        }
    })
    .map_err(failed)?;
    // Strided samples and those of another dtype: libtorch walks and converts them.
    for position in rest {
        let source = items[position].f_detach().map_err(failed)?;
        out.f_select(0, position as i64)
            .and_then(|mut row| row.f_copy_(&source))
            .map_err(failed)?;
    }
    Ok(out)
}

/// `torch.cat(.., out=)` converts between integers of any width, even if values wrap, but never to a lesser kind of
/// number.
fn refuse_casts(items: &[&Tensor], kind: Kind) -> Result<(), EngineError> {
    for item in items {
        let from = kind_of(item)?;
        let castable = Tensor::f_can_cast(from, kind)
            .map_err(|e| EngineError::torch("compare the dtypes of a batch", &e))?;
        if !castable {
            return Err(EngineError::type_error(format!(
                "torch.cat(): input types can't be cast to the desired output type {}",
                cpp_name(kind)
            )));
        }
    }
    Ok(())
}

/// The dtype that holds both, as `torch.promote_types`.
pub(super) fn promote(a: Kind, b: Kind) -> Result<Kind, EngineError> {
    if a == b {
        return Ok(a);
    }
    // libtorch's own table, through the smallest operation that promotes without regard to values.
    let one = |kind| Tensor::f_zeros([1], (kind, Device::Cpu));
    one(a)
        .and_then(|a| Tensor::f_cat(&[a, one(b)?], 0))
        .and_then(|both| both.f_kind())
        .map_err(|e| EngineError::torch("find a dtype for a batch", &e))
}

fn kind_of(tensor: &Tensor) -> Result<Kind, EngineError> {
    tensor
        .f_kind()
        .map_err(|e| EngineError::torch("name the dtype of a tensor", &e))
}

/// Sizes as PyTorch prints them: `[3, 224, 224]`.
fn shape(size: &[i64]) -> String {
    format!("{size:?}")
}

/// The name of a dtype inside libtorch.
fn cpp_name(kind: Kind) -> String {
    match kind {
        Kind::Uint8 => "Byte".to_owned(),
        Kind::Int8 => "Char".to_owned(),
        Kind::Int16 => "Short".to_owned(),
        Kind::Int64 => "Long".to_owned(),
        other => format!("{other:?}"),
    }
}
