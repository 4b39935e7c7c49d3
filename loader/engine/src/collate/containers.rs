//! Batches of containers: maps, named tuples, sequences.

use loadscope_words::say;
use tch::Tensor;

use super::Manner;
use crate::error::{EngineError, ExceptionKind};
use crate::value::{Key, Mapping, NamedTuple, NdArray, NumpyScalar, Sequence, Value, torch_error};

/// Puts together what the containers hold; the last argument makes the container of texts.
type Collate = fn(Vec<Value>, Manner, fn(Vec<Value>) -> Value) -> Result<Value, EngineError>;

/// The keys and their order are the first sample's; keys that only later samples have are ignored.
pub(super) fn maps(
    batch: Vec<Value>,
    manner: Manner,
    collate: Collate,
) -> Result<Value, EngineError> {
    let (name, keys): (_, Vec<Key>) = match batch.first() {
        Some(Value::Map(first)) => (
            first.name.clone(),
            first.entries.iter().map(|(key, _)| key.clone()).collect(),
        ),
        _ => ("dict".into(), Vec::new()),
    };
    let size = batch.len();
    let mut columns: Vec<Vec<Value>> = keys.iter().map(|_| Vec::with_capacity(size)).collect();
    for sample in batch {
        let mut entries = match sample {
            Value::Map(mapping) => mapping.entries,
            _ if keys.is_empty() => continue,
            other => return Err(not_a_mapping(&other)),
        };
        for (position, (key, column)) in keys.iter().zip(&mut columns).enumerate() {
            // Nearly always the keys come in the same order, so look there first.
            let found = match entries.get(position) {
                Some((at, _)) if at == key => Some(position),
                _ => entries.iter().position(|(at, _)| at == key),
            };
            match found.and_then(|found| entries.get_mut(found)) {
                Some((_, value)) => column.push(std::mem::replace(value, Value::None)),
                None => {
                    let text = key.to_string();
                    return Err(EngineError::python(ExceptionKind::KEY_ERROR, text));
                }
            }
        }
    }
    let entries = keys
        .into_iter()
        .zip(columns)
        .map(|(key, column)| Ok((key, collate(column, manner, Value::List)?)))
        .collect::<Result<_, EngineError>>()?;
    Ok(Mapping { name, entries }.into())
}

fn not_a_mapping(value: &Value) -> EngineError {
    let name = value.type_name();
    EngineError::type_error(match value {
        Value::List(_) | Value::Tuple(_) | Value::Sequence(_) => {
            format!("{name} indices must be integers or slices, not str")
        }
        Value::NamedTuple(_) => "tuple indices must be integers or slices, not str".to_owned(),
        Value::Str(_) => "string indices must be integers, not 'str'".to_owned(),
        Value::Bytes(_) => "byte indices must be integers or slices, not str".to_owned(),
        _ => format!("'{name}' object is not subscriptable"),
    })
}

/// The type and field names are the first sample's. PyTorch does not check lengths here: `zip` stops at the shortest.
pub(super) fn named_tuples(
    batch: Vec<Value>,
    manner: Manner,
    collate: Collate,
) -> Result<Value, EngineError> {
    let Some(Value::NamedTuple(first)) = batch.first() else {
        return sequences(batch, manner, collate);
    };
    let (name, fields) = (first.name.clone(), first.fields.clone());
    let rows: Vec<Vec<Value>> = batch.into_iter().map(elements).collect::<Result<_, _>>()?;
    let shortest = rows.iter().map(Vec::len).min().unwrap_or(0);
    if shortest < fields.len() {
        return Err(EngineError::type_error(format!(
            "{name}.__new__() missing {} required positional arguments",
            fields.len() - shortest
        )));
    }
    Ok(Value::NamedTuple(NamedTuple {
        name,
        fields,
        items: transposed(rows, shortest, manner, collate)?,
    }))
}

pub(super) fn sequences(
    batch: Vec<Value>,
    manner: Manner,
    collate: Collate,
) -> Result<Value, EngineError> {
    let kept = match batch.first() {
        Some(Value::Sequence(first)) if first.keeps_type => Some(first.name.clone()),
        _ => None,
    };
    let rows: Vec<Vec<Value>> = batch.into_iter().map(elements).collect::<Result<_, _>>()?;
    let width = rows.first().map_or(0, Vec::len);
    if rows.iter().any(|row| row.len() != width) {
        return Err(EngineError::runtime(
            "each element in list of batch should be of equal size",
        ));
    }
    let items = transposed(rows, width, manner, collate)?;
    Ok(match kept {
        Some(name) => Value::Sequence(Sequence {
            name,
            keeps_type: true,
            items,
        }),
        None => Value::List(items),
    })
}

/// `[collate(samples) for samples in zip(*batch)]` over the first `width` elements of each row.
fn transposed(
    rows: Vec<Vec<Value>>,
    width: usize,
    manner: Manner,
    collate: Collate,
) -> Result<Vec<Value>, EngineError> {
    let size = rows.len();
    let mut columns: Vec<Vec<Value>> = (0..width).map(|_| Vec::with_capacity(size)).collect();
    for row in rows {
        for (column, value) in columns.iter_mut().zip(row) {
            column.push(value);
        }
    }
    columns
        .into_iter()
        .map(|column| collate(column, manner, Value::Tuple))
        .collect()
}

/// What iterating over a value gives in Python.
fn elements(value: Value) -> Result<Vec<Value>, EngineError> {
    Ok(match value {
        Value::List(items) | Value::Tuple(items) => items,
        Value::NamedTuple(tuple) => tuple.items,
        Value::Str(text) => text.chars().map(|c| Value::Str(c.to_string())).collect(),
        Value::Bytes(bytes) => bytes.into_iter().map(|b| Value::Int(b.into())).collect(),
        Value::Sequence(sequence) => sequence.items,
        Value::Map(mapping) => (mapping.entries.into_iter())
            .map(|(key, _)| Value::from(key))
            .collect(),
        Value::Tensor(tensor) if tensor.defined() && tensor.dim() > 0 => {
            rows_of(&tensor)?.into_iter().map(Value::Tensor).collect()
        }
        Value::Tensor(_) => return Err(EngineError::type_error("len() of a 0-d tensor")),
        Value::Array(NdArray::Numbers(array)) if array.defined() && array.dim() > 1 => {
            let rows = rows_of(&array)?.into_iter().map(NdArray::Numbers);
            rows.map(Value::Array).collect()
        }
        Value::Array(NdArray::Numbers(array)) if array.defined() && array.dim() == 1 => {
            let numbers = rows_of(&array)?.into_iter().map(NumpyScalar::Number);
            numbers.map(Value::Scalar).collect()
        }
        Value::Array(NdArray::Other { shape, items, .. }) if shape.len() == 1 => items,
        Value::Array(array) if array.shape().is_empty() => {
            return Err(EngineError::type_error("len() of unsized object"));
        }
        other => {
            return Err(EngineError::type_error(format!(
                "object of type '{}' has no len()",
                other.type_name()
            )));
        }
    })
}

fn rows_of(tensor: &Tensor) -> Result<Vec<Tensor>, EngineError> {
    tensor
        .f_unbind(0)
        .map_err(|e| torch_error(say!("take a tensor apart"), &e))
}
