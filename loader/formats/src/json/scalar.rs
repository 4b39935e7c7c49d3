//! Strings, numbers and constants of JSON.

use std::borrow::Cow;

use super::{Json, JsonError, JsonErrorKind};
use crate::cell::Cell;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Int(i128),
    Float(f64),
}

impl Number {
    pub(crate) fn as_f64(self) -> f64 {
        match self {
            Self::Int(number) => number as f64,
            Self::Float(number) => number,
        }
    }

    /// Returns the integer, or `None` if the number has a fraction. `1.0` is 1.
    pub(crate) fn as_int(self) -> Option<i128> {
        match self {
            Self::Int(number) => Some(number),
            // A float beyond 2^53 is not exact.
            Self::Float(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
                Some(number as i128)
            }
            Self::Float(_) => None,
        }
    }
}

impl From<Number> for Cell {
    fn from(number: Number) -> Self {
        match number {
            Number::Float(number) => Self::Float(number),
            Number::Int(number) => match i64::try_from(number) {
                Ok(number) => Self::Int(number),
                Err(_) => Self::BigInt(number),
            },
        }
    }
}

/// Value other than a string, a list or an object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scalar {
    Null,
    Bool(bool),
    Number(Number),
}

const WORDS: [(&[u8], Scalar); 6] = [
    (b"null", Scalar::Null),
    (b"true", Scalar::Bool(true)),
    (b"false", Scalar::Bool(false)),
    (b"NaN", Scalar::Number(Number::Float(f64::NAN))),
    (b"Infinity", Scalar::Number(Number::Float(f64::INFINITY))),
    (
        b"-Infinity",
        Scalar::Number(Number::Float(f64::NEG_INFINITY)),
    ),
];

impl<'a> Json<'a> {
    /// Reads a constant or a number.
    pub(super) fn scalar(&mut self) -> Result<Scalar, JsonError> {
        self.peek();
        let rest = self.bytes().get(self.at..).unwrap_or_default();
        if let Some((word, value)) = WORDS.iter().find(|(word, _)| rest.starts_with(word)) {
            self.at += word.len();
            return Ok(*value);
        }
        if rest.is_empty() || WORDS.iter().any(|(word, _)| word.starts_with(rest)) {
            return Err(JsonErrorKind::Truncated.at(self.text.len()));
        }
        match number(rest) {
            Some((len, number)) => {
                let Ok(number) = number else {
                    return Err(JsonErrorKind::Large.at(self.at));
                };
                self.at += len;
                Ok(Scalar::Number(number))
            }
            None => {
                let before = self.text.get(..self.at).unwrap_or_default().trim_end();
                self.fault(match rest.first() {
                    Some(b'\'') => JsonErrorKind::Quote,
                    Some(b']' | b'}') if before.ends_with(',') => JsonErrorKind::TrailingComma,
                    _ => JsonErrorKind::Value,
                })
            }
        }
    }

    /// Reads a number. Skips another value and returns `None`.
    ///
    /// # Errors
    /// If the value is damaged.
    pub(crate) fn number(&mut self) -> Result<Option<Number>, JsonError> {
        if matches!(self.peek(), Some(b'{' | b'[' | b'"')) {
            return self.skip().map(|_| None);
        }
        Ok(match self.scalar()? {
            Scalar::Number(number) => Some(number),
            // A bool is an integer in Python.
            Scalar::Bool(truth) => Some(Number::Int(truth.into())),
            Scalar::Null => None,
        })
    }

    /// Reads a string without its quotes and without resolving its escapes.
    pub(super) fn raw_string(&mut self) -> Result<&'a str, JsonError> {
        let start = self.at + 1;
        let mut at = start;
        loop {
            match self.bytes().get(at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    let escape = self.bytes().get(at + 1..).unwrap_or_default();
                    let len = match escape {
                        [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 2,
                        [b'u', a, b, c, d, ..]
                            if [a, b, c, d].iter().all(|digit| digit.is_ascii_hexdigit()) =>
                        {
                            6
                        }
                        _ => return Err(JsonErrorKind::Escape.at(at)),
                    };
                    at += len;
                }
                Some(byte) if *byte < 0x20 => return Err(JsonErrorKind::Control.at(at)),
                Some(_) => at += 1,
                None => return Err(JsonErrorKind::Open.at(self.at)),
            }
        }
        self.at = at + 1;
        Ok(self.text.get(start..at).unwrap_or_default())
    }

    /// Reads a string.
    ///
    /// # Errors
    /// If the next value is not a string or is damaged.
    pub(crate) fn string(&mut self) -> Result<Cow<'a, str>, JsonError> {
        if self.peek() != Some(b'"') {
            return self.fault(JsonErrorKind::Value);
        }
        let start = self.at + 1;
        let raw = self.raw_string()?;
        if !raw.contains('\\') {
            return Ok(Cow::Borrowed(raw));
        }
        unescaped(raw)
            .map(Cow::Owned)
            .map_err(|at| JsonErrorKind::Surrogate.at(start + at))
    }
}

/// Parses the number at the start of a text. Returns its length and its value, which is an error if it has more than 128 bits.
fn number(text: &[u8]) -> Option<(usize, Result<Number, ()>)> {
    let digits = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        from + rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let begin = usize::from(text.first() == Some(&b'-'));
    let mut end = match text.get(begin)? {
        b'0' => begin + 1,
        b'1'..=b'9' => digits(begin),
        _ => return None,
    };
    let whole = end;
    if text.get(end) == Some(&b'.') && digits(end + 1) > end + 1 {
        end = digits(end + 1);
    }
    if let Some(b'e' | b'E') = text.get(end) {
        let sign = usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        let exponent = end + 1 + sign;
        if digits(exponent) > exponent {
            end = digits(exponent);
        }
    }
    let shown = std::str::from_utf8(text.get(..end)?).ok()?;
    let value = match end == whole {
        true => shown.parse().map(Number::Int).map_err(drop),
        false => shown.parse().map(Number::Float).map_err(drop),
    };
    Some((end, value))
}

/// Resolves the escapes of a string. The error is the offset of a lone surrogate.
fn unescaped(raw: &str) -> Result<String, usize> {
    let mut text = String::with_capacity(raw.len());
    let mut at = 0;
    while let Some(rest) = raw.get(at..) {
        let Some(slash) = rest.find('\\') else {
            text.push_str(rest);
            break;
        };
        text.push_str(rest.get(..slash).unwrap_or_default());
        at += slash;
        let (character, len) = match rest.as_bytes().get(slash + 1) {
            Some(b'b') => ('\u{8}', 2),
            Some(b'f') => ('\u{c}', 2),
            Some(b'n') => ('\n', 2),
            Some(b'r') => ('\r', 2),
            Some(b't') => ('\t', 2),
            Some(b'u') => unicode(rest.get(slash..).unwrap_or_default()).ok_or(at)?,
            Some(other) => (char::from(*other), 2),
            None => break,
        };
        text.push(character);
        at += len;
    }
    Ok(text)
}

/// Parses an escape such as `\u00e4` or `\ud83d\ude00`. Returns the character and the length of the escape.
fn unicode(text: &str) -> Option<(char, usize)> {
    let unit = |text: &str| {
        let digits = text.strip_prefix("\\u")?.get(..4)?;
        u32::from_str_radix(digits, 16).ok()
    };
    let first = unit(text)?;
    if let Some(character) = char::from_u32(first) {
        return Some((character, 6));
    }
    let second = unit(text.get(6..)?)?;
    let is_pair = (0xd800..0xdc00).contains(&first) && (0xdc00..0xe000).contains(&second);
    let joined = 0x1_0000 + ((first & 0x3ff) << 10) + (second & 0x3ff);
    char::from_u32(joined)
        .filter(|_| is_pair)
        .map(|character| (character, 12))
}
