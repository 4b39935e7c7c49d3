//! Batches of variable-size samples: one list per field.

use super::no_samples;
use crate::error::{ExceptionKind, LoaderError};
use crate::value::{Key, Mapping, Value};

/// Returns `tuple(zip(*batch))`, or a dict of lists for a batch of dicts.
///
/// Detection models use this collate function, because neither images nor boxes stack. Further samples that are not sequences count as
/// tuples of one element. If the first sample is not a container, the batch is returned as a list.
///
/// # Errors
/// IndexError for no samples, KeyError for a key that a later sample does not have.
pub fn collate_lists(batch: Vec<Value>) -> Result<Value, LoaderError> {
    match batch.first() {
        None => Err(no_samples()),
        Some(Value::Map(_)) => fields(batch),
        Some(Value::Tuple(_) | Value::List(_)) => Ok(zipped(batch)),
        Some(_) => Ok(Value::List(batch)),
    }
}

/// Transposes like `zip`, which ends with the shortest.
fn zipped(batch: Vec<Value>) -> Value {
    let count = batch.len();
    let mut columns: Vec<Vec<Value>> = Vec::new();
    let mut width = None;
    for sample in batch {
        let items = match sample {
            Value::Tuple(items) | Value::List(items) => items,
            other => vec![other],
        };
        let shortest =
            *width.insert(width.map_or(items.len(), |width: usize| width.min(items.len())));
        columns.truncate(shortest);
        columns.resize_with(shortest, || Vec::with_capacity(count));
        for (column, item) in columns.iter_mut().zip(items) {
            column.push(item);
        }
    }
    Value::Tuple(columns.into_iter().map(Value::Tuple).collect())
}

fn fields(batch: Vec<Value>) -> Result<Value, LoaderError> {
    let keys: Vec<Key> = match batch.first() {
        Some(Value::Map(first)) => first.entries.iter().map(|(key, _)| key.clone()).collect(),
        _ => Vec::new(),
    };
    let mut columns: Vec<Vec<Value>> = keys
        .iter()
        .map(|_| Vec::with_capacity(batch.len()))
        .collect();
    for sample in batch {
        let Value::Map(Mapping { mut entries, .. }) = sample else {
            return Err(LoaderError::type_error(format!(
                "'{}' object is not subscriptable",
                sample.type_name()
            )));
        };
        for (key, column) in keys.iter().zip(&mut columns) {
            let found = entries.iter_mut().find(|(own, _)| own == key);
            let (_, value) = found
                .ok_or_else(|| LoaderError::python(ExceptionKind::KEY_ERROR, key.to_string()))?;
            column.push(std::mem::replace(value, Value::None));
        }
    }
    Ok(Value::dict(
        keys.into_iter().zip(columns.into_iter().map(Value::List)),
    ))
}
