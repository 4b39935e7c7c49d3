//! Conversion of JSON to cells.

use std::collections::HashMap;
use std::sync::Arc;

use super::scalar::Scalar;
use super::{Json, JsonError};
use crate::cell::Cell;

/// Number of keys from which an object uses a hash table.
const MANY: usize = 16;

/// Returns the value of `json.loads(text)`.
///
/// # Errors
/// If the text is not JSON, or has a value that no cell supports.
pub(crate) fn parse(text: &[u8]) -> Result<Cell, JsonError> {
    let mut json = Json::new(text)?;
    let value = json.value()?;
    json.end()?;
    Ok(value)
}

impl Json<'_> {
    /// Reads a value.
    ///
    /// # Errors
    /// If the value is damaged, or no cell supports it.
    pub(crate) fn value(&mut self) -> Result<Cell, JsonError> {
        Ok(match self.peek() {
            Some(b'{') => self.map()?,
            Some(b'[') => {
                let mut items = Vec::new();
                self.list(|json| {
                    items.push(json.value()?);
                    Ok::<_, JsonError>(())
                })?;
                Cell::List(items)
            }
            Some(b'"') => self.string()?.as_ref().into(),
            _ => match self.scalar()? {
                Scalar::Null => Cell::Null,
                Scalar::Bool(truth) => Cell::Bool(truth),
                Scalar::Number(number) => number.into(),
            },
        })
    }

    /// Reads an object. A repeated key has its last value at its first position, as in Python.
    fn map(&mut self) -> Result<Cell, JsonError> {
        let mut entries: Vec<(Arc<str>, Cell)> = Vec::new();
        let mut places: HashMap<Arc<str>, usize> = HashMap::new();
        self.object(|json, key| {
            let value = json.value()?;
            let known = if entries.len() < MANY {
                entries.iter().position(|(known, _)| **known == *key)
            } else {
                if places.is_empty() {
                    let keys = entries.iter().enumerate();
                    places.extend(keys.map(|(at, (key, _))| (Arc::clone(key), at)));
                }
                places.get(&*key).copied()
            };
            match known.and_then(|at| entries.get_mut(at)) {
                Some(entry) => entry.1 = value,
                None => {
                    let key: Arc<str> = key.as_ref().into();
                    if !places.is_empty() {
                        places.insert(Arc::clone(&key), entries.len());
                    }
                    entries.push((key, value));
                }
            }
            Ok::<_, JsonError>(())
        })?;
        Ok(Cell::Map(entries))
    }
}
