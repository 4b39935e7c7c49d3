//! Ends and fields of CSV rows.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use loadscope_words::say;

use super::kind::Kinds;
use crate::error::{FormatError, Place};
use crate::index::{RowSplitter, STRIDE, ScanResult, line_ends};

/// Maximum size of a row, bytes. After an unclosed quote, the rest of the file would be one row.
const LONGEST: usize = 256 << 20;

/// Maximum row buffer of a reader that is kept for reuse, bytes.
const MAX_POOLED_BYTES: usize = 1 << 20;

/// Splitter of rows with a pool of readers.
#[derive(Debug)]
pub(super) struct Splitter {
    separator: u8,
    /// Idle readers. A new reader costs ten times as much as reading a row. A clone of one would lose the separator.
    idle: Mutex<Vec<RecordReader>>,
    /// Number of columns.
    pub(super) columns: usize,
    pub(super) place: Place,
}

/// Fields of a row in one buffer.
#[derive(Debug, Default)]
pub(super) struct Record {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    fields: usize,
}

impl Record {
    /// Returns field `index`.
    pub(super) fn get(&self, index: usize) -> Option<&[u8]> {
        let end = *self.ends.get(..self.fields)?.get(index)?;
        let begin = match index.checked_sub(1) {
            Some(before) => *self.ends.get(before)?,
            None => 0,
        };
        self.bytes.get(begin..end)
    }

    /// Returns the number of fields.
    pub(super) fn len(&self) -> usize {
        self.fields
    }

    /// Iterates over all fields.
    pub(super) fn fields(&self) -> impl Iterator<Item = &[u8]> {
        let mut begin = 0;
        self.ends.iter().take(self.fields).map(move |&end| {
            let field = self.bytes.get(begin..end).unwrap_or_default();
            begin = end;
            field
        })
    }
}

/// Result of reading at an offset.
pub(super) enum RowResult {
    /// A row, and the offset of the next one.
    Row(usize),
    /// A blank line, which is not a row, and the offset of the next line.
    Blank(usize),
    End,
    /// An unclosed quote at the end of the text.
    Open,
    /// A row of more than [`LONGEST`] bytes.
    TooLong,
}

/// Reader of single rows that contains the last row.
#[derive(Debug)]
pub(super) struct RecordReader {
    core: Reader,
    pub(super) record: Record,
}

impl RecordReader {
    /// Reads the row at offset `at`.
    pub(super) fn read(&mut self, text: &[u8], at: usize) -> RowResult {
        let (mut position, mut out, mut ends) = (at, 0, 0);
        self.core.reset();
        self.record.fields = 0;
        loop {
            let rest = text.get(position..).unwrap_or_default();
            // The parser receives a line end at the end of the file, because the last line may have none. Within quotes it then asks for
            // more input.
            let (input, at_end) = match rest {
                [] if position == at => return RowResult::End,
                [] => (b"\n".as_slice(), true),
                rest => (rest, false),
            };
            let (Some(to), Some(to_ends)) = (
                self.record.bytes.get_mut(out..),
                self.record.ends.get_mut(ends..),
            ) else {
                return RowResult::End;
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
                        RowResult::Blank(next)
                    } else {
                        RowResult::Row(next)
                    };
                }
                ReadRecordResult::InputEmpty if at_end => {
                    // At the end of the text, only line ends remain, or a quote is open.
                    let nothing = out == 0 && ends == 0;
                    let blank = text
                        .get(at..)
                        .is_some_and(|rest| rest.iter().all(is_line_end));
                    return if nothing && blank {
                        RowResult::End
                    } else {
                        RowResult::Open
                    };
                }
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => {
                    if self.record.bytes.len() >= LONGEST {
                        return RowResult::TooLong;
                    }
                    let more = (self.record.bytes.len() * 2).max(256);
                    self.record.bytes.resize(more, 0);
                }
                ReadRecordResult::OutputEndsFull => {
                    let more = (self.record.ends.len() * 2).max(16);
                    self.record.ends.resize(more, 0);
                }
                ReadRecordResult::End => return RowResult::End,
            }
        }
    }
}

/// Returns true if a line has only white space and no quotes.
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

    /// Calls `work` with a reader from the pool.
    pub(super) fn with_reader<R>(&self, work: impl FnOnce(&mut RecordReader) -> R) -> R {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = idle().pop();
        let mut reader = taken.unwrap_or_else(|| RecordReader {
            core: ReaderBuilder::new().delimiter(self.separator).build(),
            record: Record::default(),
        });
        let result = work(&mut reader);
        // A reader with a large buffer is dropped.
        if reader.record.bytes.len() <= MAX_POOLED_BYTES {
            idle().push(reader);
        }
        result
    }
    /// Returns the error for the row at offset `at`.
    pub(super) fn row_error(&self, text: &[u8], at: usize, found: &RowResult) -> FormatError {
        let lines = line_ends(text.get(..at).unwrap_or_default());
        let place = self.place.clone().line(lines as u64 + 1);
        match found {
            RowResult::TooLong => {
                fault!(TooLarge, place, say!("the row that begins there has more than {} MB", LONGEST >> 20);
                    say!("Look for an unclosed quote"))
            }
            _ => {
                fault!(Damaged, place, say!("the file ends within quotes that are opened in the row that begins there");
                    say!("Close the quote, or double it where it is part of a text"))
            }
        }
    }
}

fn is_line_end(byte: &u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

/// Returns the offset of the first byte from `at` on that is not a line end.
pub(super) fn past_line_ends(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|byte| is_line_end(byte)).count()
}

/// Results of a scan over rows.
#[derive(Debug, Default)]
pub(super) struct ScanStats {
    pub(super) kinds: Vec<Kinds>,
    /// Number of rows with more fields than columns.
    pub(super) too_wide: usize,
}

impl RowSplitter for Splitter {
    type ScanStats = ScanStats;

    fn guess_row_start(&self, text: &[u8], at: usize) -> usize {
        let before = at.saturating_sub(1);
        let rest = text.get(before..).unwrap_or_default();
        let end = memchr::memchr2(b'\n', b'\r', rest);
        end.map_or(text.len(), |end| past_line_ends(text, before + end))
    }

    fn scan(
        &self,
        text: &[u8],
        begin: usize,
        end: usize,
        max_overrun: usize,
    ) -> Result<Option<ScanResult<ScanStats>>, FormatError> {
        self.with_reader(|reader| self.scan_with(reader, text, begin..end, max_overrun))
    }
}

impl Splitter {
    /// Scans the rows that begin in `range` with a reader, and collects the kinds of their fields.
    fn scan_with(
        &self,
        reader: &mut RecordReader,
        text: &[u8],
        range: Range<usize>,
        max_overrun: usize,
    ) -> Result<Option<ScanResult<ScanStats>>, FormatError> {
        let Range { start: begin, end } = range;
        let mut stats = ScanStats {
            kinds: vec![Kinds::default(); self.columns],
            too_wide: 0,
        };
        let (mut at, mut rows, mut begins) = (begin, 0, Vec::new());
        let reach = end.saturating_add(max_overrun).min(text.len());
        // A row that ends at `reach` may be truncated.
        let within = text.get(..reach).unwrap_or(text);
        while at < end {
            match reader.read(within, at) {
                RowResult::Row(next) => {
                    if next >= reach && reach < text.len() {
                        return Ok(None);
                    }
                    if rows % STRIDE == 0 {
                        begins.push(u32::try_from(at - begin).unwrap_or(u32::MAX));
                    }
                    rows += 1;
                    let record = &reader.record;
                    let mut kinds = stats.kinds.iter_mut();
                    for (kinds, field) in kinds.by_ref().zip(record.fields()) {
                        kinds.add(field);
                    }
                    if record.len() != self.columns {
                        stats.too_wide += usize::from(record.len() > self.columns);
                        let absent = stats.kinds.iter_mut().skip(record.len());
                        absent.for_each(Kinds::add_missing);
                    }
                    at = next;
                }
                RowResult::Blank(next) => at = next,
                RowResult::End => break,
                RowResult::Open | RowResult::TooLong if reach < text.len() => return Ok(None),
                found @ (RowResult::Open | RowResult::TooLong) => {
                    return Err(self.row_error(text, at, &found));
                }
            }
        }
        Ok(Some(ScanResult {
            next: at,
            rows,
            begins,
            lines: line_ends(text.get(begin..at).unwrap_or_default()),
            stats,
        }))
    }
}
