//! JSON documents as cells.

use serde_json::Value;

use crate::cell::Cell;

/// A document; `None`: it is not JSON, or nested deeper than is read.
pub(super) fn document(text: &str) -> Option<Cell> {
    serde_json::from_str(text).ok().map(cell)
}

fn cell(value: Value) -> Cell {
    match value {
        Value::Null => Cell::Null,
        Value::Bool(value) => Cell::Bool(value),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Cell::Int(number),
            (None, Some(number)) => Cell::BigInt(number.into()),
            (None, None) => Cell::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => text.into(),
        Value::Array(items) => Cell::List(items.into_iter().map(cell).collect()),
        Value::Object(fields) => {
            let fields = fields
                .into_iter()
                .map(|(key, value)| (key.into(), cell(value)));
            Cell::Map(fields.collect())
        }
    }
}
