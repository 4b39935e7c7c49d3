//! JSON as cells.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use loadscope_words::say;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::cell::Cell;

/// From so many keys on they are looked up, not compared one by one.
const MANY: usize = 16;

/// The value that a line is.
pub(crate) fn parse(line: &[u8]) -> Result<Cell, serde_json::Error> {
    serde_json::from_slice::<Json>(line).map(|json| json.0)
}

struct Json(Cell);

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Values).map(Json)
    }
}

struct Values;

impl<'de> Visitor<'de> for Values {
    type Value = Cell;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(say!("a JSON value"))
    }

    fn visit_unit<E: Error>(self) -> Result<Cell, E> {
        Ok(Cell::Null)
    }

    fn visit_bool<E: Error>(self, truth: bool) -> Result<Cell, E> {
        Ok(Cell::Bool(truth))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Cell, E> {
        Ok(Cell::Int(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Cell, E> {
        Ok(match i64::try_from(number) {
            Ok(number) => Cell::Int(number),
            Err(_) => Cell::BigInt(i128::from(number)),
        })
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Cell, E> {
        Ok(Cell::Float(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Cell, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Cell, A::Error> {
        let mut list = Vec::new();
        while let Some(Json(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Cell::List(list))
    }

    /// A key that comes twice has the last value, in the first place: as in Python.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Cell, A::Error> {
        let mut entries: Vec<(Arc<str>, Cell)> = Vec::new();
        let mut places: HashMap<Arc<str>, usize> = HashMap::new();
        while let Some(Key(key)) = map.next_key()? {
            let Json(value) = map.next_value()?;
            let known = if entries.len() < MANY {
                entries.iter().position(|(known, _)| *known == key)
            } else {
                if places.is_empty() {
                    let keys = entries.iter().enumerate();
                    places.extend(keys.map(|(at, (key, _))| (Arc::clone(key), at)));
                }
                places.get(&key).copied()
            };
            match known.and_then(|at| entries.get_mut(at)) {
                Some(entry) => entry.1 = value,
                None => {
                    if !places.is_empty() {
                        places.insert(Arc::clone(&key), entries.len());
                    }
                    entries.push((key, value));
                }
            }
        }
        Ok(Cell::Map(entries))
    }
}

struct Key(Arc<str>);

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Arc<str>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(say!("a key"))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Arc<str>, E> {
                Ok(text.into())
            }
        }
        from.deserialize_str(Text).map(Key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_differ_also_where_there_are_many() {
        for count in [2, 15, 16, 17, 200] {
            let text: Vec<String> = (0..2 * count)
                .map(|n| format!("\"k{}\": {n}", n % count))
                .collect();
            let parsed = parse(format!("{{{}}}", text.join(",")).as_bytes()).unwrap();
            let expected = (0..count).map(|n| (format!("k{n}"), Cell::Int((n + count) as i64)));
            assert_eq!(parsed, crate::cell::fields(expected));
        }
    }
}
