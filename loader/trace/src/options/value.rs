//! Values of arguments.

use std::fmt;

/// Value of an argument. Its text is Python, except that strings have no quotes.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgValue {
    /// `None`.
    None,
    /// `True` or `False`.
    Flag(bool),
    /// Whole number.
    Count(u64),
    /// Number with a fraction.
    Real(f64),
    /// String.
    Text(String),
    /// Name of a Python object.
    Name(&'static str),
}

impl ArgValue {
    /// Returns the value in Python code, with strings in these quotes.
    pub fn code(&self, quote: char) -> String {
        match self {
            Self::Text(text) => format!("{quote}{text}{quote}"),
            Self::None | Self::Flag(_) | Self::Count(_) | Self::Real(_) | Self::Name(_) => {
                self.to_string()
            }
        }
    }
}

impl fmt::Display for ArgValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Flag(true) => f.write_str("True"),
            Self::Flag(false) => f.write_str("False"),
            Self::Count(n) => write!(f, "{n}"),
            Self::Real(x) => write!(f, "{x}"),
            Self::Text(text) => f.write_str(text),
            Self::Name(name) => f.write_str(name),
        }
    }
}

impl From<bool> for ArgValue {
    fn from(on: bool) -> Self {
        Self::Flag(on)
    }
}

impl From<u32> for ArgValue {
    fn from(n: u32) -> Self {
        Self::Count(n.into())
    }
}

impl From<u64> for ArgValue {
    fn from(n: u64) -> Self {
        Self::Count(n)
    }
}

impl From<usize> for ArgValue {
    fn from(n: usize) -> Self {
        Self::Count(n as u64)
    }
}

impl From<f64> for ArgValue {
    fn from(x: f64) -> Self {
        Self::Real(x)
    }
}

impl From<&str> for ArgValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl<T: Into<Self>> From<Option<T>> for ArgValue {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::None, Into::into)
    }
}
