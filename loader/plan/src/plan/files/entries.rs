//! Content of JSON files for samplers, with a limited number of entries.

use std::fmt;
use std::marker::PhantomData;

use loadscope_words::say;
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::limits::{too_many, too_many_classes};
use crate::limits::{CLASSES, SAMPLER_ENTRIES};

/// List of numbers.
pub(super) struct Numbers<T>(pub Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Numbers<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut left = SAMPLER_ENTRIES;
        let list = List {
            left: &mut left,
            of: PhantomData,
        };
        list.deserialize(deserializer).map(Self)
    }
}

/// Lists of indices from a JSON object, in the order of their names.
pub(super) struct Lists(pub Vec<Vec<usize>>);

impl<'de> Deserialize<'de> for Lists {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(OfLists)
    }
}

struct OfLists;

impl<'de> Visitor<'de> for OfLists {
    type Value = Lists;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(say!("an object with a list of indices for each label"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Lists, A::Error> {
        let mut lists = std::collections::BTreeMap::<String, Vec<usize>>::new();
        let mut left = SAMPLER_ENTRIES;
        while let Some(label) = map.next_key()? {
            let list = List {
                left: &mut left,
                of: PhantomData,
            };
            lists.insert(label, map.next_value_seed(list)?);
            if lists.len() > CLASSES {
                return Err(A::Error::custom(format_args!("it {}", too_many_classes())));
            }
        }
        Ok(Lists(lists.into_values().collect()))
    }
}

/// List that subtracts its entries from the remaining number.
struct List<'a, T> {
    left: &'a mut usize,
    of: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>> DeserializeSeed<'de> for List<'_, T> {
    type Value = Vec<T>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<T>, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for List<'_, T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(say!("a list of numbers"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = list.next_element()? {
            let Some(left) = self.left.checked_sub(1) else {
                return Err(A::Error::custom(format_args!("it {}", too_many("entries"))));
            };
            *self.left = left;
            entries.push(entry);
        }
        Ok(entries)
    }
}
