//! JSON with the extensions of Python's `json`: `NaN`, `Infinity` and large integers.

mod cells;
mod error;
mod scalar;

use std::borrow::Cow;
use std::ops::Range;

pub(crate) use cells::parse;
pub(crate) use error::{JsonError, JsonErrorKind};
pub(crate) use scalar::Number;

/// Maximum nesting of lists and objects. Deeper values could overflow the stack of a thread.
const MOST_DEPTH: usize = 128;

/// Streaming reader of a JSON text.
#[derive(Clone, Debug)]
pub(crate) struct Json<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Json<'a> {
    /// Creates a reader.
    ///
    /// # Errors
    /// If the bytes are not UTF-8.
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Self, JsonError> {
        let text =
            std::str::from_utf8(bytes).map_err(|e| JsonErrorKind::Encoding.at(e.valid_up_to()))?;
        Ok(Self {
            text,
            at: 0,
            depth: 0,
        })
    }

    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    fn fault<T>(&self, wrong: JsonErrorKind) -> Result<T, JsonError> {
        // At the end of the text, the cause is always truncation, except for an open string.
        let wrong = if self.at >= self.text.len() && wrong != JsonErrorKind::Open {
            JsonErrorKind::Truncated
        } else {
            wrong
        };
        Err(wrong.at(self.at))
    }

    /// Returns the next byte after white space without consuming it, or `None` at the end.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        let rest = self.bytes().get(self.at..).unwrap_or_default();
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        self.at += rest.iter().take_while(|byte| blank(byte)).count();
        self.bytes().get(self.at).copied()
    }

    /// Consumes `byte` if it is the next one after white space.
    fn accept(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Returns the byte offset after white space.
    pub(crate) fn position(&mut self) -> usize {
        self.peek();
        self.at
    }

    /// Checks that only white space follows.
    ///
    /// # Errors
    /// If other text follows.
    pub(crate) fn end(&mut self) -> Result<(), JsonError> {
        match self.peek() {
            None => Ok(()),
            Some(_) => self.fault(JsonErrorKind::Extra),
        }
    }

    fn deeper(&mut self) -> Result<(), JsonError> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return self.fault(JsonErrorKind::Deep);
        }
        Ok(())
    }

    /// Reads an object. Calls `each` for each key, and `each` must read the value.
    ///
    /// # Errors
    /// If the value is not an object, is damaged, or `each` fails.
    pub(crate) fn object<E: From<JsonError>>(
        &mut self,
        mut each: impl FnMut(&mut Self, Cow<'a, str>) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.accept(b'{') {
            return Ok(self.fault(JsonErrorKind::Object)?);
        }
        self.deeper()?;
        if !self.accept(b'}') {
            loop {
                if self.peek() != Some(b'"') {
                    return Ok(self.fault(JsonErrorKind::Key)?);
                }
                let key = self.string()?;
                if !self.accept(b':') {
                    return Ok(self.fault(JsonErrorKind::Colon)?);
                }
                each(self, key)?;
                if self.accept(b'}') {
                    break;
                }
                if !self.accept(b',') {
                    return Ok(self.fault(JsonErrorKind::Comma)?);
                }
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Reads a list. Calls `each` for each item, and `each` must read it.
    ///
    /// # Errors
    /// If the value is not a list, is damaged, or `each` fails.
    pub(crate) fn list<E: From<JsonError>>(
        &mut self,
        mut each: impl FnMut(&mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.accept(b'[') {
            return Ok(self.fault(JsonErrorKind::List)?);
        }
        self.deeper()?;
        if !self.accept(b']') {
            loop {
                each(self)?;
                if self.accept(b']') {
                    break;
                }
                if !self.accept(b',') {
                    return Ok(self.fault(JsonErrorKind::Comma)?);
                }
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Skips and checks a value. Returns its byte range.
    ///
    /// # Errors
    /// If the value is damaged.
    pub(crate) fn skip(&mut self) -> Result<Range<usize>, JsonError> {
        let start = self.position();
        match self.bytes().get(start) {
            Some(b'{') => self.object(|json, _| json.skip().map(drop))?,
            Some(b'[') => self.list(|json| json.skip().map(drop))?,
            Some(b'"') => {
                self.raw_string()?;
            }
            _ => {
                self.scalar()?;
            }
        }
        Ok(start..self.at)
    }
}

#[cfg(test)]
mod tests;
