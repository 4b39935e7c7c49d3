//! `torch.utils.data.default_collate` and `default_convert`: how samples become a batch.

mod numbers;
mod stack;

use crate::error::{EngineError, ExceptionKind};
use crate::value::{NamedTuple, Value};

/// Where a batch is put together. PyTorch's worker processes write into shared memory of a fixed size and type, which
/// shows when the tensors of a batch differ in dtype or shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollateSite {
    /// In the consumer's thread (`num_workers=0`): dtypes are promoted.
    Main,
    /// In a worker: the first sample's dtype is kept.
    Worker,
}

/// PyTorch's `default_collate`: stacks tensors and numbers on a new first dimension and goes into containers. The first
/// sample decides how; tuples become lists.
///
/// # Errors
/// What PyTorch raises: TypeError for what cannot be collated, RuntimeError for shapes and lengths that differ,
/// KeyError for a key that is missing in a later sample, IndexError for no samples.
pub fn default_collate(batch: Vec<Value>, site: CollateSite) -> Result<Value, EngineError> {
    collate(batch, site, Value::List)
}

/// PyTorch's `default_convert`, which loaders without batches apply to each sample: tuples become lists, all else is
/// kept.
pub fn default_convert(value: Value) -> Value {
    let all = |items: Vec<Value>| items.into_iter().map(default_convert).collect();
    match value {
        Value::List(items) | Value::Tuple(items) => Value::List(all(items)),
        Value::Map(entries) => Value::Map(
            entries
                .into_iter()
                .map(|(key, value)| (key, default_convert(value)))
                .collect(),
        ),
        Value::NamedTuple(tuple) => Value::NamedTuple(NamedTuple {
            items: all(tuple.items),
            ..tuple
        }),
        other => other,
    }
}

/// `group` makes the container of texts: a list, but a tuple where `zip` has transposed the samples.
fn collate(
    batch: Vec<Value>,
    site: CollateSite,
    group: fn(Vec<Value>) -> Value,
) -> Result<Value, EngineError> {
    let Some(first) = batch.first() else {
        return Err(EngineError::python(
            ExceptionKind::INDEX_ERROR,
            "list index out of range",
        ));
    };
    match first {
        Value::Tensor(_) => stack::tensors(&batch, site).map(Value::Tensor),
        Value::Float(_) => numbers::floats(&batch).map(Value::Tensor),
        Value::Int(_) | Value::Bool(_) => numbers::inferred(&batch).map(Value::Tensor),
        Value::Str(_) | Value::Bytes(_) => Ok(group(batch)),
        Value::Map(_) => maps(batch, site),
        Value::NamedTuple(_) => named_tuples(batch, site),
        Value::List(_) | Value::Tuple(_) => sequences(batch, site),
        Value::None => Err(EngineError::type_error(format!(
            "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; \
             found <class '{}'>",
            first.type_name()
        ))),
    }
}

/// The keys and their order are the first sample's; keys that only later samples have are ignored.
fn maps(batch: Vec<Value>, site: CollateSite) -> Result<Value, EngineError> {
    let keys: Vec<String> = match batch.first() {
        Some(Value::Map(entries)) => entries.iter().map(|(key, _)| key.clone()).collect(),
        _ => Vec::new(),
    };
    let size = batch.len();
    let mut columns: Vec<Vec<Value>> = keys.iter().map(|_| Vec::with_capacity(size)).collect();
    for sample in batch {
        let mut entries = match sample {
            Value::Map(entries) => entries,
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
                    return Err(EngineError::python(
                        ExceptionKind::KEY_ERROR,
                        format!("'{key}'"),
                    ));
                }
            }
        }
    }
    keys.into_iter()
        .zip(columns)
        .map(|(key, column)| Ok((key, collate(column, site, Value::List)?)))
        .collect::<Result<_, _>>()
        .map(Value::Map)
}

fn not_a_mapping(value: &Value) -> EngineError {
    let name = value.type_name();
    EngineError::type_error(match value {
        Value::List(_) | Value::Tuple(_) => {
            format!("{name} indices must be integers or slices, not str")
        }
        Value::NamedTuple(_) => "tuple indices must be integers or slices, not str".to_owned(),
        Value::Str(_) => "string indices must be integers, not 'str'".to_owned(),
        Value::Bytes(_) => "byte indices must be integers or slices, not str".to_owned(),
        _ => format!("'{name}' object is not subscriptable"),
    })
}

/// The type and field names are the first sample's. PyTorch does not check lengths here: `zip` stops at the shortest.
fn named_tuples(batch: Vec<Value>, site: CollateSite) -> Result<Value, EngineError> {
    let Some(Value::NamedTuple(first)) = batch.first() else {
        return sequences(batch, site);
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
        items: transposed(rows, shortest, site)?,
    }))
}

fn sequences(batch: Vec<Value>, site: CollateSite) -> Result<Value, EngineError> {
    let rows: Vec<Vec<Value>> = batch.into_iter().map(elements).collect::<Result<_, _>>()?;
    let width = rows.first().map_or(0, Vec::len);
    if rows.iter().any(|row| row.len() != width) {
        return Err(EngineError::runtime(
            "each element in list of batch should be of equal size",
        ));
    }
    transposed(rows, width, site).map(Value::List)
}

/// `[collate(samples) for samples in zip(*batch)]` over the first `width` elements of each row.
fn transposed(
    rows: Vec<Vec<Value>>,
    width: usize,
    site: CollateSite,
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
        .map(|column| collate(column, site, Value::Tuple))
        .collect()
}

/// What iterating over a value gives in Python.
fn elements(value: Value) -> Result<Vec<Value>, EngineError> {
    Ok(match value {
        Value::List(items) | Value::Tuple(items) => items,
        Value::NamedTuple(tuple) => tuple.items,
        Value::Str(text) => text.chars().map(|c| Value::Str(c.to_string())).collect(),
        Value::Bytes(bytes) => bytes.into_iter().map(|b| Value::Int(b.into())).collect(),
        Value::Map(entries) => entries
            .into_iter()
            .map(|(key, _)| Value::Str(key))
            .collect(),
        Value::Tensor(tensor) if tensor.defined() && tensor.dim() > 0 => tensor
            .f_unbind(0)
            .map_err(|e| EngineError::torch("take a tensor apart", &e))?
            .into_iter()
            .map(Value::Tensor)
            .collect(),
        Value::Tensor(_) => return Err(EngineError::type_error("len() of a 0-d tensor")),
        other => {
            return Err(EngineError::type_error(format!(
                "object of type '{}' has no len()",
                other.type_name()
            )));
        }
    })
}

#[cfg(test)]
mod tests;
