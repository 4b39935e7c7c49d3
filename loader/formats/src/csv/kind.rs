//! Type inference of columns, as in pandas.

use std::sync::Arc;

use crate::cell::Cell;

/// Missing values in pandas.
const MISSING: [&str; 19] = [
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
];

/// Bit set of the kinds of fields in a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kinds(u16);

impl Kinds {
    const MISSING: Self = Self(1);
    const BOOL: Self = Self(2);
    /// Integer that fits a signed 64-bit type.
    const INT: Self = Self(4);
    const NEGATIVE: Self = Self(8);
    /// Integer that fits only an unsigned 64-bit type.
    const UNSIGNED: Self = Self(16);
    /// Integer of more than 64 bits.
    const HUGE: Self = Self(32);
    const FLOAT: Self = Self(64);
    const TEXT: Self = Self(128);

    fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Adds the kind of a field.
    #[inline]
    pub(super) fn add(&mut self, field: &[u8]) {
        // One text makes the whole column text.
        if !self.has(Self::TEXT) {
            self.0 |= Self::of(field).0;
        }
    }

    /// Adds the kinds in another chunk of the column.
    pub(super) fn merge(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Adds an absent field.
    pub(super) fn add_missing(&mut self) {
        self.0 |= Self::MISSING.0;
    }

    #[inline]
    fn of(field: &[u8]) -> Self {
        match field.first() {
            None => Self::MISSING,
            Some(b'0'..=b'9' | b'-' | b'+' | b'.') => Self::number(field),
            Some(b'T' | b't' | b'F' | b'f') if truth(field).is_some() => Self::BOOL,
            Some(b'#' | b'<' | b'N' | b'n') if is_missing(field) => Self::MISSING,
            Some(b'i' | b'I') if infinity(field).is_some() => Self::FLOAT,
            Some(first) if is_space(*first) => Self::number(field),
            Some(_) => Self::TEXT,
        }
    }

    /// Returns the kind of a field that begins like a number.
    fn number(field: &[u8]) -> Self {
        let text = trimmed(field);
        let (sign, digits) = match text {
            [sign @ (b'-' | b'+'), digits @ ..] => (Some(*sign), digits),
            digits => (None, digits),
        };
        let negative = sign == Some(b'-');
        if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) {
            let kind = match digits.len() {
                0..=18 => Self::INT,
                _ => Self::long(text),
            };
            return if negative {
                Self(kind.0 | Self::NEGATIVE.0)
            } else {
                kind
            };
        }
        if is_float(digits) || infinity(field).is_some() {
            Self::FLOAT
        } else if is_missing(field) {
            Self::MISSING
        } else {
            Self::TEXT
        }
    }

    /// Returns the kind of an integer with many digits.
    fn long(text: &[u8]) -> Self {
        match integer(text) {
            Some(number) if i64::try_from(number).is_ok() => Self::INT,
            Some(number) if u64::try_from(number).is_ok() => Self::UNSIGNED,
            Some(_) => Self::HUGE,
            // Integers above 128 bits are not supported.
            None => Self::TEXT,
        }
    }

    /// Returns the type of the column.
    pub(super) fn column(self) -> ColumnType {
        let whole = self.has(Self(Self::INT.0 | Self::UNSIGNED.0 | Self::HUGE.0));
        if self.has(Self::TEXT) || (self.has(Self::BOOL) && (whole || self.has(Self::FLOAT))) {
            ColumnType::Text
        } else if self.has(Self::BOOL) {
            ColumnType::Bool
        } else if self.has(Self::FLOAT) || !whole {
            ColumnType::Float
        } else if self.has(Self::HUGE) {
            ColumnType::Int
        } else if self.has(Self::UNSIGNED) {
            // With missing values, pandas makes these numbers texts, including `NA`. Texts are useless here, so the column has integers.
            if self.has(Self::NEGATIVE) {
                ColumnType::Text
            } else {
                ColumnType::Int
            }
        } else if self.has(Self::MISSING) {
            ColumnType::Float
        } else {
            ColumnType::Int
        }
    }
}

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnType {
    /// Integers. A missing value is a null, and occurs only next to numbers of more than 63 bits.
    Int,
    /// Numbers of double precision. A missing value is NaN.
    Float,
    /// Booleans. A missing value is a null.
    Bool,
    /// Texts. A missing value is a null.
    Text,
}

impl ColumnType {
    /// Converts a field. Fails for text that is not UTF-8. Also fails for a value of another type, which a file has only after a
    /// change.
    #[inline]
    pub(super) fn value(self, field: &[u8]) -> Result<Cell, ()> {
        match self {
            Self::Int => match whole(trimmed(field)) {
                None if is_missing(field) => Ok(Cell::Null),
                number => number.ok_or(()),
            },
            Self::Float if is_missing(field) => Ok(Cell::Float(f64::NAN)),
            Self::Float => float(field).map(Cell::Float).ok_or(()),
            Self::Bool if is_missing(field) => Ok(Cell::Null),
            Self::Bool => truth(field).map(Cell::Bool).ok_or(()),
            Self::Text if is_missing(field) => Ok(Cell::Null),
            Self::Text => {
                let text = std::str::from_utf8(field).map_err(|_| ())?;
                Ok(Cell::Text(Arc::from(text)))
            }
        }
    }
}

/// Returns true for white space that Python strips from a number.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

fn trimmed(mut field: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = field
        && is_space(*first)
    {
        field = rest;
    }
    while let [rest @ .., last] = field
        && is_space(*last)
    {
        field = rest;
    }
    field
}

fn is_missing(field: &[u8]) -> bool {
    // The longest word has 8 bytes.
    field.len() <= 8 && MISSING.iter().any(|word| word.as_bytes() == field)
}

fn truth(field: &[u8]) -> Option<bool> {
    if field.eq_ignore_ascii_case(b"true") {
        Some(true)
    } else {
        field.eq_ignore_ascii_case(b"false").then_some(false)
    }
}

fn infinity(field: &[u8]) -> Option<f64> {
    let (sign, word) = match field {
        [b'-', word @ ..] => (-1.0, word),
        [b'+', word @ ..] => (1.0, word),
        word => (1.0, word),
    };
    let is = word.eq_ignore_ascii_case(b"inf") || word.eq_ignore_ascii_case(b"infinity");
    is.then_some(sign * f64::INFINITY)
}

fn integer(text: &[u8]) -> Option<i128> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn whole(text: &[u8]) -> Option<Cell> {
    let text = std::str::from_utf8(text).ok()?;
    match text.parse() {
        Ok(number) => Some(Cell::Int(number)),
        Err(_) => text.parse().ok().map(Cell::BigInt),
    }
}

/// Returns true if digits, a point and an exponent form an unsigned number.
fn is_float(text: &[u8]) -> bool {
    fn digits(text: &[u8]) -> (usize, &[u8]) {
        let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        (count, text.get(count..).unwrap_or_default())
    }
    let (before, rest) = digits(text);
    let (behind, rest) = match rest {
        [b'.', rest @ ..] => digits(rest),
        rest => (0, rest),
    };
    if before + behind == 0 {
        return false;
    }
    match rest {
        [] => true,
        [b'e' | b'E', b'-' | b'+', rest @ ..] | [b'e' | b'E', rest @ ..] => {
            let (count, rest) = digits(rest);
            count > 0 && rest.is_empty()
        }
        _ => false,
    }
}

fn float(field: &[u8]) -> Option<f64> {
    if let Some(infinity) = infinity(field) {
        return Some(infinity);
    }
    std::str::from_utf8(trimmed(field)).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(fields: &[&str]) -> ColumnType {
        let mut kinds = Kinds::default();
        fields.iter().for_each(|field| kinds.add(field.as_bytes()));
        kinds.column()
    }

    #[test]
    fn column_types_equal_those_of_pandas() {
        use ColumnType::{Bool, Float, Int, Text};
        for (fields, expected) in [
            (&["1", "-2", "+3"][..], Int),
            (&[" 1", "2\t", "007"], Int),
            (&["9223372036854775808", "1"], Int),
            (&["9223372036854775808", "-1"], Text),
            (&["9223372036854775808", "NA"], Int),
            (&["18446744073709551616", "1", "", "-1"], Int),
            (&["18446744073709551616", "1.5"], Float),
            (&["1", "NA"], Float),
            (&["1", ""], Float),
            (&["1", "2."], Float),
            (&[".5", "1e-5", "-inf", "Infinity", "nan"], Float),
            (&["", "null", "N/A"], Float),
            (&["true", "FALSE", "tRue", "NA"], Bool),
            (&["true", "1"], Text),
            (&[" true"], Text),
            (&["+nan"], Text),
            (&["1_0"], Text),
            (&["0x10"], Text),
            (&["."], Text),
            (&["-"], Text),
            (&["1e"], Text),
            (&["1 2"], Text),
            (&["a", "1"], Text),
        ] {
            assert_eq!(column(fields), expected, "{fields:?}");
        }
    }

    #[test]
    fn values_have_the_type_of_their_column() {
        let value = |column: ColumnType, field: &str| column.value(field.as_bytes());
        assert_eq!(value(ColumnType::Int, " +7 "), Ok(Cell::Int(7)));
        assert_eq!(
            value(ColumnType::Int, "18446744073709551616"),
            Ok(Cell::BigInt(1 << 64))
        );
        assert_eq!(value(ColumnType::Float, "7"), Ok(Cell::Float(7.0)));
        assert_eq!(
            value(ColumnType::Float, "-INF"),
            Ok(Cell::Float(f64::NEG_INFINITY))
        );
        assert!(matches!(value(ColumnType::Float, ""), Ok(Cell::Float(x)) if x.is_nan()));
        assert_eq!(value(ColumnType::Bool, "TRUE"), Ok(Cell::Bool(true)));
        assert_eq!(value(ColumnType::Text, "null"), Ok(Cell::Null));
        assert_eq!(value(ColumnType::Text, "ä"), Ok("ä".into()));
        assert_eq!(ColumnType::Text.value(b"\xff"), Err(()));
        assert_eq!(value(ColumnType::Int, "x"), Err(()));
    }
}
