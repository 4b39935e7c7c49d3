//! Text that comes in pieces of any length, split into lines.

use std::ops::Range;

use crate::LogError;
use crate::log::MAX_LINE;

/// How a piece ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// With its line, as it should.
    Line,
    /// With a zero, of which there is none in a sound recording: lost blocks of a disk are full of them.
    Zero,
    /// Without an end.
    Cut,
}

/// A line, or what is left of it.
#[derive(Debug)]
pub(super) struct Piece<'a> {
    /// With its line end, if it has one; empty if it is longer than any line.
    pub text: &'a [u8],
    /// Number of the line, from 1.
    pub number: u64,
    /// Where it stands in the text.
    pub place: Range<u64>,
    pub end: End,
}

/// Splits text into lines, and damaged text where it is certainly damaged.
#[derive(Debug)]
pub(super) struct Splitter {
    /// The line that has begun.
    line: Vec<u8>,
    /// It is too long, and no longer kept.
    is_too_long: bool,
    /// Where it began.
    start: u64,
    /// How much text there was.
    position: u64,
    /// Number of the line that comes next, or has begun.
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

type Each<'a> = dyn FnMut(Piece<'_>) -> Result<(), LogError> + 'a;

impl Splitter {
    /// Takes text in and hands over the lines that end in it. Empty ones are left out.
    pub fn feed(&mut self, mut text: &[u8], each: &mut Each<'_>) -> Result<(), LogError> {
        while let Some(first) = text.first() {
            let has_begun = !self.line.is_empty() || self.is_too_long;
            let length = match first {
                b'\n' if !has_begun => self.skip(text),
                _ => self.take(text, each)?,
            };
            text = &text[length..];
        }
        Ok(())
    }

    /// Goes past empty lines.
    fn skip(&mut self, text: &[u8]) -> usize {
        let count = text.iter().take_while(|b| **b == b'\n').count();
        self.position += count as u64;
        self.start = self.position;
        self.number = self.number.saturating_add(count as u64);
        count
    }

    /// Takes text up to the end of the line.
    fn take(&mut self, text: &[u8], each: &mut Each<'_>) -> Result<usize, LogError> {
        let Some(at) = text.iter().position(|b| matches!(b, b'\n' | 0)) else {
            self.position += text.len() as u64;
            self.keep(text);
            return Ok(text.len());
        };
        let (length, end) = match text[at] {
            b'\n' => (at + 1, End::Line),
            // All zeros that follow each other are one end.
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
            each(Piece {
                text: piece,
                number,
                place,
                end,
            })?;
            self.begin(end);
        } else {
            self.keep(piece);
            self.hand_over(end, each)?;
        }
        Ok(length)
    }

    /// Keeps what has begun, within bounds.
    fn keep(&mut self, text: &[u8]) {
        self.is_too_long |= self.line.len() + text.len() > MAX_LINE;
        match self.is_too_long {
            true => self.line = Vec::new(),
            false => self.line.extend_from_slice(text),
        }
    }

    fn hand_over(&mut self, end: End, each: &mut Each<'_>) -> Result<(), LogError> {
        each(Piece {
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
        // One long line must not cost its room for ever.
        self.line.shrink_to(1 << 20);
        self.is_too_long = false;
        self.start = self.position;
    }

    /// Text is missing here: what has begun is forgotten.
    pub fn forget(&mut self) {
        self.begin(End::Cut);
    }

    /// True in the middle of a line.
    pub fn is_in_line(&self) -> bool {
        self.start < self.position
    }

    /// Hands over what has begun.
    pub fn finish(&mut self, each: &mut Each<'_>) -> Result<(), LogError> {
        match self.is_in_line() {
            true => self.hand_over(End::Cut, each),
            false => Ok(()),
        }
    }
}
