//! Arguments of any Python type, and PyTorch's checks of them.
//!
//! The command line and files of options distinguish types like Python. Values such as `replacement=1` or `num_samples=2.5` cause
//! PyTorch's errors, which show the value as Python prints it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{ExceptionKind, LoaderError};

/// Python value. `Display` is Python's `str()`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PyArg {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// Python's `int`, limited to 64 bits.
    Int(i64),
    /// Python's `float`.
    Float(f64),
    /// Python's `str`.
    Str(String),
    /// Python's `list`.
    List(Vec<Self>),
    /// Value of any other type, by the name of the type.
    #[serde(skip)]
    Other(String),
}

impl PyArg {
    /// Returns the name of the type as `type(value).__name__`.
    pub fn type_name(&self) -> &str {
        match self {
            Self::None => "NoneType",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::Str(_) => "str",
            Self::List(_) => "list",
            Self::Other(name) => name,
        }
    }

    /// Returns Python's `repr(value)`, which differs from `str(value)` for strings.
    pub fn repr(&self) -> String {
        match self {
            Self::Str(text) => repr_of_str(text),
            other => other.to_string(),
        }
    }

    /// Returns the value if `isinstance(value, int)`, which includes bools.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Self::Bool(value) => Some(i64::from(*value)),
            Self::Int(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns the value if `isinstance(value, bool)`.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns Python's `bool(value)`.
    pub fn is_truthy(&self) -> bool {
        match self {
            Self::None => false,
            Self::Bool(value) => *value,
            Self::Int(value) => *value != 0,
            Self::Float(value) => *value != 0.0,
            Self::Str(text) => !text.is_empty(),
            Self::List(items) => !items.is_empty(),
            Self::Other(_) => true,
        }
    }
}

impl fmt::Display for PyArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Bool(true) => f.write_str("True"),
            Self::Bool(false) => f.write_str("False"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Float(value) => f.write_str(&repr_of_float(*value)),
            Self::Str(text) => f.write_str(text),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(Self::repr).collect();
                write!(f, "[{}]", items.join(", "))
            }
            Self::Other(name) => write!(f, "<{name} object>"),
        }
    }
}

macro_rules! from {
    ($($from:ty => $value:ident: $to:expr),+ $(,)?) => {
        $(impl From<$from> for PyArg {
            fn from($value: $from) -> Self {
                $to
            }
        })+
    };
}

from! {
    bool => value: Self::Bool(value),
    i32 => value: Self::Int(value.into()),
    i64 => value: Self::Int(value),
    // No list in memory exceeds the range of i64.
    usize => value: Self::Int(i64::try_from(value).unwrap_or(i64::MAX)),
    f64 => value: Self::Float(value),
    &str => value: Self::Str(value.to_owned()),
    String => value: Self::Str(value),
}

impl<T: Into<Self>> From<Vec<T>> for PyArg {
    fn from(items: Vec<T>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Self>> From<Option<T>> for PyArg {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::None, Into::into)
    }
}

/// Returns the shortest digits that parse to the same number, with an exponent where Python has one.
fn repr_of_float(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    let text = format!("{value:?}");
    if value.is_infinite() || value == 0.0 {
        return text;
    }
    let scientific = format!("{value:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else {
        return text;
    };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..16).contains(&exponent) {
        let plain = format!("{value}");
        let dot = if plain.contains('.') { "" } else { ".0" };
        return format!("{plain}{dot}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// Quotes in single quotes, unless the text contains single but no double quotes.
fn repr_of_str(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    let mut out = String::from(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => out.extend(['\\', c]),
            c if c.is_control() => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

/// Performs PyTorch's check of a positive int. In some places PyTorch accepts a bool (`bools`).
///
/// # Errors
/// ValueError that contains the value.
pub fn positive_int_argument(name: &str, value: &PyArg, bools: bool) -> Result<usize, LoaderError> {
    let int = match value {
        PyArg::Bool(_) if !bools => None,
        value => value.as_int().and_then(|int| usize::try_from(int).ok()),
    };
    int.filter(|&int| int > 0).ok_or_else(|| {
        LoaderError::value_error(format!(
            "{name} should be a positive integer value, but got {name}={value}"
        ))
    })
}

/// Performs PyTorch's check of a bool. The type of its error differs between places.
///
/// # Errors
/// An error of type `kind` that contains the value.
pub fn boolean_argument(
    name: &str,
    value: &PyArg,
    kind: ExceptionKind,
) -> Result<bool, LoaderError> {
    value.as_bool().ok_or_else(|| {
        LoaderError::python(
            kind,
            format!("{name} should be a boolean value, but got {name}={value}"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_printed_as_in_python() {
        let shown = |value: PyArg| value.repr();
        for (value, text) in [
            (2.5, "2.5"),
            (1.0, "1.0"),
            (-0.0, "-0.0"),
            (1e16, "1e+16"),
            (123456789012345680.0, "1.2345678901234568e+17"),
            (9007199254740993.0, "9007199254740992.0"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (f64::INFINITY, "inf"),
            (-f64::INFINITY, "-inf"),
            (f64::NAN, "nan"),
            (5e-324, "5e-324"),
        ] {
            assert_eq!(shown(value.into()), text);
        }
        assert_eq!(shown(None::<bool>.into()), "None");
        assert_eq!(shown(true.into()), "True");
        assert_eq!(
            shown(vec!["a", "it's", "\"'\n"].into()),
            r#"['a', "it's", '"\'\n']"#
        );
        assert_eq!(PyArg::from("a").to_string(), "a");
    }

    #[test]
    fn values_are_read_from_json() {
        let value: PyArg = serde_json::from_str(r#"[null, true, 1, 1.0, "x", [2]]"#).unwrap();
        assert_eq!(value.to_string(), "[None, True, 1, 1.0, 'x', [2]]");
    }
}
