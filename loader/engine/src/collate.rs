//! `torch.utils.data.default_collate` and `default_convert`.

mod combine;
mod complex;
mod containers;
mod convert;
mod lists;
mod nested;
mod numbers;
mod site;
mod stack;
#[cfg(test)]
mod tests;

use crate::error::{ExceptionKind, LoaderError};
use crate::value::{NumpyScalar, Value};

use combine::CombineMethod;
pub use convert::default_convert;
pub use lists::collate_lists;
pub use site::CollateSite;

/// PyTorch's `default_collate`: recursively stacks tensors, arrays and numbers on a new first dimension.
///
/// The first sample determines the structure. Tuples become lists.
///
/// # Errors
/// The exceptions of PyTorch:
/// - TypeError for types that cannot be collated
/// - RuntimeError for different shapes and lengths
/// - KeyError for a key that is missing in a later sample
/// - IndexError for no samples
pub fn default_collate(batch: Vec<Value>, site: CollateSite) -> Result<Value, LoaderError> {
    collate(batch, CombineMethod::stacking(site), Value::List)
}

/// Collates like [`default_collate`], but pads tensors with axes at the end with `value` to the largest size of the batch.
///
/// Equals PyTorch's `pad_sequence(…, batch_first=True)` if only the first axis differs.
///
/// # Errors
/// As [`default_collate`].
pub fn collate_padded(
    batch: Vec<Value>,
    site: CollateSite,
    value: f64,
) -> Result<Value, LoaderError> {
    collate(batch, CombineMethod::padding(site, value), Value::List)
}

/// Collates like [`default_collate`], but concatenates tensors with axes to `(values, offsets)`, the input of `EmbeddingBag`.
///
/// # Errors
/// As [`default_collate`].
pub fn collate_concatenated(batch: Vec<Value>, site: CollateSite) -> Result<Value, LoaderError> {
    collate(batch, CombineMethod::concatenating(site), Value::List)
}

/// Collates a batch. `group` makes the container of texts: a list, or a tuple where `zip` has transposed the samples.
fn collate(
    batch: Vec<Value>,
    method: CombineMethod,
    group: fn(Vec<Value>) -> Value,
) -> Result<Value, LoaderError> {
    let Some(first) = batch.first() else {
        return Err(no_samples());
    };
    match first {
        Value::Tensor(_) => method.tensors(&batch),
        Value::Array(array) if array.is_text_or_object() => Err(cannot_collate(array.dtype())),
        Value::Array(_) => {
            let tensors = batch.into_iter().map(convert::as_tensor);
            let tensors = tensors.collect::<Result<Vec<_>, _>>()?;
            method.tensors(&tensors)
        }
        Value::Float(_) => numbers::floats(&batch).map(Value::Tensor),
        Value::Int(_)
        | Value::BigInt(_)
        | Value::Bool(_)
        | Value::Scalar(NumpyScalar::Number(_)) => numbers::inferred(&batch).map(Value::Tensor),
        Value::Str(_)
        | Value::Bytes(_)
        | Value::Scalar(NumpyScalar::Str(_) | NumpyScalar::Bytes(_)) => Ok(group(batch)),
        Value::Map(_) => containers::maps(batch, method, collate),
        Value::NamedTuple(_) => containers::named_tuples(batch, method, collate),
        Value::List(_) | Value::Tuple(_) | Value::Sequence(_) => {
            containers::sequences(batch, method, collate)
        }
        // `default_collate` refuses Python's complex numbers too: it handles only `float` and `int`.
        Value::None
        | Value::Complex(..)
        | Value::Other(_)
        | Value::Scalar(NumpyScalar::Other { .. }) => {
            Err(cannot_collate(&format!("<class '{}'>", first.type_name())))
        }
    }
}

/// Returns the error that PyTorch raises for an empty batch.
fn no_samples() -> LoaderError {
    LoaderError::python(ExceptionKind::INDEX_ERROR, "list index out of range")
}

fn cannot_collate(found: &str) -> LoaderError {
    LoaderError::type_error(format!(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {found}"
    ))
}
