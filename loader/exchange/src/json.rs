//! A streaming JSON reader with bounded memory, for files of any size, nesting and text length. It skips unwanted values without parsing
//! them. Bare words that are not JSON (`N/A`, `NaN`) count as words like `null`.

use std::io::{self, Read};

use loadscope_words::say;

/// Maximum number of kept bytes of a text or number. No text that imports compare is longer.
const LONGEST: usize = 512;

/// Streaming JSON reader.
pub(crate) struct Json<R> {
    input: R,
    buffer: Vec<u8>,
    at: usize,
    end: usize,
    /// Number of input bytes before the buffer.
    before: u64,
    /// Last text or number.
    text: Vec<u8>,
}

/// Error of reading JSON.
#[derive(Debug)]
pub(crate) enum JsonError {
    /// The file ends in the middle.
    Cut,
    /// The file cannot be read.
    Io(io::Error),
    /// The file is not valid JSON.
    Bad(&'static str),
}

/// Kind of a value. [`Json::text`] returns the text or number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// Text in quotation marks.
    Text,
    /// Number, as written in the file.
    Number,
    /// Word, list or object, which was skipped.
    Other,
}

type Result<T> = std::result::Result<T, JsonError>;

impl<R: Read> Json<R> {
    pub fn new(input: R) -> Self {
        Self {
            input,
            buffer: vec![0; 1 << 17],
            at: 0,
            end: 0,
            before: 0,
            text: Vec::with_capacity(LONGEST),
        }
    }

    /// Returns the number of bytes read so far.
    pub fn position(&self) -> u64 {
        self.before + self.at as u64
    }

    /// Returns the last text, number or name, up to [`LONGEST`] bytes.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    fn fill(&mut self) -> Result<bool> {
        self.before += self.end as u64;
        (self.at, self.end) = (0, 0);
        loop {
            match self.input.read(&mut self.buffer) {
                Ok(n) => {
                    self.end = n;
                    return Ok(n > 0);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
                Err(e) => return Err(JsonError::Io(e)),
            }
        }
    }

    /// Returns the next byte without consuming it.
    fn peek(&mut self) -> Result<u8> {
        if self.at == self.end && !self.fill()? {
            return Err(JsonError::Cut);
        }
        Ok(self.buffer[self.at])
    }

    /// Returns the next byte that is not whitespace, without consuming it. Skips a byte order mark.
    fn peek_token(&mut self) -> Result<u8> {
        loop {
            match self.peek()? {
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                0xEF if self.position() < 3 => self.at += 1,
                0xBB | 0xBF if self.position() < 3 => self.at += 1,
                other => return Ok(other),
            }
        }
    }

    /// Enters the next object or list if it begins with `opening`.
    pub fn enter(&mut self, opening: u8) -> Result<bool> {
        let is_there = self.peek_token()? == opening;
        self.at += usize::from(is_there);
        Ok(is_there)
    }

    /// Moves to the next value of the list. Returns false after the last one.
    pub fn next_item(&mut self) -> Result<bool> {
        let mut next = self.peek_token()?;
        if next == b',' {
            self.at += 1;
            next = self.peek_token()?;
        }
        if next == b']' {
            self.at += 1;
        }
        Ok(next != b']')
    }

    /// Moves to the next value of the object, and stores its name in [`Json::text`]. Returns false after the last one.
    pub fn next_name(&mut self) -> Result<bool> {
        let mut next = self.peek_token()?;
        if next == b',' {
            self.at += 1;
            next = self.peek_token()?;
        }
        match next {
            b'}' => {
                self.at += 1;
                return Ok(false);
            }
            b'"' => self.string()?,
            _ => return Err(JsonError::Bad(say!("a name is missing"))),
        }
        if self.peek_token()? != b':' {
            return Err(JsonError::Bad(say!("a colon is missing")));
        }
        self.at += 1;
        Ok(true)
    }

    /// Reads the next value, or skips it.
    pub fn value(&mut self) -> Result<Value> {
        match self.peek_token()? {
            b'"' => {
                self.string()?;
                Ok(Value::Text)
            }
            b'{' | b'[' => {
                self.skip_nested()?;
                Ok(Value::Other)
            }
            b'-' | b'0'..=b'9' => {
                self.word()?;
                // `-Infinity` is not a number.
                Ok(match self.text.last() {
                    Some(b'0'..=b'9') => Value::Number,
                    _ => Value::Other,
                })
            }
            b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'+' => {
                self.word()?;
                Ok(Value::Other)
            }
            _ => Err(JsonError::Bad(say!("a value is missing"))),
        }
    }

    /// Reads a number or a bare word.
    fn word(&mut self) -> Result<()> {
        self.text.clear();
        loop {
            match self.peek() {
                Ok(byte) if byte.is_ascii_alphanumeric() || b"+-./_".contains(&byte) => {
                    if self.text.len() < LONGEST {
                        self.text.push(byte);
                    }
                    self.at += 1;
                }
                Ok(_) | Err(JsonError::Cut) => return Ok(()),
                Err(e) => return Err(e),
            }
        }
    }

    /// Reads a text in quotation marks.
    fn string(&mut self) -> Result<()> {
        self.text.clear();
        self.at += 1;
        loop {
            self.peek()?;
            let rest = &self.buffer[self.at..self.end];
            let plain = rest.iter().position(|b| matches!(b, b'"' | b'\\'));
            let kept = plain.unwrap_or(rest.len());
            let room = LONGEST - self.text.len().min(LONGEST);
            self.text.extend_from_slice(&rest[..kept.min(room)]);
            self.at += kept;
            if plain.is_none() {
                continue;
            }
            let byte = self.buffer[self.at];
            self.at += 1;
            if byte == b'"' {
                return Ok(());
            }
            let escaped = self.peek()?;
            self.at += 1;
            if self.text.len() < LONGEST {
                // `\u0041` becomes `u0041`, because no compared name contains such an escape.
                self.text.push(match escaped {
                    b'n' => b'\n',
                    b't' => b'\t',
                    other => other,
                });
            }
        }
    }

    /// Skips an object or a list of any depth.
    fn skip_nested(&mut self) -> Result<()> {
        let mut depth = 0u64;
        loop {
            match self.peek()? {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth -= 1;
                    if depth == 0 {
                        self.at += 1;
                        return Ok(());
                    }
                }
                b'"' => {
                    self.skip_string()?;
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    fn skip_string(&mut self) -> Result<()> {
        self.at += 1;
        loop {
            self.peek()?;
            let rest = &self.buffer[self.at..self.end];
            let Some(plain) = rest.iter().position(|b| matches!(b, b'"' | b'\\')) else {
                self.at = self.end;
                continue;
            };
            let byte = rest[plain];
            self.at += plain + 1;
            if byte == b'"' {
                return Ok(());
            }
            self.peek()?;
            self.at += 1;
        }
    }
}

/// Converts a decimal text from microseconds to nanoseconds. The result is exact without an exponent, and saturates. Returns `None` if the
/// text is not a number.
pub(crate) fn nanos(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?;
    if text.contains(['e', 'E']) {
        let value: f64 = text.parse().ok()?;
        return value.is_finite().then_some((value * 1e3).round() as i64);
    }
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty()
        || !whole
            .bytes()
            .chain(part.bytes())
            .all(|b| b.is_ascii_digit())
    {
        return None;
    }
    let digit = |b: u8| i64::from(b - b'0');
    let start = whole
        .bytes()
        .fold(0i64, |n, b| n.saturating_mul(10).saturating_add(digit(b)));
    let mut part = part.bytes().map(digit).chain(std::iter::repeat(0));
    let mut thousandths = (0..3).fold(0, |n, _| n * 10 + part.next().unwrap_or(0));
    thousandths += i64::from(part.next().unwrap_or(0) >= 5);
    let total = start.saturating_mul(1000).saturating_add(thousandths);
    Some(sign * total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn microseconds_are_exact() {
        for (text, ns) in [
            ("4425927568896.349", 4_425_927_568_896_349),
            ("0.0005", 1),
            ("-1.5", -1_500),
            ("12", 12_000),
            ("1e3", 1_000_000),
            ("99999999999999999999999", i64::MAX),
            ("-99999999999999999999999", -i64::MAX),
        ] {
            assert_eq!(nanos(text.as_bytes()), Some(ns), "{text}");
        }
        for text in ["", "-", ".", "1.2.3", "--1", "0x1", "1e999", "1e"] {
            assert_eq!(nanos(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn unwanted_values_are_skipped() {
        let text =
            br#" {"a": [1, {"b": "\"]}"}], "c\"d": N/A, "e": -Infinity, "f": -1.5e3 , "g": "h"}"#;
        // This reader returns one byte per read, to test every buffer boundary.
        struct Slow<'a>(&'a [u8]);
        impl Read for Slow<'_> {
            fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
                let n = self.0.len().min(1);
                out[..n].copy_from_slice(&self.0[..n]);
                self.0 = &self.0[n..];
                Ok(n)
            }
        }
        let mut json = Json::new(Slow(text));
        assert!(json.enter(b'{').unwrap());
        let mut seen = Vec::new();
        while json.next_name().unwrap() {
            let name = String::from_utf8(json.text().to_vec()).unwrap();
            let value = json.value().unwrap();
            seen.push((name, value));
        }
        let names: Vec<&str> = seen.iter().map(|(n, _)| n.as_str()).collect();
        assert_eq!(names, ["a", "c\"d", "e", "f", "g"]);
        let values: Vec<Value> = seen.iter().map(|(_, v)| *v).collect();
        use Value::{Number, Other, Text};
        assert_eq!(values, [Other, Other, Other, Number, Text]);
        assert!(matches!(json.value(), Err(JsonError::Cut)));
    }
}
