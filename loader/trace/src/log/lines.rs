//! Reading of blocks of lines. Reading bytes is sequential, but several threads can parse blocks.

use std::io::{self, Read};
use std::mem::take;

use super::MAX_LINE;
use super::fast_parser::FastParser;
use super::line::{parse_line, too_long};
use super::read::LogReader;
use crate::{Event, LogError};

/// Size of a block, bytes.
const BLOCK: usize = 512 << 10;

/// Block of whole lines that were not parsed yet. It is reused to avoid allocations.
#[derive(Debug, Default)]
pub struct Lines {
    bytes: Vec<u8>,
    /// Number of bytes that contain lines.
    used: usize,
    /// Bytes read from the input so far, before decompression.
    consumed: u64,
    /// True if no lines follow.
    is_last: bool,
    /// True if the input ends in the middle of a compressed block.
    cut: bool,
    /// True if the next line is too long.
    too_long: bool,
    /// Error of reading after these lines.
    failed: Option<io::Error>,
    packed: bool,
    fast_parser: FastParser,
}

/// Events of a block of lines.
#[derive(Debug, Default)]
pub struct Parsed {
    /// Events, in order of the lines.
    pub events: Vec<Event>,
    /// Length of the lines, bytes.
    pub length: usize,
    /// Bytes read from the input so far, before decompression.
    pub consumed: u64,
    /// Number of lines.
    pub lines: u64,
    /// True if the file ends here, in the middle of a line or of a compressed block.
    pub cut: bool,
    /// Error that ends reading after these events. Its line number counts from the beginning of the block.
    pub failed: Option<LogError>,
}

impl LogReader {
    /// Reads the next lines from the input without parsing them. Returns false at the end. Do not mix it with the iterator.
    pub fn read_lines(&mut self, lines: &mut Lines) -> bool {
        if self.is_through {
            return false;
        }
        let bytes = &mut lines.bytes;
        let mut used = self.rest.len();
        // The buffer shrinks after an unusually long line.
        let room = BLOCK.max(2 * used).min(MAX_LINE + 1);
        if bytes.len() < room || bytes.len() > 8 * room {
            *bytes = vec![0; room];
        }
        bytes[..used].copy_from_slice(&self.rest);
        self.rest.clear();
        (lines.cut, lines.too_long, lines.failed) = (false, false, None);
        // The first `looked_at` bytes contain no line end.
        let mut looked_at = 0;
        loop {
            if used == bytes.len() {
                let end = bytes[looked_at..].iter().rposition(|b| *b == b'\n');
                if let Some(end) = end.map(|end| looked_at + end + 1) {
                    self.rest.extend_from_slice(&bytes[end..]);
                    used = end;
                    break;
                }
                if used > MAX_LINE {
                    lines.too_long = true;
                    used = 0;
                    break;
                }
                looked_at = used;
                bytes.resize((2 * used).min(MAX_LINE + 1), 0);
            }
            match self.input.read(&mut bytes[used..]) {
                Ok(0) => {
                    self.is_through = true;
                    break;
                }
                Ok(more) => used += more,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => {
                    // The line that the error interrupted is dropped.
                    let end = bytes[..used].iter().rposition(|b| *b == b'\n');
                    used = end.map_or(0, |end| end + 1);
                    // zstd reports this if the compressed data ends in the middle of a frame.
                    lines.cut = e.kind() == io::ErrorKind::UnexpectedEof;
                    lines.failed = (!lines.cut).then_some(e);
                    break;
                }
            }
        }
        self.is_through |= lines.cut || lines.too_long || lines.failed.is_some();
        lines.used = used;
        lines.packed = self.packed;
        lines.consumed = self.consumed();
        lines.is_last = self.is_through;
        true
    }
}

impl Lines {
    /// Parses the lines into events.
    pub fn parse(&mut self) -> Parsed {
        let mut parsed = Parsed {
            // A typical line has 96 bytes.
            events: Vec::with_capacity(self.used / 96 + 1),
            length: self.used,
            consumed: self.consumed,
            cut: self.cut,
            ..Parsed::default()
        };
        let mut rest = &self.bytes[..self.used];
        while !rest.is_empty() {
            parsed.lines += 1;
            if let Some((event, length)) = self.fast_parser.parse(rest) {
                parsed.events.push(event);
                rest = &rest[length..];
                continue;
            }
            let end = rest.iter().position(|b| *b == b'\n');
            let (line, after) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
            rest = after;
            if line.len() > MAX_LINE {
                parsed.fail(too_long(parsed.lines, MAX_LINE));
                return parsed;
            }
            match parse_line(line) {
                Ok(event) => parsed.events.extend(event),
                // The program stopped while it wrote the last line.
                Err(_) if end.is_none() && self.is_last => parsed.cut = true,
                Err(why) => {
                    let line = parsed.lines;
                    parsed.fail(LogError::Line { line, why });
                    return parsed;
                }
            }
        }
        if self.too_long {
            parsed.lines += 1;
            parsed.failed = Some(too_long(parsed.lines, MAX_LINE));
        }
        if let Some(cause) = take(&mut self.failed) {
            parsed.failed = Some(LogError::from_read(cause, parsed.lines, self.packed));
        }
        parsed
    }
}

impl Parsed {
    /// Ends the block with an error. Reading stops here, so the end of the file is unknown.
    fn fail(&mut self, why: LogError) {
        (self.failed, self.cut) = (Some(why), false);
    }
}
