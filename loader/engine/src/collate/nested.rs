//! A tensor from nested sequences, like `torch.as_tensor`.

use loadscope_words::say;
use tch::Tensor;

use super::containers::{SequenceOperation, elements};
use super::numbers;
use crate::error::LoaderError;
use crate::value::{NamedTuple, NdArray, NumpyScalar, Sequence, Value, torch_error};

/// Makes a tensor. The first element of each sequence determines the shape, and all elements determine the dtype.
pub(super) fn tensor(items: Vec<Value>) -> Result<Tensor, LoaderError> {
    let mut sizes = vec![items.len()];
    if let Some(first) = items.first() {
        infer_sizes(first, &mut sizes)?;
    }
    let dtype = numbers::dtype_of_all(&items)?;
    let mut leaves = Vec::new();
    // PyTorch does not check elements if one of the sizes is 0.
    if !sizes.contains(&0) {
        flatten(items, &sizes, 0, &mut leaves)?;
    }
    let sizes: Vec<i64> = sizes.iter().map(|&size| size as i64).collect();
    numbers::tensor_of_dtype(&leaves, dtype)?
        .f_reshape(&sizes)
        .map_err(|e| torch_error(say!("make a tensor of numbers"), &e))
}

/// Adds the lengths of this sequence and of its first elements.
fn infer_sizes(value: &Value, sizes: &mut Vec<usize>) -> Result<(), LoaderError> {
    let items = match value {
        Value::List(items)
        | Value::Tuple(items)
        | Value::Sequence(Sequence { items, .. })
        | Value::NamedTuple(NamedTuple { items, .. }) => {
            sizes.push(items.len());
            items
        }
        Value::Str(text) | Value::Scalar(NumpyScalar::Str(text)) => {
            sizes.push(text.len());
            return match text.is_empty() {
                true => Ok(()),
                // The first character of a text is again a text, without end.
                false => Err(LoaderError::value_error("too many dimensions 'str'")),
            };
        }
        Value::Bytes(bytes) | Value::Scalar(NumpyScalar::Bytes(bytes)) => {
            sizes.push(bytes.len());
            return Ok(());
        }
        Value::Array(array) if array.shape().is_empty() => {
            return Err(LoaderError::type_error("len() of unsized object"));
        }
        Value::Array(array) => {
            let shape = array.shape();
            let until_none = shape.iter().position(|&size| size == 0);
            let seen = until_none.map_or(shape.len(), |none| none + 1);
            let shape = shape.iter().take(seen);
            sizes.extend(shape.filter_map(|&size| usize::try_from(size).ok()));
            match array {
                NdArray::Other { items, .. } => items,
                NdArray::Numbers(_) => return Ok(()),
            }
        }
        _ => return Ok(()),
    };
    items
        .first()
        .map_or(Ok(()), |first| infer_sizes(first, sizes))
}

/// Adds all elements in row-major order.
fn flatten(
    items: Vec<Value>,
    sizes: &[usize],
    dim: usize,
    leaves: &mut Vec<Value>,
) -> Result<(), LoaderError> {
    let Some((expected, inside)) = sizes.split_first() else {
        return Ok(());
    };
    if items.len() != *expected {
        return Err(LoaderError::value_error(format!(
            "expected sequence of length {expected} at dim {dim} (got {})",
            items.len()
        )));
    }
    if inside.is_empty() {
        leaves.extend(items);
        return Ok(());
    }
    for item in items {
        let row = elements(item, SequenceOperation::Iter);
        let row = row.map_err(|_| LoaderError::type_error("not a sequence"))?;
        flatten(row, inside, dim + 1, leaves)?;
    }
    Ok(())
}
