//! Rows of a table as text: where they end, and their fields.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use loadscope_words::say;

use super::kind::Kinds;
use crate::error::{Fault, FormatError, Place};
use crate::index::{STRIDE, Split, Walked, line_ends};

/// No row has more bytes than that: a quote that is not closed makes a row of the rest of the file.
const LONGEST: usize = 256 << 20;

/// A reader whose row has more bytes is not kept.
const KEPT: usize = 1 << 20;

/// Splits rows.
#[derive(Debug)]
pub(super) struct Splitter {
    separator: u8,
    /// Readers that are not in use: to make one takes ten times as long as to read a row. (Their `Clone` forgets the separator.)
    idle: Mutex<Vec<RecordReader>>,
    /// How many columns there are.
    pub(super) columns: usize,
    pub(super) place: Place,
}

/// The fields of a row, one behind the other.
#[derive(Debug, Default)]
pub(super) struct Record {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    fields: usize,
}

impl Record {
    /// Field `index`.
    pub(super) fn get(&self, index: usize) -> Option<&[u8]> {
        let end = *self.ends.get(..self.fields)?.get(index)?;
        let begin = match index.checked_sub(1) {
            Some(before) => *self.ends.get(before)?,
            None => 0,
        };
        self.bytes.get(begin..end)
    }

    /// How many fields it has.
    pub(super) fn len(&self) -> usize {
        self.fields
    }

    /// All fields.
    pub(super) fn fields(&self) -> impl Iterator<Item = &[u8]> {
        let mut begin = 0;
        self.ends.iter().take(self.fields).map(move |&end| {
            let field = self.bytes.get(begin..end).unwrap_or_default();
            begin = end;
            field
        })
    }
}

/// What is at a place of the text.
pub(super) enum Found {
    /// A row; the next one begins there.
    Row(usize),
    /// A line of nothing but white space, which is no row.
    Blank(usize),
    End,
    /// A quote is opened and not closed.
    Open,
    /// A row of more than [`LONGEST`] bytes.
    TooLong,
}

/// Reads rows one by one; the last one is kept.
#[derive(Debug)]
pub(super) struct RecordReader {
    core: Reader,
    pub(super) record: Record,
}

impl RecordReader {
    /// Reads the row at `at`.
    pub(super) fn read(&mut self, text: &[u8], at: usize) -> Found {
        let (mut position, mut out, mut ends) = (at, 0, 0);
        self.core.reset();
        self.record.fields = 0;
        loop {
            let rest = text.get(position..).unwrap_or_default();
            // A file may end without the end of a line; within quotes that is something else.
            let (input, at_end) = match rest {
                [] if position == at => return Found::End,
                [] => (b"\n".as_slice(), true),
                rest => (rest, false),
            };
            let (Some(to), Some(to_ends)) = (
                self.record.bytes.get_mut(out..),
                self.record.ends.get_mut(ends..),
            ) else {
                return Found::End;
            };
            let (result, read, written, ended) = self.core.read_record(input, to, to_ends);
            out += written;
            ends += ended;
            if !at_end {
                position += read;
            }
            match result {
                ReadRecordResult::Record => {
                    self.record.fields = ends;
                    let next = past_line_ends(text, position);
                    return if is_blank(text, at, position, &self.record) {
                        Found::Blank(next)
                    } else {
                        Found::Row(next)
                    };
                }
                ReadRecordResult::InputEmpty if at_end => {
                    // Nothing but ends of lines was left, or a quote is open.
                    let nothing = out == 0 && ends == 0;
                    let blank = text
                        .get(at..)
                        .is_some_and(|rest| rest.iter().all(is_line_end));
                    return if nothing && blank {
                        Found::End
                    } else {
                        Found::Open
                    };
                }
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => {
                    if self.record.bytes.len() >= LONGEST {
                        return Found::TooLong;
                    }
                    let more = (self.record.bytes.len() * 2).max(256);
                    self.record.bytes.resize(more, 0);
                }
                ReadRecordResult::OutputEndsFull => {
                    let more = (self.record.ends.len() * 2).max(16);
                    self.record.ends.resize(more, 0);
                }
                ReadRecordResult::End => return Found::End,
            }
        }
    }
}

/// Whether a line is nothing but white space, quotes aside.
fn is_blank(text: &[u8], at: usize, end: usize, record: &Record) -> bool {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    record.fields == 1
        && record.get(0).is_some_and(|field| field.iter().all(blank))
        && text.get(at..end).is_some_and(|row| row.iter().all(blank))
}

impl Splitter {
    pub(super) fn new(separator: u8, place: Place) -> Self {
        Self {
            separator,
            idle: Mutex::default(),
            columns: 0,
            place,
        }
    }

    /// Does `work` with a reader.
    pub(super) fn with_reader<R>(&self, work: impl FnOnce(&mut RecordReader) -> R) -> R {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = idle().pop();
        let mut reader = taken.unwrap_or_else(|| RecordReader {
            core: ReaderBuilder::new().delimiter(self.separator).build(),
            record: Record::default(),
        });
        let result = work(&mut reader);
        // What a long row took is given back.
        if reader.record.bytes.len() <= KEPT {
            idle().push(reader);
        }
        result
    }
    /// What is wrong with the row at `at`.
    pub(super) fn refused(&self, text: &[u8], at: usize, found: &Found) -> FormatError {
        let lines = line_ends(text.get(..at).unwrap_or_default());
        let place = self.place.clone().line(lines as u64 + 1);
        match found {
            Found::TooLong => FormatError::new(
                Fault::TooLarge,
                place,
                say!(
                    "the row that begins there has more than {} MB",
                    LONGEST >> 20
                ),
                say!("Look for an unclosed quote"),
            ),
            _ => FormatError::new(
                Fault::Damaged,
                place,
                say!("the file ends within quotes that are opened in the row that begins there"),
                say!("Close the quote, or double it where it is part of a text"),
            ),
        }
    }
}

fn is_line_end(byte: &u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

/// The first byte at or behind `at` that ends no line.
pub(super) fn past_line_ends(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| is_line_end(byte)).count()
}

/// What is known of rows once they were walked over.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) kinds: Vec<Kinds>,
    /// How many rows have more fields than there are columns.
    pub(super) too_wide: usize,
}

impl Split for Splitter {
    type Seen = Seen;

    fn guess(&self, text: &[u8], at: usize) -> usize {
        let before = at.saturating_sub(1);
        let rest = text.get(before..).unwrap_or_default();
        let end = memchr::memchr2(b'\n', b'\r', rest);
        end.map_or(text.len(), |end| past_line_ends(text, before + end))
    }

    fn walk(
        &self,
        text: &[u8],
        begin: usize,
        end: usize,
        patience: usize,
    ) -> Result<Option<Walked<Seen>>, FormatError> {
        self.with_reader(|reader| self.walk_with(reader, text, begin..end, patience))
    }
}

impl Splitter {
    fn walk_with(
        &self,
        reader: &mut RecordReader,
        text: &[u8],
        range: Range<usize>,
        patience: usize,
    ) -> Result<Option<Walked<Seen>>, FormatError> {
        let Range { start: begin, end } = range;
        let mut seen = Seen {
            kinds: vec![Kinds::default(); self.columns],
            too_wide: 0,
        };
        let (mut at, mut rows, mut begins) = (begin, 0, Vec::new());
        let reach = end.saturating_add(patience).min(text.len());
        // A row that is cut off here is not one that ends here.
        let within = text.get(..reach).unwrap_or(text);
        while at < end {
            match reader.read(within, at) {
                Found::Row(next) => {
                    if next >= reach && reach < text.len() {
                        return Ok(None);
                    }
                    if rows % STRIDE == 0 {
                        begins.push(u32::try_from(at - begin).unwrap_or(u32::MAX));
                    }
                    rows += 1;
                    let record = &reader.record;
                    let mut kinds = seen.kinds.iter_mut();
                    for (kinds, field) in kinds.by_ref().zip(record.fields()) {
                        kinds.see(field);
                    }
                    if record.len() != self.columns {
                        seen.too_wide += usize::from(record.len() > self.columns);
                        let absent = seen.kinds.iter_mut().skip(record.len());
                        absent.for_each(Kinds::see_missing);
                    }
                    at = next;
                }
                Found::Blank(next) => at = next,
                Found::End => break,
                Found::Open | Found::TooLong if reach < text.len() => return Ok(None),
                found @ (Found::Open | Found::TooLong) => {
                    return Err(self.refused(text, at, &found));
                }
            }
        }
        Ok(Some(Walked {
            next: at,
            rows,
            begins,
            lines: line_ends(text.get(begin..at).unwrap_or_default()),
            seen,
        }))
    }
}
