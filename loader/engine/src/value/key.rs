//! Keys of Python's mappings.

use std::fmt;
use std::sync::Arc;

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

/// Formats like Python's `repr`, which is the message of a KeyError.
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

/// Writes the text in single quotes, or in double quotes if it contains single but no double quotes.
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
