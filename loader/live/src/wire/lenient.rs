//! Lenient deserialization: an invalid field counts as missing and does not invalidate the other fields.

use std::fmt;

use serde::de::{Deserialize, DeserializeOwned, Deserializer, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Maximum number of class names.
const MOST_NAMES: usize = 10_000;

/// Deserializes a field. Returns its default if it is null or invalid.
pub(super) fn field<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    Ok(maybe(from)?.unwrap_or_default())
}

/// Deserializes an optional field. Returns `None` if it is null or invalid.
pub(super) fn maybe<'de, D, T>(from: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let value = <&RawValue>::deserialize(from)?;
    Ok(serde_json::from_str(value.get()).ok())
}

/// Deserializes a list of names. A non-text entry becomes an empty name, so the others keep their positions.
pub(super) fn names<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    Ok(field::<D, Names>(from)?.0)
}

#[derive(Default)]
struct Names(Vec<String>);

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(NamesVisitor).map(Self)
    }
}

struct NamesVisitor;

impl<'de> Visitor<'de> for NamesVisitor {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("names")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Self::Value, A::Error> {
        let mut names = Vec::new();
        while let Some(value) = parts.next_element::<&RawValue>()? {
            if names.len() < MOST_NAMES {
                names.push(serde_json::from_str(value.get()).unwrap_or_default());
            }
        }
        Ok(names)
    }
}
