//! Index of the rows of a text, for random access.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::error::FormatError;

/// Rows per index entry. Ten million rows take 5 MB.
pub(crate) const STRIDE: usize = 8;

/// Size of the chunk that a thread scans at a time, bytes.
const PART: usize = 4 << 20;

/// Splitter of a text into rows.
pub(crate) trait RowSplitter: Sync {
    /// Information about rows that a scan collects.
    type ScanStats: Send;

    /// Guesses the offset of the first row from `at` on. Quoted text that looks like rows can make the guess wrong.
    fn guess_row_start(&self, text: &[u8], at: usize) -> usize;

    /// Scans the rows that begin in `begin..end`. After a wrong guess, a row may have no end. A scan that is more than `max_overrun` bytes
    /// past `end` returns `None`.
    ///
    /// # Errors
    /// If a row cannot be split.
    fn scan(
        &self,
        text: &[u8],
        begin: usize,
        end: usize,
        max_overrun: usize,
    ) -> Result<Option<ScanResult<Self::ScanStats>>, FormatError>;
}

/// Results of a scan.
pub(crate) struct ScanResult<S> {
    /// Offset of the next row.
    pub(crate) next: usize,
    pub(crate) rows: usize,
    /// Offsets of every [`STRIDE`]th row, relative to the start of the scan.
    pub(crate) begins: Vec<u32>,
    /// Number of line ends.
    pub(crate) lines: usize,
    pub(crate) stats: S,
}

/// Offsets of rows.
#[derive(Debug, Default)]
pub(crate) struct RowIndex {
    parts: Vec<IndexPart>,
    len: usize,
    lines: usize,
}

#[derive(Debug)]
struct IndexPart {
    first_row: usize,
    /// Number of line ends before the chunk.
    lines: usize,
    begin: usize,
    begins: Vec<u32>,
}

impl RowIndex {
    /// Scans `text` from `begin` on. Threads share the chunks, and end before this function returns.
    ///
    /// # Errors
    /// If a row cannot be split.
    pub(crate) fn build<T: RowSplitter>(
        text: &[u8],
        begin: usize,
        split: &T,
    ) -> Result<(Self, Vec<T::ScanStats>), FormatError> {
        let parts = text.len().saturating_sub(begin).div_ceil(PART);
        let bounds = |part: usize| {
            let from = begin + part * PART;
            (from, (from + PART).min(text.len()))
        };
        let guessed = |part: usize| {
            let (from, end) = bounds(part);
            let from = if part == 0 {
                from
            } else {
                split.guess_row_start(text, from)
            };
            (from, split.scan(text, from, end, PART))
        };
        let mut index = Self {
            lines: line_ends(text.get(..begin).unwrap_or(text)),
            ..Self::default()
        };
        let mut all_stats = Vec::with_capacity(parts);
        let mut expected = begin;
        for (part, (from, scanned)) in in_parallel(parts, &guessed).into_iter().enumerate() {
            let (_, end) = bounds(part);
            if expected >= end {
                continue;
            }
            // A chunk with a wrong guess is scanned again from its real start.
            let scanned = match scanned {
                Ok(Some(scanned)) if from == expected => Some(scanned),
                Err(error) if from == expected => return Err(error),
                _ => split.scan(text, expected, end, usize::MAX)?,
            };
            let Some(scanned) = scanned else { continue };
            index.parts.push(IndexPart {
                first_row: index.len,
                lines: index.lines,
                begin: expected,
                begins: scanned.begins,
            });
            index.len += scanned.rows;
            index.lines += scanned.lines;
            expected = scanned.next;
            all_stats.push(scanned.stats);
        }
        Ok((index, all_stats))
    }

    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the offset of an indexed row at or before row `row`, and the number of rows to skip from there.
    pub(crate) fn seek(&self, row: usize) -> Option<(usize, usize)> {
        if row >= self.len {
            return None;
        }
        let behind = self.parts.partition_point(|part| part.first_row <= row);
        let part = self.parts.get(behind.checked_sub(1)?)?;
        let inside = row - part.first_row;
        let begin = part.begins.get(inside / STRIDE)?;
        Some((part.begin + *begin as usize, inside % STRIDE))
    }

    /// Returns the line number of byte `at`, from 1.
    pub(crate) fn line(&self, text: &[u8], at: usize) -> u64 {
        let behind = self.parts.partition_point(|part| part.begin <= at);
        let part = behind.checked_sub(1).and_then(|part| self.parts.get(part));
        let (begin, lines) = part.map_or((0, 0), |part| (part.begin, part.lines));
        (lines + line_ends(text.get(begin..at).unwrap_or_default())) as u64 + 1
    }
}

/// Returns the results of `work` for `0..count` in order, with one thread per core.
fn in_parallel<R: Send>(count: usize, work: &(impl Fn(usize) -> R + Sync)) -> Vec<R> {
    let threads = thread::available_parallelism()
        .map_or(1, NonZero::get)
        .min(count);
    if threads <= 1 {
        return (0..count).map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(count));
    let helper = || {
        loop {
            let part = next.fetch_add(1, Ordering::Relaxed);
            if part >= count {
                break;
            }
            let result = work(part);
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.push((part, result));
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // If no thread can start, this thread does all the work.
            let builder = thread::Builder::new().name("index".to_owned());
            let _ = builder.spawn_scoped(scope, helper);
        }
        helper();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(part, _)| *part);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Returns the number of line ends in a text.
pub(crate) fn line_ends(text: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', text).count()
}

/// Rows that are lines with `\n` or `\r\n` at the end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lines {
    /// True if blank lines are not rows.
    pub(crate) skip_blank: bool,
}

impl Lines {
    /// Returns the line at offset `at` without its end, and the offset of the next one.
    fn line(text: &[u8], at: usize) -> Option<(&[u8], usize)> {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let (line, next) = match memchr::memchr(b'\n', rest) {
            Some(end) => (rest.get(..end)?, at + end + 1),
            None => (rest, text.len()),
        };
        Some((line.strip_suffix(b"\r").unwrap_or(line), next))
    }

    fn is_row(self, line: &[u8]) -> bool {
        !self.skip_blank || !line.iter().all(u8::is_ascii_whitespace)
    }

    /// Returns row `row` and its offset.
    pub(crate) fn row<'a>(
        self,
        text: &'a [u8],
        index: &RowIndex,
        row: usize,
    ) -> Option<(&'a [u8], usize)> {
        let (mut at, mut skip) = index.seek(row)?;
        loop {
            let (line, next) = Self::line(text, at)?;
            if self.is_row(line) {
                match skip.checked_sub(1) {
                    Some(left) => skip = left,
                    None => return Some((line, at)),
                }
            }
            at = next;
        }
    }
}

impl RowSplitter for Lines {
    type ScanStats = ();

    fn guess_row_start(&self, text: &[u8], at: usize) -> usize {
        let before = at.saturating_sub(1);
        let rest = text.get(before..).unwrap_or_default();
        memchr::memchr(b'\n', rest).map_or(text.len(), |end| before + end + 1)
    }

    fn scan(
        &self,
        text: &[u8],
        begin: usize,
        end: usize,
        _: usize,
    ) -> Result<Option<ScanResult<()>>, FormatError> {
        let (mut at, mut rows, mut begins) = (begin, 0, Vec::new());
        while at < end {
            let Some((line, next)) = Self::line(text, at) else {
                break;
            };
            if self.is_row(line) {
                if rows % STRIDE == 0 {
                    begins.push(u32::try_from(at - begin).unwrap_or(u32::MAX));
                }
                rows += 1;
            }
            at = next;
        }
        Ok(Some(ScanResult {
            next: at,
            rows,
            begins,
            lines: line_ends(text.get(begin..at).unwrap_or_default()),
            stats: (),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_in_any_order() {
        let mut text = String::new();
        // The text has more than two chunks, with lines of many lengths.
        let mut lines = Vec::new();
        for n in 0..400_000usize {
            let line = format!("{n}{}", "x".repeat(n % 37));
            text += &line;
            text += if n % 5 == 0 { "\r\n" } else { "\n" };
            lines.push(line);
            if n % 1000 == 0 {
                text += " \t\n";
            }
        }
        assert!(text.len() > 2 * PART);
        text.pop();
        let rows = Lines { skip_blank: true };
        let (index, _) = RowIndex::build(text.as_bytes(), 0, &rows).unwrap();
        assert_eq!(index.len(), lines.len());
        for row in (0..lines.len()).step_by(997).chain([lines.len() - 1]) {
            let (line, at) = rows.row(text.as_bytes(), &index, row).unwrap();
            assert_eq!(line, lines[row].as_bytes());
            let number = index.line(text.as_bytes(), at);
            // A blank line follows every thousandth row.
            assert_eq!(number, (row + 1 + row.div_ceil(1000)) as u64);
        }
        assert!(rows.row(text.as_bytes(), &index, lines.len()).is_none());
    }

    #[test]
    fn blank_lines_of_a_text_count_as_rows() {
        let rows = Lines { skip_blank: false };
        let text = b"a\n\n\nb\n";
        let (index, _) = RowIndex::build(text, 0, &rows).unwrap();
        let all = (0..index.len()).map(|row| rows.row(text, &index, row).unwrap().0);
        assert_eq!(all.collect::<Vec<_>>(), [b"a".as_slice(), b"", b"", b"b"]);
        assert_eq!(RowIndex::build(b"", 0, &rows).unwrap().0.len(), 0);
    }
}
