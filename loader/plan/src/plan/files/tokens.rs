//! Iterator over the words of a file. It does not keep the file in memory.

use std::io::BufRead as _;

use super::text::Text;
use crate::error::LoaderError;
use crate::limits::grouped;
use loadscope_words::say;

/// Maximum length of a word, bytes.
const LONGEST: usize = 4096;

/// Words separated by blanks, commas, semicolons or newlines.
pub(super) struct Tokens<'a> {
    text: Text<'a>,
    /// Text up to a separator. It contains several words if they are separated by non-ASCII blanks.
    piece: String,
    /// Length of its part that was already returned.
    at: usize,
    /// Line of the piece, from 0.
    line: usize,
    /// Line of the next piece.
    next_line: usize,
}

impl<'a> Tokens<'a> {
    pub fn of(text: Text<'a>) -> Self {
        Self {
            piece: String::new(),
            at: 0,
            line: 0,
            next_line: text.skipped,
            text,
        }
    }

    /// Returns the next word with its line, from 0.
    pub fn next(&mut self) -> Result<Option<(usize, &str)>, LoaderError> {
        loop {
            let rest = &self.piece[self.at..];
            let word = rest.trim_start();
            if !word.is_empty() {
                let length = word.find(char::is_whitespace).unwrap_or(word.len());
                let start = self.at + (rest.len() - word.len());
                self.at = start + length;
                return Ok(Some((self.line, &self.piece[start..start + length])));
            }
            if !self.read_piece()? {
                return Ok(None);
            }
        }
    }

    /// Reads the next non-empty piece up to its separator. Returns false at the end.
    fn read_piece(&mut self) -> Result<bool, LoaderError> {
        let mut piece = std::mem::take(&mut self.piece).into_bytes();
        piece.clear();
        piece.extend(self.text.first.take().filter(|byte| !is_separator(*byte)));
        self.line = self.next_line;
        loop {
            let buffer = match self.text.input.fill_buf() {
                Ok(buffer) => buffer,
                Err(e) => return Err(self.text.failed(e)),
            };
            let end = buffer.iter().position(|byte| is_separator(*byte));
            let (taken, separator) = match end {
                Some(end) => (end, buffer.get(end).copied()),
                None => (buffer.len(), None),
            };
            piece.extend(&buffer[..taken]);
            let is_end = buffer.is_empty();
            self.text.input.consume(taken + usize::from(end.is_some()));
            self.next_line += usize::from(separator == Some(b'\n'));
            if piece.len() > LONGEST {
                return Err(self.wrong(say!(
                    "has a word of more than {} bytes, the limit. Separate words with spaces, commas or newlines.",
                    grouped(LONGEST as u64)
                )));
            }
            if is_end || (separator.is_some() && !piece.is_empty()) {
                break;
            }
            if separator.is_some() {
                self.line = self.next_line;
            }
        }
        let is_any = !piece.is_empty();
        self.at = 0;
        match String::from_utf8(piece) {
            Ok(text) => self.piece = text,
            Err(_) => return Err(self.wrong(say!("is not UTF-8 text"))),
        }
        Ok(is_any)
    }

    fn wrong(&self, what: impl std::fmt::Display) -> LoaderError {
        let (path, line) = (self.text.path, self.line + 1);
        LoaderError::Spec(say!("{path}, line {line}, {what}"))
    }
}

fn is_separator(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b || matches!(byte, b',' | b';')
}
