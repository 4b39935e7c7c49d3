//! Python's mappings, such as `dict` and `OrderedDict`.

use std::sync::Arc;

use super::{Key, Mapping, Value};

impl Mapping {
    /// Creates a mapping of the type `name`.
    pub fn new(name: impl Into<Arc<str>>, entries: Vec<(Key, Value)>) -> Self {
        Self {
            name: name.into(),
            entries,
        }
    }

    /// Returns `mapping[key]`, or `None` if the key is missing.
    pub fn get(&self, key: &Key) -> Option<&Value> {
        self.entries
            .iter()
            .find(|(at, _)| at == key)
            .map(|(_, value)| value)
    }

    /// Returns the mapping with other values.
    pub(crate) fn map<E>(self, mut f: impl FnMut(Value) -> Result<Value, E>) -> Result<Self, E> {
        let entries = self.entries.into_iter();
        Ok(Self {
            name: self.name,
            entries: entries
                .map(|(key, value)| Ok((key, f(value)?)))
                .collect::<Result<_, E>>()?,
        })
    }
}

/// Element of an iteration over a mapping.
impl From<Key> for Value {
    fn from(key: Key) -> Self {
        match key {
            Key::Str(text) => Self::Str(text.as_ref().to_owned()),
            Key::Int(v) => Self::Int(v),
            Key::Bool(v) => Self::Bool(v),
            Key::None => Self::None,
            Key::Tuple(items) => Self::Tuple(items.into_iter().map(Self::from).collect()),
        }
    }
}
