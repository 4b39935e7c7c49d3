//! Combination of the tensors of a batch: stacked, padded or concatenated.

use loadscope_words::say;
use tch::{Kind, Tensor};

use super::site::CollateSite;
use super::stack::{dtype_of, tensors as stacked};
use crate::error::LoaderError;
use crate::value::{Value, torch_error};

/// Method that combines the tensors of a batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct CombineMethod {
    site: CollateSite,
    kind: CombineKind,
}

#[derive(Clone, Copy, Debug)]
enum CombineKind {
    Stack,
    Pad(f64),
    Concat,
}

impl CombineMethod {
    pub fn stacking(site: CollateSite) -> Self {
        Self {
            site,
            kind: CombineKind::Stack,
        }
    }

    pub fn padding(site: CollateSite, value: f64) -> Self {
        Self {
            site,
            kind: CombineKind::Pad(value),
        }
    }

    pub fn concatenating(site: CollateSite) -> Self {
        Self {
            site,
            kind: CombineKind::Concat,
        }
    }

    /// Combines the tensors of a batch.
    pub fn tensors(self, batch: &[Value]) -> Result<Value, LoaderError> {
        let has_axes = matches!(batch.first(), Some(Value::Tensor(first)) if first.defined() && first.dim() > 0);
        match self.kind {
            CombineKind::Pad(value) if has_axes => padded(batch, value).map(Value::Tensor),
            CombineKind::Concat if has_axes => concatenated(batch),
            _ => stacked(batch, self.site).map(Value::Tensor),
        }
    }
}

/// Checks that the tensors of a batch have one dtype and one number of axes.
fn check_same_dtype_and_dims(batch: &[Value]) -> Result<Vec<&Tensor>, LoaderError> {
    let mut all: Vec<&Tensor> = Vec::with_capacity(batch.len());
    for (position, value) in batch.iter().enumerate() {
        let Value::Tensor(tensor) = value else {
            return Err(LoaderError::type_error(format!(
                "expected Tensor as element {position} in argument 0, but got {}",
                value.type_name()
            )));
        };
        let dtype = dtype_of(tensor)?;
        if let Some(first) = all.first() {
            let (axes, first_dtype) = (first.dim(), dtype_of(first)?);
            if tensor.dim() != axes || dtype != first_dtype {
                return Err(LoaderError::runtime(say!(
                    "the tensors of a batch need one dtype and one number of axes, but entry 0 is {} with {axes} axes and \
                     entry {position} is {} with {} axes",
                    first_dtype.name(),
                    dtype.name(),
                    tensor.dim()
                )));
            }
        }
        all.push(tensor);
    }
    Ok(all)
}

/// Copies the tensors into a batch of the largest size, filled with `value`.
fn padded(batch: &[Value], value: f64) -> Result<Tensor, LoaderError> {
    let failed = |e| torch_error(say!("pad the tensors of a batch"), &e);
    let all = check_same_dtype_and_dims(batch)?;
    let axes = all.first().map_or(0, |first| first.dim());
    let mut size = vec![0; axes];
    for tensor in &all {
        for (most, own) in size.iter_mut().zip(tensor.size()) {
            *most = own.max(*most);
        }
    }
    size.insert(0, all.len() as i64);
    let Some(first) = all.first() else {
        return Err(LoaderError::runtime("received an empty list of sequences"));
    };
    let kind = first.f_kind().map_err(failed)?;
    if !can_represent(kind, value) {
        return Err(LoaderError::runtime(say!(
            "{} cannot represent the padding value {value}. Choose another one with collate=pad:VALUE.",
            dtype_of(first)?.name()
        )));
    }
    let is_full = |tensor: &&Tensor| tensor.size().iter().eq(size.iter().skip(1));
    let out = match all.iter().all(is_full) {
        true => first.f_new_empty(&size, (kind, first.device())),
        false => first.f_new_full(&size, value, (kind, first.device())),
    }
    .map_err(failed)?;
    for (position, tensor) in (0i64..).zip(&all) {
        let mut slot = out.f_select(0, position).map_err(failed)?;
        for (axis, length) in (0i64..).zip(tensor.size()) {
            slot = slot.f_narrow(axis, 0, length).map_err(failed)?;
        }
        slot.f_copy_(tensor).map_err(failed)?;
    }
    Ok(out)
}

/// Returns true if an integer dtype can represent `value`, and for every other dtype.
fn can_represent(kind: Kind, value: f64) -> bool {
    let (least, most) = match kind {
        Kind::Uint8 => (0.0, f64::from(u8::MAX)),
        Kind::Int8 => (f64::from(i8::MIN), f64::from(i8::MAX)),
        Kind::Int16 => (f64::from(i16::MIN), f64::from(i16::MAX)),
        Kind::Int => (f64::from(i32::MIN), f64::from(i32::MAX)),
        // A double cannot represent the limits of int64 exactly.
        Kind::Int64 => (-9e18, 9e18),
        _ => return true,
    };
    (least..=most).contains(&value)
}

/// Returns `(torch.cat(batch), offsets)`.
fn concatenated(batch: &[Value]) -> Result<Value, LoaderError> {
    let all = check_same_dtype_and_dims(batch)?;
    let mut offsets = Vec::with_capacity(all.len());
    let mut at = 0i64;
    for tensor in &all {
        offsets.push(at);
        at += tensor.size().first().copied().unwrap_or_default();
    }
    let values = Tensor::f_cat(&all, 0).map_err(|e| {
        match torch_error(say!("join the tensors of a batch"), &e) {
            LoaderError::Torch { message, .. } => LoaderError::runtime(message),
            other => other,
        }
    })?;
    let offsets = Tensor::from_slice(&offsets).to_kind(Kind::Int64);
    Ok(Value::Tuple(vec![values.into(), offsets.into()]))
}
