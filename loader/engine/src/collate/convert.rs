//! `default_convert` and `torch.as_tensor` of one value.

use loadscope_words::say;
use tch::Tensor;

use super::{nested, numbers};
use crate::error::LoaderError;
use crate::value::{NamedTuple, NdArray, NumpyScalar, Sequence, Value, torch_error};

/// PyTorch's `default_convert`, which loaders without batches apply to each sample.
///
/// NumPy arrays and numbers become tensors, tuples become lists, containers are converted recursively. All other values stay as they are.
///
/// # Errors
/// TypeError for NumPy values that no tensor can represent: dates, `numpy.bytes_`. Arrays of texts and objects are kept.
pub fn default_convert(value: Value) -> Result<Value, LoaderError> {
    let all = |items: Vec<Value>| -> Result<Vec<Value>, LoaderError> {
        items.into_iter().map(default_convert).collect()
    };
    Ok(match value {
        Value::Array(array) if array.is_text_or_object() => Value::Array(array),
        Value::Scalar(NumpyScalar::Str(text)) => Value::Scalar(NumpyScalar::Str(text)),
        Value::Array(_) | Value::Scalar(_) => as_tensor(value)?,
        Value::List(items) | Value::Tuple(items) => Value::List(all(items)?),
        Value::Sequence(sequence) if sequence.keeps_type => Value::Sequence(Sequence {
            items: all(sequence.items)?,
            ..sequence
        }),
        Value::Sequence(sequence) => Value::List(all(sequence.items)?),
        Value::Map(mapping) => Value::Map(mapping.map(default_convert)?),
        Value::NamedTuple(tuple) => Value::NamedTuple(NamedTuple {
            items: all(tuple.items)?,
            ..tuple
        }),
        other => other,
    })
}

/// Returns `torch.as_tensor(value)` as a [`Value::Tensor`].
pub(super) fn as_tensor(value: Value) -> Result<Value, LoaderError> {
    match value {
        Value::Tensor(tensor)
        | Value::Array(NdArray::Numbers(tensor))
        | Value::Scalar(NumpyScalar::Number(tensor)) => Ok(tensor.into()),
        Value::Array(array @ NdArray::Other { .. }) => Err(numbers::no_such_array(array.dtype())),
        Value::Scalar(scalar @ NumpyScalar::Other { .. }) => {
            let name = scalar.type_name();
            Err(numbers::no_such_array(name.trim_start_matches("numpy.")))
        }
        Value::Scalar(scalar @ (NumpyScalar::Str(_) | NumpyScalar::Bytes(_))) => {
            let name = scalar.type_name();
            Err(LoaderError::type_error(format!(
                "new(): invalid data type '{name}'"
            )))
        }
        Value::List(items) | Value::Tuple(items) | Value::Sequence(Sequence { items, .. }) => {
            nested::tensor(items).map(Value::Tensor)
        }
        Value::NamedTuple(tuple) => nested::tensor(tuple.items).map(Value::Tensor),
        scalar => scalar_tensor(scalar).map(Value::Tensor),
    }
}

/// Returns a number as a 0-d tensor. Ints are int64, floats float32.
fn scalar_tensor(value: Value) -> Result<Tensor, LoaderError> {
    numbers::inferred(&[value])?
        .f_reshape([0i64; 0].as_slice())
        .map_err(|e| torch_error(say!("make a tensor of a number"), &e))
}
