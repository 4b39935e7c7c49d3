//! Splitting of text chunks into lines.

use std::ops::Range;

use crate::LogError;
use crate::log::MAX_LINE;

/// End of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Terminator of a line.
    Line,
    /// Zero byte. It occurs only where the disk lost a block.
    Zero,
    /// End of the text.
    Cut,
}

/// Line or remainder of one.
#[derive(Debug)]
pub(super) struct LinePart<'a> {
    /// Text with its line end, if any. Empty if longer than the limit for lines.
    pub text: &'a [u8],
    /// Line number, from 1.
    pub number: u64,
    /// Range in the text.
    pub place: Range<u64>,
    pub end: End,
}

/// Splitter of text into lines, also at zero bytes.
#[derive(Debug)]
pub(super) struct Splitter {
    /// Beginning of the current line.
    line: Vec<u8>,
    /// True if the current line exceeds the limit, so its text is dropped.
    is_too_long: bool,
    /// Position of the current line in the text.
    start: u64,
    /// Length of the text so far.
    position: u64,
    /// Number of the current line.
    pub number: u64,
}

impl Default for Splitter {
    fn default() -> Self {
        Self {
            line: Vec::new(),
            is_too_long: false,
            start: 0,
            position: 0,
            number: 1,
        }
    }
}

type Each<'a> = dyn FnMut(LinePart<'_>) -> Result<(), LogError> + 'a;

impl Splitter {
    /// Processes text and passes on the lines that end in it, except empty ones.
    pub fn feed(&mut self, mut text: &[u8], each: &mut Each<'_>) -> Result<(), LogError> {
        while let Some(first) = text.first() {
            let has_begun = !self.line.is_empty() || self.is_too_long;
            let length = match first {
                b'\n' if !has_begun => self.skip(text),
                _ => self.read_piece(text, each)?,
            };
            text = &text[length..];
        }
        Ok(())
    }

    /// Skips empty lines.
    fn skip(&mut self, text: &[u8]) -> usize {
        let count = text.iter().take_while(|b| **b == b'\n').count();
        self.position += count as u64;
        self.start = self.position;
        self.number = self.number.saturating_add(count as u64);
        count
    }

    /// Processes text up to the next end of a piece.
    fn read_piece(&mut self, text: &[u8], each: &mut Each<'_>) -> Result<usize, LogError> {
        let Some(at) = text.iter().position(|b| matches!(b, b'\n' | 0)) else {
            self.position += text.len() as u64;
            self.append(text);
            return Ok(text.len());
        };
        let (length, end) = match text[at] {
            b'\n' => (at + 1, End::Line),
            // Consecutive zeros form one end.
            _ => {
                let zeros = text[at..].iter().take_while(|b| **b == 0).count();
                (at + zeros, End::Zero)
            }
        };
        self.position += length as u64;
        let piece = match end {
            End::Line => &text[..length],
            _ => &text[..at],
        };
        if self.line.is_empty() && !self.is_too_long && piece.len() <= MAX_LINE {
            let place = self.start..self.position;
            let number = self.number;
            each(LinePart {
                text: piece,
                number,
                place,
                end,
            })?;
            self.begin(end);
        } else {
            self.append(piece);
            self.emit(end, each)?;
        }
        Ok(length)
    }

    /// Appends to the current line, up to the limit.
    fn append(&mut self, text: &[u8]) {
        self.is_too_long |= self.line.len() + text.len() > MAX_LINE;
        match self.is_too_long {
            true => self.line = Vec::new(),
            false => self.line.extend_from_slice(text),
        }
    }

    fn emit(&mut self, end: End, each: &mut Each<'_>) -> Result<(), LogError> {
        each(LinePart {
            text: &self.line,
            number: self.number,
            place: self.start..self.position,
            end,
        })?;
        self.begin(end);
        Ok(())
    }

    /// Begins a line.
    fn begin(&mut self, end: End) {
        if end == End::Line {
            self.number = self.number.saturating_add(1);
        }
        self.line.clear();
        // The buffer shrinks after an unusually long line.
        self.line.shrink_to(1 << 20);
        self.is_too_long = false;
        self.start = self.position;
    }

    /// Drops the current line, because text is missing here.
    pub fn reset(&mut self) {
        self.begin(End::Cut);
    }

    /// Returns true in the middle of a line.
    pub fn is_in_line(&self) -> bool {
        self.start < self.position
    }

    /// Passes on the current line, if any.
    pub fn finish(&mut self, each: &mut Each<'_>) -> Result<(), LogError> {
        match self.is_in_line() {
            true => self.emit(End::Cut, each),
            false => Ok(()),
        }
    }
}
