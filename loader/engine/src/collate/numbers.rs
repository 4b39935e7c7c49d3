//! Batches of Python numbers, as `torch.tensor(batch)` makes them.

use tch::{Kind, Tensor};

use super::stack::promote;
use crate::error::EngineError;
use crate::value::{Value, new_tensor};

/// `torch.tensor(batch, dtype=torch.float64)`: what a batch becomes whose first sample is a float.
pub(super) fn floats(batch: &[Value]) -> Result<Tensor, EngineError> {
    let numbers: Vec<f64> = batch.iter().map(real).collect::<Result<_, _>>()?;
    tensor(Kind::Double, numbers.into_iter().map(f64::to_ne_bytes))
}

/// `torch.tensor(batch)`: bools stay bools, ints are int64, and one float among them makes all of them float32.
pub(super) fn inferred(batch: &[Value]) -> Result<Tensor, EngineError> {
    let mut kind = Kind::Bool;
    for value in batch {
        kind = match (kind, kind_of(value)?) {
            // The usual cases without asking libtorch.
            (a, b) if a == b => a,
            (Kind::Bool, other) => other,
            (other, Kind::Bool) => other,
            (Kind::Int64, Kind::Float) | (Kind::Float, Kind::Int64) => Kind::Float,
            (a, b) => promote(a, b)?,
        };
    }
    match kind {
        Kind::Bool => {
            let numbers: Vec<i64> = batch.iter().map(integer).collect::<Result<_, _>>()?;
            tensor(kind, numbers.into_iter().map(|v| [u8::from(v != 0)]))
        }
        Kind::Int64 => {
            let numbers: Vec<i64> = batch.iter().map(integer).collect::<Result<_, _>>()?;
            tensor(kind, numbers.into_iter().map(i64::to_ne_bytes))
        }
        Kind::Float => {
            let numbers: Vec<f64> = batch.iter().map(real).collect::<Result<_, _>>()?;
            tensor(kind, numbers.into_iter().map(|v| (v as f32).to_ne_bytes()))
        }
        // Tensors of other types among the numbers.
        other => floats(batch)?
            .f_to_kind(other)
            .map_err(|e| EngineError::torch(format!("convert a batch to {other:?}"), &e)),
    }
}

/// A 1-dimensional tensor of the given dtype from the bytes of its elements.
fn tensor<const W: usize>(
    kind: Kind,
    elements: impl ExactSizeIterator<Item = [u8; W]>,
) -> Result<Tensor, EngineError> {
    new_tensor(&[elements.len() as i64], kind, |bytes| {
        for (slot, element) in bytes.chunks_exact_mut(W).zip(elements) {
            slot.copy_from_slice(&element);
        }
    })
    .map_err(|e| EngineError::torch("make a tensor of numbers", &e))
}

/// The dtype that `torch.tensor` infers from one element.
fn kind_of(value: &Value) -> Result<Kind, EngineError> {
    match value {
        Value::Bool(_) => Ok(Kind::Bool),
        Value::Int(_) => Ok(Kind::Int64),
        Value::Float(_) => Ok(Kind::Float),
        Value::Tensor(tensor) if tensor.defined() => tensor
            .f_kind()
            .map_err(|e| EngineError::torch("name the dtype of a tensor", &e)),
        Value::Str(_) => Err(EngineError::type_error("new(): invalid data type 'str'")),
        // Sequences are looked into, so their elements decide; they fail later, when they are converted.
        Value::List(_) | Value::Tuple(_) | Value::NamedTuple(_) | Value::Bytes(_) => Err(
            EngineError::type_error(format!("not a number: '{}' object", value.type_name())),
        ),
        other => Err(EngineError::runtime(format!(
            "Could not infer dtype of {}",
            other.type_name()
        ))),
    }
}

fn real(value: &Value) -> Result<f64, EngineError> {
    match value {
        Value::Bool(v) => Ok(f64::from(u8::from(*v))),
        Value::Int(v) => Ok(*v as f64),
        Value::Float(v) => Ok(*v),
        Value::Tensor(tensor) => element(tensor)?
            .f_double_value(&[])
            .map_err(|e| EngineError::torch("read a number out of a tensor", &e)),
        other => Err(EngineError::type_error(format!(
            "must be real number, not {}",
            other.type_name()
        ))),
    }
}

fn integer(value: &Value) -> Result<i64, EngineError> {
    match value {
        Value::Bool(v) => Ok(i64::from(*v)),
        Value::Int(v) => Ok(*v),
        Value::Tensor(tensor) => element(tensor)?
            .f_int64_value(&[])
            .map_err(|e| EngineError::torch("read a number out of a tensor", &e)),
        other => Err(EngineError::type_error(format!(
            "'{}' object cannot be interpreted as an integer",
            other.type_name()
        ))),
    }
}

/// The only element of a tensor, as a 0-d tensor.
fn element(tensor: &Tensor) -> Result<Tensor, EngineError> {
    if !tensor.defined() || tensor.numel() != 1 {
        let count = if tensor.defined() { tensor.numel() } else { 0 };
        return Err(EngineError::runtime(format!(
            "a Tensor with {count} elements cannot be converted to Scalar"
        )));
    }
    tensor
        .f_reshape([0i64; 0].as_slice())
        .map_err(|e| EngineError::torch("read a number out of a tensor", &e))
}
