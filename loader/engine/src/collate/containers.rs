//! Batches of containers: maps, named tuples, sequences.

use loadscope_words::say;
use tch::Tensor;

use super::CombineMethod;
use crate::error::{ExceptionKind, LoaderError};
use crate::value::{Key, Mapping, NamedTuple, NdArray, NumpyScalar, Sequence, Value, torch_error};

/// Collates the elements of containers. The last argument makes the container of texts.
type Collate = fn(Vec<Value>, CombineMethod, fn(Vec<Value>) -> Value) -> Result<Value, LoaderError>;

/// Collates maps. Keys and their order are those of the first sample. Additional keys of later samples are ignored.
pub(super) fn maps(
    batch: Vec<Value>,
    method: CombineMethod,
    collate: Collate,
) -> Result<Value, LoaderError> {
    let (name, keys): (_, Vec<Key>) = match batch.first() {
        Some(Value::Map(first)) => (
            first.name.clone(),
            first.entries.iter().map(|(key, _)| key.clone()).collect(),
        ),
        _ => ("dict".into(), Vec::new()),
    };
    let size = batch.len();
    let mut columns: Vec<Vec<Value>> = keys.iter().map(|_| Vec::with_capacity(size)).collect();
    // PyTorch collates key by key. The keys before the first failed look-up are collated, and their errors come first.
    let mut failed: Option<(usize, LoaderError)> = None;
    for sample in batch {
        let mut entries = match (sample, keys.first()) {
            (Value::Map(mapping), _) => mapping.entries,
            (_, None) => continue,
            (other, Some(key)) => {
                if failed.as_ref().is_none_or(|(before, _)| *before > 0) {
                    failed = Some((0, key_error(&other, key)));
                }
                continue;
            }
        };
        for (position, (key, column)) in keys.iter().zip(&mut columns).enumerate() {
            // The keys nearly always have the same order, so this position is checked first.
            let found = match entries.get(position) {
                Some((at, _)) if at == key => Some(position),
                _ => entries.iter().position(|(at, _)| at == key),
            };
            match found.and_then(|found| entries.get_mut(found)) {
                Some((_, value)) => column.push(std::mem::replace(value, Value::None)),
                None => {
                    if failed.as_ref().is_none_or(|(before, _)| *before > position) {
                        let error = LoaderError::python(ExceptionKind::KEY_ERROR, key.to_string());
                        failed = Some((position, error));
                    }
                    break;
                }
            }
        }
    }
    let known = failed.as_ref().map_or(columns.len(), |(first, _)| *first);
    let entries = keys
        .into_iter()
        .zip(columns)
        .take(known)
        .map(|(key, column)| Ok((key, collate(column, method, Value::List)?)))
        .collect::<Result<_, LoaderError>>()?;
    match failed {
        Some((_, error)) => Err(error),
        None => Ok(Mapping { name, entries }.into()),
    }
}

/// Returns the error of `value[key]` for a value that is not a mapping.
fn key_error(value: &Value, key: &Key) -> LoaderError {
    let index_error = |text: String| LoaderError::python(ExceptionKind::INDEX_ERROR, text);
    match (value, key) {
        (Value::Tensor(tensor), Key::Str(text)) if tensor.defined() => {
            // PyTorch reads a short text as one index per character.
            let count = text.chars().count();
            let indices = if count < 32 { count } else { 1 };
            match tensor.dim() < indices {
                true => index_error(format!(
                    "too many indices for tensor of dimension {}",
                    tensor.dim()
                )),
                false => LoaderError::type_error("new(): invalid data type 'str'"),
            }
        }
        (Value::Array(_), _) => index_error(
            "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid \
             indices"
                .to_owned(),
        ),
        (Value::Scalar(NumpyScalar::Number(_) | NumpyScalar::Other { .. }), _) => {
            index_error("invalid index to scalar variable.".to_owned())
        }
        _ => not_a_mapping(value),
    }
}

fn not_a_mapping(value: &Value) -> LoaderError {
    let name = value.type_name();
    LoaderError::type_error(match value {
        Value::List(_) | Value::Tuple(_) | Value::Sequence(_) => {
            format!("{name} indices must be integers or slices, not str")
        }
        Value::NamedTuple(_) => "tuple indices must be integers or slices, not str".to_owned(),
        Value::Str(_) | Value::Scalar(NumpyScalar::Str(_)) => {
            "string indices must be integers, not 'str'".to_owned()
        }
        Value::Bytes(_) | Value::Scalar(NumpyScalar::Bytes(_)) => {
            "byte indices must be integers or slices, not str".to_owned()
        }
        _ => format!("'{name}' object is not subscriptable"),
    })
}

/// Collates named tuples. The type and field names are those of the first sample.
///
/// PyTorch does not check lengths here: `zip` stops at the shortest.
pub(super) fn named_tuples(
    batch: Vec<Value>,
    method: CombineMethod,
    collate: Collate,
) -> Result<Value, LoaderError> {
    let Some(Value::NamedTuple(first)) = batch.first() else {
        return sequences(batch, method, collate);
    };
    let (name, fields) = (first.name.clone(), first.fields.clone());
    let rows = batch
        .into_iter()
        .map(|value| elements(value, SequenceOperation::Iter));
    let rows: Vec<Vec<Value>> = rows.collect::<Result<_, _>>()?;
    let shortest = rows.iter().map(Vec::len).min().unwrap_or(0);
    let items = transposed(rows, shortest, method, collate)?;
    match fields.get(shortest..) {
        Some([]) | None => {}
        Some(missing) => return Err(missing_arguments(&name, missing)),
    }
    Ok(Value::NamedTuple(NamedTuple {
        name,
        fields,
        items,
    }))
}

/// Returns Python's error for a call without these arguments.
fn missing_arguments(name: &str, fields: &[String]) -> LoaderError {
    let quoted: Vec<String> = fields.iter().map(|field| format!("'{field}'")).collect();
    let (count, listed) = match &quoted[..] {
        [one] => ("1 required positional argument".to_owned(), one.clone()),
        [a, b] => (
            "2 required positional arguments".to_owned(),
            format!("{a} and {b}"),
        ),
        many => {
            let (last, before) = many
                .split_last()
                .map_or(("", many), |(l, b)| (l.as_str(), b));
            (
                format!("{} required positional arguments", many.len()),
                format!("{}, and {last}", before.join(", ")),
            )
        }
    };
    LoaderError::type_error(format!("{name}.__new__() missing {count}: {listed}"))
}

pub(super) fn sequences(
    batch: Vec<Value>,
    method: CombineMethod,
    collate: Collate,
) -> Result<Value, LoaderError> {
    let kept = match batch.first() {
        Some(Value::Sequence(first)) if first.keeps_type => Some(first.name.clone()),
        _ => None,
    };
    let mut rows: Vec<Vec<Value>> = Vec::with_capacity(batch.len());
    for value in batch {
        let row = elements(value, SequenceOperation::Len)?;
        if rows.first().is_some_and(|first| first.len() != row.len()) {
            return Err(LoaderError::runtime(
                "each element in list of batch should be of equal size",
            ));
        }
        rows.push(row);
    }
    let width = rows.first().map_or(0, Vec::len);
    let items = transposed(rows, width, method, collate)?;
    Ok(match kept {
        Some(name) => Value::Sequence(Sequence {
            name,
            keeps_type: true,
            items,
        }),
        None => Value::List(items),
    })
}

/// Returns `[collate(samples) for samples in zip(*batch)]` over the first `width` elements of each row.
fn transposed(
    rows: Vec<Vec<Value>>,
    width: usize,
    method: CombineMethod,
    collate: Collate,
) -> Result<Vec<Value>, LoaderError> {
    let size = rows.len();
    let mut columns: Vec<Vec<Value>> = (0..width).map(|_| Vec::with_capacity(size)).collect();
    for row in rows {
        for (column, value) in columns.iter_mut().zip(row) {
            column.push(value);
        }
    }
    columns
        .into_iter()
        .map(|column| collate(column, method, Value::Tuple))
        .collect()
}

/// First operation that Python applies to a value, which determines the error of a value without elements.
#[derive(Clone, Copy)]
pub(super) enum SequenceOperation {
    /// `iter(value)`
    Iter,
    /// `len(value)`
    Len,
}

/// Returns the elements over which Python iterates.
pub(super) fn elements(
    value: Value,
    operation: SequenceOperation,
) -> Result<Vec<Value>, LoaderError> {
    let none = |items: &str, length: &str| {
        LoaderError::type_error(match operation {
            SequenceOperation::Iter => items,
            SequenceOperation::Len => length,
        })
    };
    Ok(match value {
        Value::List(items) | Value::Tuple(items) => items,
        Value::NamedTuple(tuple) => tuple.items,
        Value::Str(text) | Value::Scalar(NumpyScalar::Str(text)) => {
            text.chars().map(|c| Value::Str(c.to_string())).collect()
        }
        Value::Bytes(bytes) | Value::Scalar(NumpyScalar::Bytes(bytes)) => {
            bytes.into_iter().map(|b| Value::Int(b.into())).collect()
        }
        Value::Sequence(sequence) => sequence.items,
        Value::Map(mapping) => (mapping.entries.into_iter())
            .map(|(key, _)| Value::from(key))
            .collect(),
        Value::Tensor(tensor) if tensor.defined() && tensor.dim() > 0 => {
            rows_of(&tensor)?.into_iter().map(Value::Tensor).collect()
        }
        Value::Tensor(_) => {
            return Err(none("iteration over a 0-d tensor", "len() of a 0-d tensor"));
        }
        Value::Array(NdArray::Numbers(array)) if array.defined() && array.dim() > 1 => {
            let rows = rows_of(&array)?.into_iter().map(NdArray::Numbers);
            rows.map(Value::Array).collect()
        }
        Value::Array(NdArray::Numbers(array)) if array.defined() && array.dim() == 1 => {
            let numbers = rows_of(&array)?.into_iter().map(NumpyScalar::Number);
            numbers.map(Value::Scalar).collect()
        }
        Value::Array(NdArray::Other {
            shape,
            items,
            dtype,
        }) if shape.len() == 1 => {
            let item = |item| match item {
                Value::Str(text) if &*dtype != "object" => NumpyScalar::Str(text).into(),
                Value::Bytes(bytes) if &*dtype != "object" => NumpyScalar::Bytes(bytes).into(),
                other => other,
            };
            items.into_iter().map(item).collect()
        }
        Value::Array(array) if array.shape().is_empty() => {
            return Err(none(
                "iteration over a 0-d array",
                "len() of unsized object",
            ));
        }
        other => {
            let name = other.type_name();
            return Err(none(
                &format!("'{name}' object is not iterable"),
                &format!("object of type '{name}' has no len()"),
            ));
        }
    })
}

fn rows_of(tensor: &Tensor) -> Result<Vec<Tensor>, LoaderError> {
    tensor
        .f_unbind(0)
        .map_err(|e| torch_error(say!("unbind a tensor"), &e))
}
