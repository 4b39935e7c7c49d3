//! Python arguments before they are checked.

use std::fmt;

/// An argument as Python would be given it.
#[derive(Clone, Debug, PartialEq)]
pub enum PyArg {
    /// `None`
    None,
    /// `bool`
    Bool(bool),
    /// `int`
    Int(i64),
    /// `float`
    Float(f64),
    /// `str`
    Str(String),
    /// `list`
    List(Vec<PyArg>),
    /// An object of another type.
    Other(String),
}

impl fmt::Display for PyArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Bool(true) => f.write_str("True"),
            Self::Bool(false) => f.write_str("False"),
            Self::Int(v) => write!(f, "{v}"),
            Self::Float(v) => write!(f, "{v:?}"),
            Self::Str(v) => write!(f, "'{v}'"),
            Self::List(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{item}")?;
                }
                f.write_str("]")
            }
            Self::Other(name) => write!(f, "<{name}>"),
        }
    }
}
