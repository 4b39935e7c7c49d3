//! Python's mappings: `dict`, `OrderedDict` and their like.

use std::fmt;
use std::sync::Arc;

use super::Value;

/// A mapping, in order of insertion.
#[derive(Debug)]
pub struct Mapping {
    /// Name of the type: `dict`, `OrderedDict`. Collating keeps it.
    pub name: Arc<str>,
    /// Keys and values. Keys differ from each other.
    pub entries: Vec<(Key, Value)>,
}

impl Mapping {
    /// A mapping of the type `name`.
    pub fn new(name: impl Into<Arc<str>>, entries: Vec<(Key, Value)>) -> Self {
        Self {
            name: name.into(),
            entries,
        }
    }

    /// `mapping[key]`
    pub fn get(&self, key: &Key) -> Option<&Value> {
        self.entries
            .iter()
            .find(|(at, _)| at == key)
            .map(|(_, value)| value)
    }

    /// The same mapping with other values.
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

/// A key of a mapping. As in Python, `True` is the same key as 1.
#[derive(Clone, Debug)]
pub enum Key {
    /// `str`
    Str(Arc<str>),
    /// `int`
    Int(i64),
    /// `bool`
    Bool(bool),
    /// `None`
    None,
    /// `tuple`
    Tuple(Vec<Key>),
}

impl Key {
    fn number(&self) -> Option<i64> {
        match self {
            Self::Int(v) => Some(*v),
            Self::Bool(v) => Some(i64::from(*v)),
            _ => None,
        }
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Str(a), Self::Str(b)) => a == b,
            (Self::None, Self::None) => true,
            (Self::Tuple(a), Self::Tuple(b)) => a == b,
            _ => self.number().is_some() && self.number() == other.number(),
        }
    }
}

impl Eq for Key {}

/// As Python's `repr` writes it, which is what a KeyError says.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Str(text) => write_repr(f, text),
            Self::Int(v) => write!(f, "{v}"),
            Self::Bool(true) => f.write_str("True"),
            Self::Bool(false) => f.write_str("False"),
            Self::None => f.write_str("None"),
            Self::Tuple(items) => {
                f.write_str("(")?;
                for (i, item) in items.iter().enumerate() {
                    let comma = if i > 0 { ", " } else { "" };
                    write!(f, "{comma}{item}")?;
                }
                f.write_str(if items.len() == 1 { ",)" } else { ")" })
            }
        }
    }
}

/// Single quotes, unless the text has some and no double ones.
fn write_repr(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    write!(f, "{quote}")?;
    for c in text.chars() {
        match c {
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            '\\' => f.write_str("\\\\")?,
            c if c == quote => write!(f, "\\{c}")?,
            c if u32::from(c) < 0x20 || u32::from(c) == 0x7f => {
                write!(f, "\\x{:02x}", u32::from(c))?;
            }
            c => write!(f, "{c}")?,
        }
    }
    write!(f, "{quote}")
}

impl From<&str> for Key {
    fn from(text: &str) -> Self {
        Self::Str(text.into())
    }
}

impl From<String> for Key {
    fn from(text: String) -> Self {
        Self::Str(text.into())
    }
}

impl From<Arc<str>> for Key {
    fn from(text: Arc<str>) -> Self {
        Self::Str(text)
    }
}

impl From<i64> for Key {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

/// What iterating over a mapping gives.
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
