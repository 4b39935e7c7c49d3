//! Keys and classes of the rows.

use std::collections::BTreeMap;
use std::sync::Arc;

use loadscope_words::say;

use super::columns::Raw;
use crate::cell::Cell;
use crate::error::{Fault, FormatError, Place};

/// Maximum number of keys, 2 GiB of integers.
const MOST: usize = 1 << 28;
/// Maximum size of text keys, bytes.
const MOST_BYTES: usize = 1 << 31;

/// Keys of all rows, in the order of the query.
#[derive(Clone, Debug)]
pub(super) enum Keys {
    Ints(Vec<i64>),
    Texts(Vec<Box<str>>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key<'a> {
    Int(i64),
    Text(&'a str),
}

impl<'a> Key<'a> {
    pub(super) fn int(self) -> Option<i64> {
        match self {
            Self::Int(key) => Some(key),
            Self::Text(_) => None,
        }
    }

    pub(super) fn text(self) -> Option<&'a str> {
        match self {
            Self::Text(key) => Some(key),
            Self::Int(_) => None,
        }
    }
}

impl Keys {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Ints(keys) => keys.len(),
            Self::Texts(keys) => keys.len(),
        }
    }

    pub(super) fn get(&self, index: usize) -> Option<Key<'_>> {
        match self {
            Self::Ints(keys) => keys.get(index).map(|key| Key::Int(*key)),
            Self::Texts(keys) => keys.get(index).map(|key| Key::Text(key)),
        }
    }
}

/// Keys and labels during reading.
pub(super) struct KeysBuilder {
    place: Place,
    keys: Keys,
    bytes: usize,
    label: Option<String>,
    numbers: Vec<i64>,
    names: Vec<u32>,
    classes: BTreeMap<Arc<str>, u32>,
}

/// Keys and labels after reading.
pub(super) struct LoadedKeys {
    pub(super) keys: Keys,
    /// Class of each row.
    pub(super) labels: Option<Vec<u32>>,
    /// Names of the classes, if labels are names.
    pub(super) classes: Vec<String>,
}

impl KeysBuilder {
    /// Creates an empty list. `source` is the database, `index` the key column and `label` the class column.
    pub(super) fn new(source: &str, index: &str, label: Option<&str>) -> Self {
        Self {
            place: Place::named(source).key(index),
            keys: Keys::Ints(Vec::new()),
            bytes: 0,
            label: label.map(str::to_owned),
            numbers: Vec::new(),
            names: Vec::new(),
            classes: BTreeMap::new(),
        }
    }

    fn fail(&self, fault: Fault, reason: impl Into<String>, remedy: &str) -> FormatError {
        let place = (*self.place_of_row()).clone();
        FormatError::new(fault, place, reason, remedy)
    }

    fn place_of_row(&self) -> Box<Place> {
        Box::new(self.place.clone().row(self.keys.len() as u64))
    }

    /// Adds the next key.
    ///
    /// # Errors
    /// If the key is neither an integer nor a text, has another type than earlier keys, or exceeds the limits.
    pub(super) fn key(&mut self, raw: &Raw<'_>) -> Result<(), FormatError> {
        if self.keys.len() >= MOST || self.bytes >= MOST_BYTES {
            return Err(self.fail(
                Fault::TooLarge,
                say!(
                    "the query has more than {} rows to index by key",
                    self.keys.len()
                ),
                say!("Leave index= out to stream them, or choose fewer rows in the query"),
            ));
        }
        if let (Keys::Ints(ints), Raw::Text(_)) = (&self.keys, raw)
            && ints.is_empty()
        {
            self.keys = Keys::Texts(Vec::new());
        }
        match (&mut self.keys, raw) {
            (Keys::Ints(keys), Raw::Int(key)) => keys.push(*key),
            (Keys::Texts(keys), Raw::Text(key)) => {
                self.bytes += key.len() + size_of::<Box<str>>();
                keys.push((*key).into());
            }
            (_, Raw::Cell(Cell::Null)) => {
                return Err(self.fail(
                    Fault::WrongType,
                    say!("a key is null"),
                    say!(
                        "Add WHERE … IS NOT NULL to the query, or choose another column for index="
                    ),
                ));
            }
            _ => {
                return Err(self.fail(
                    Fault::WrongType,
                    say!("keys must all be integers or all be texts"),
                    say!("Choose another column for index="),
                ));
            }
        }
        Ok(())
    }

    /// Adds the label of the same row.
    pub(super) fn label(&mut self, raw: &Raw<'_>) {
        match raw {
            Raw::Int(number) => self.numbers.push(*number),
            Raw::Text(name) => {
                let next = self.classes.len() as u32;
                let number = match self.classes.get(*name) {
                    Some(number) => *number,
                    None => {
                        self.classes.insert((*name).into(), next);
                        next
                    }
                };
                self.names.push(number);
            }
            _ => self.label = None,
        }
    }

    /// Returns the keys and labels.
    ///
    /// # Errors
    /// If the query has no rows, or two rows have the same key.
    pub(super) fn finish(mut self) -> Result<LoadedKeys, FormatError> {
        let rows = self.keys.len();
        if rows == 0 {
            let place = Place {
                key: None,
                ..self.place
            };
            bail!(Damaged, place, say!("the query has no rows");
                say!("Check the table and the conditions of the query"));
        }
        if let Some(twice) = self.duplicate_key() {
            bail!(InvalidOption, self.place, say!("two rows have the key {twice}");
                say!("Choose a column for index= whose values differ from each other"));
        }
        let (labels, classes) = match &self.label {
            Some(_) if self.numbers.len() == rows => {
                let numbers = self.numbers.iter().map(|&n| u32::try_from(n).ok());
                (numbers.collect(), Vec::new())
            }
            Some(_) if self.names.len() == rows => {
                // Classes are numbered in the order of their names, as in a folder of classes.
                let mut order = vec![0; self.classes.len()];
                for (to, from) in (0..).zip(self.classes.values()) {
                    if let Some(slot) = order.get_mut(*from as usize) {
                        *slot = to;
                    }
                }
                for name in &mut self.names {
                    *name = order.get(*name as usize).copied().unwrap_or(*name);
                }
                let classes = self.classes.keys().map(|name| name.to_string());
                (Some(self.names), classes.collect())
            }
            _ => (None, Vec::new()),
        };
        Ok(LoadedKeys {
            keys: self.keys,
            labels,
            classes,
        })
    }

    /// Returns a repeated key.
    fn duplicate_key(&self) -> Option<String> {
        fn find<T: Ord>(keys: &[T]) -> Option<&T> {
            if keys.is_sorted_by(|a, b| a < b) {
                return None;
            }
            let mut sorted: Vec<&T> = keys.iter().collect();
            sorted.sort_unstable();
            let mut pairs = sorted.windows(2);
            pairs.find_map(|pair| match pair {
                [a, b] if a == b => Some(*a),
                _ => None,
            })
        }
        match &self.keys {
            Keys::Ints(keys) => find(keys).map(ToString::to_string),
            Keys::Texts(keys) => find(keys).map(|key| format!("{key:?}")),
        }
    }
}
