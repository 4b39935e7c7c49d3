//! Where the rows of a text begin, so that they can be asked for in any order.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::error::FormatError;

/// One row of so many is remembered; the others are found from there. Ten million rows take 5 MB.
pub(crate) const STRIDE: usize = 8;

/// So much of a text is looked at by one thread at a time, bytes.
const PART: usize = 4 << 20;

/// What knows where a row ends.
pub(crate) trait Split: Sync {
    /// What it finds out about rows on the way.
    type Seen: Send;

    /// The begin of the first row at or behind `at`, a guess: what is between quotes may look like rows.
    fn guess(&self, text: &[u8], at: usize) -> usize;

    /// Walks over the rows that begin in `begin..end`. A guess that is wrong may lead to a row without end: a walk that is more than
    /// `patience` bytes behind `end` gives up with `None`.
    ///
    /// # Errors
    /// If a row cannot be split at all.
    fn walk(
        &self,
        text: &[u8],
        begin: usize,
        end: usize,
        patience: usize,
    ) -> Result<Option<Walked<Self::Seen>>, FormatError>;
}

/// What a walk found.
pub(crate) struct Walked<S> {
    /// Where the next row begins.
    pub(crate) next: usize,
    pub(crate) rows: usize,
    /// Where every [`STRIDE`]th row begins, from the first on, counted from the begin of the walk.
    pub(crate) begins: Vec<u32>,
    /// How many lines end in between.
    pub(crate) lines: usize,
    pub(crate) seen: S,
}

/// Where rows begin.
#[derive(Debug, Default)]
pub(crate) struct RowIndex {
    parts: Vec<IndexPart>,
    len: usize,
    lines: usize,
}

#[derive(Debug)]
struct IndexPart {
    first_row: usize,
    /// How many lines end in front of it.
    lines: usize,
    begin: usize,
    begins: Vec<u32>,
}

impl RowIndex {
    /// Walks over `text` from `begin` on, in parts that threads share. They are gone when this returns.
    ///
    /// # Errors
    /// If a row cannot be split.
    pub(crate) fn build<T: Split>(
        text: &[u8],
        begin: usize,
        split: &T,
    ) -> Result<(Self, Vec<T::Seen>), FormatError> {
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
                split.guess(text, from)
            };
            (from, split.walk(text, from, end, PART))
        };
        let mut index = Self {
            lines: line_ends(text.get(..begin).unwrap_or(text)),
            ..Self::default()
        };
        let mut all_seen = Vec::with_capacity(parts);
        let mut expected = begin;
        for (part, (from, walked)) in in_parallel(parts, &guessed).into_iter().enumerate() {
            let (_, end) = bounds(part);
            if expected >= end {
                continue;
            }
            // What was guessed wrong is walked over again, from where it really begins.
            let walked = match walked {
                Ok(Some(walked)) if from == expected => Some(walked),
                Err(error) if from == expected => return Err(error),
                _ => split.walk(text, expected, end, usize::MAX)?,
            };
            let Some(walked) = walked else { continue };
            index.parts.push(IndexPart {
                first_row: index.len,
                lines: index.lines,
                begin: expected,
                begins: walked.begins,
            });
            index.len += walked.rows;
            index.lines += walked.lines;
            expected = walked.next;
            all_seen.push(walked.seen);
        }
        Ok((index, all_seen))
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// A place at or in front of row `row` where a row begins, and how many rows are to be passed from there.
    pub(crate) fn near(&self, row: usize) -> Option<(usize, usize)> {
        if row >= self.len {
            return None;
        }
        let behind = self.parts.partition_point(|part| part.first_row <= row);
        let part = self.parts.get(behind.checked_sub(1)?)?;
        let inside = row - part.first_row;
        let begin = part.begins.get(inside / STRIDE)?;
        Some((part.begin + *begin as usize, inside % STRIDE))
    }

    /// The number of the line, from 1, in which byte `at` lies.
    pub(crate) fn line(&self, text: &[u8], at: usize) -> u64 {
        let behind = self.parts.partition_point(|part| part.begin <= at);
        let part = behind.checked_sub(1).and_then(|part| self.parts.get(part));
        let (begin, lines) = part.map_or((0, 0), |part| (part.begin, part.lines));
        (lines + line_ends(text.get(begin..at).unwrap_or_default())) as u64 + 1
    }
}

/// The results of `work` for `0..count`, in this order, made by as many threads as there are cores.
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
            // Where no thread can be had this one does the work alone.
            let builder = thread::Builder::new().name("index".to_owned());
            let _ = builder.spawn_scoped(scope, helper);
        }
        helper();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(part, _)| *part);
    done.into_iter().map(|(_, result)| result).collect()
}

/// How many lines end in a text.
pub(crate) fn line_ends(text: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', text).count()
}

/// Rows that are lines, ended by `\n` or `\r\n`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lines {
    /// Whether lines of nothing but white space are no rows.
    pub(crate) skip_blank: bool,
}

impl Lines {
    /// The line that begins at `at`, without its end, and where the next one begins.
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

    /// Row `row` and where it begins.
    pub(crate) fn row<'a>(
        self,
        text: &'a [u8],
        index: &RowIndex,
        row: usize,
    ) -> Option<(&'a [u8], usize)> {
        let (mut at, mut skip) = index.near(row)?;
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

impl Split for Lines {
    type Seen = ();

    fn guess(&self, text: &[u8], at: usize) -> usize {
        let before = at.saturating_sub(1);
        let rest = text.get(before..).unwrap_or_default();
        memchr::memchr(b'\n', rest).map_or(text.len(), |end| before + end + 1)
    }

    fn walk(
        &self,
        text: &[u8],
        begin: usize,
        end: usize,
        _: usize,
    ) -> Result<Option<Walked<()>>, FormatError> {
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
        Ok(Some(Walked {
            next: at,
            rows,
            begins,
            lines: line_ends(text.get(begin..at).unwrap_or_default()),
            seen: (),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_in_any_order() {
        let mut text = String::new();
        // More than two parts, with lines of all lengths.
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
            // One blank line follows every thousandth.
            assert_eq!(number, (row + 1 + row.div_ceil(1000)) as u64);
        }
        assert!(rows.row(text.as_bytes(), &index, lines.len()).is_none());
    }

    #[test]
    fn blank_lines_are_rows_of_a_text() {
        let rows = Lines { skip_blank: false };
        let text = b"a\n\n\nb\n";
        let (index, _) = RowIndex::build(text, 0, &rows).unwrap();
        let all = (0..index.len()).map(|row| rows.row(text, &index, row).unwrap().0);
        assert_eq!(all.collect::<Vec<_>>(), [b"a".as_slice(), b"", b"", b"b"]);
        assert_eq!(RowIndex::build(b"", 0, &rows).unwrap().0.len(), 0);
    }
}
