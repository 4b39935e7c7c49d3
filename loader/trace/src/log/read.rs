//! Reading of recordings. A truncated file is accepted, any other error is not.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::ZSTD_MAGIC;
use super::counting_reader::CountingReader;
use super::decompress::ZstdReader;
use super::fast_parser::FastParser;
use super::header::Header;
use super::line::{parse_line, too_long};
use super::parts_reader::PartsReader;
use super::{MAX_HEADER, MAX_HELD, MAX_LINE, SORT_WINDOW};
use crate::{Event, LogError, Sorter};
use loadscope_words::say;

/// Iterator over the events of a recording. At the end, [`LogReader::is_truncated`] returns whether the file is truncated.
pub struct LogReader {
    consumed: Arc<AtomicU64>,
    pub(super) input: BufReader<Box<dyn Read + Send>>,
    line: Vec<u8>,
    /// Length of the last line.
    length: usize,
    lines: u64,
    cut: bool,
    failed: bool,
    /// Incomplete line after the last call of [`LogReader::read_lines`].
    pub(super) rest: Vec<u8>,
    /// True at the end of the input.
    pub(super) is_through: bool,
    /// True if the input is compressed.
    pub(super) packed: bool,
    fast_parser: FastParser,
    header: Header,
    /// Total size of the recording's parts in bytes, if any.
    size: Option<u64>,
}

impl LogReader {
    /// Opens the recording at `path` and its parts. Compression is detected from the content.
    ///
    /// # Errors
    /// The file cannot be opened or is not a recording of a supported version.
    pub fn open(path: &Path) -> Result<Self, LogError> {
        let file = File::open(path).map_err(|cause| LogError::Open {
            path: path.to_owned(),
            cause,
        })?;
        let reader = Self::new(file)?;
        match &reader.header.parts {
            Some(folder) => Self::of_parts(path, folder, &reader.line),
            None => Ok(reader),
        }
    }

    /// Reads the parts of the recording at `path` in `folder` as one recording.
    fn of_parts(path: &Path, folder: &str, header: &[u8]) -> Result<Self, LogError> {
        let consumed = Arc::new(AtomicU64::new(0));
        let parts = PartsReader::open(path, folder, header, Arc::clone(&consumed))?;
        let size = Some(parts.size);
        let mut reader = Self::begin(Box::new(parts), consumed, true)?;
        reader.size = size;
        Ok(reader)
    }

    /// Returns the name of the folder with the parts, if any.
    pub fn parts(&self) -> Option<&str> {
        self.header.parts.as_deref()
    }

    /// Returns the total size of the opened parts in bytes, if any.
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    /// Reads from `input`, which can be compressed.
    ///
    /// # Errors
    /// The input is not a recording of a supported version.
    pub fn new(input: impl Read + Send + 'static) -> Result<Self, LogError> {
        let failed = |cause| LogError::from_read(cause, 0, false);
        let consumed = Arc::new(AtomicU64::new(0));
        let counted = CountingReader::new(input, Arc::clone(&consumed));
        let mut input = BufReader::with_capacity(1 << 18, counted);
        let start = input.fill_buf().map_err(failed)?;
        let packed = start.starts_with(&ZSTD_MAGIC);
        let plain: Box<dyn Read + Send> = if packed {
            Box::new(ZstdReader::new(input).map_err(failed)?)
        } else {
            Box::new(input)
        };
        Self::begin(plain, consumed, packed)
    }

    /// Reads the header.
    fn begin(
        plain: Box<dyn Read + Send>,
        consumed: Arc<AtomicU64>,
        packed: bool,
    ) -> Result<Self, LogError> {
        let mut reader = Self {
            consumed,
            input: BufReader::with_capacity(1 << 18, plain),
            line: Vec::with_capacity(256),
            length: 0,
            lines: 0,
            cut: false,
            failed: false,
            rest: Vec::new(),
            is_through: false,
            packed,
            fast_parser: FastParser::default(),
            header: Header::new(),
            size: None,
        };
        match reader.next_line(MAX_HEADER) {
            Ok(false) if reader.cut => {
                return Err(LogError::CutHeader);
            }
            Ok(_) => reader.header = Header::parse(reader.line.trim_ascii())?,
            Err(LogError::Compressed { .. }) => {
                let why = say!(
                    "its first line cannot be decompressed (if it was a recording, recover it with `loadscope repair FILE`)"
                );
                return Err(LogError::NotALog {
                    why: why.to_owned(),
                });
            }
            Err(LogError::Io { .. } | LogError::Line { .. }) => {
                let why = say!("its first line cannot be read").to_owned();
                return Err(LogError::NotALog { why });
            }
            Err(other) => return Err(other),
        }
        Ok(reader)
    }

    /// Returns the number of input bytes read so far, before decompression.
    pub fn consumed(&self) -> u64 {
        self.consumed.load(Ordering::Relaxed)
    }

    /// Returns the number of lines read so far, including the header.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Returns true if the file ended in the middle of a line or of a compressed block. Everything before it was read.
    pub fn is_truncated(&self) -> bool {
        self.cut
    }

    /// Reads the next line, of at most `longest` bytes, into `self.line`. Returns false at the end.
    fn next_line(&mut self, longest: usize) -> Result<bool, LogError> {
        self.line.clear();
        let limit = longest as u64 + 1;
        let read = (&mut self.input)
            .take(limit)
            .read_until(b'\n', &mut self.line);
        match read {
            Ok(0) => return Ok(false),
            Ok(_) => {}
            // zstd reports this if the compressed data ends in the middle of a frame.
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => {
                self.cut = true;
                return Ok(false);
            }
            Err(cause) => return Err(LogError::from_read(cause, self.lines, self.packed)),
        }
        self.lines += 1;
        self.length = self.line.len();
        if self.line.len() > longest {
            return Err(too_long(self.lines, longest));
        }
        Ok(true)
    }

    fn next_event(&mut self) -> Result<Option<Event>, LogError> {
        loop {
            if let Some((event, length)) = self.fast_parser.parse(self.input.buffer()) {
                self.input.consume(length);
                self.lines += 1;
                self.length = length;
                return Ok(Some(event));
            }
            if !self.next_line(MAX_LINE)? {
                return Ok(None);
            }
            let ends_here = !self.line.ends_with(b"\n");
            return match parse_line(&self.line) {
                Ok(None) => continue,
                Ok(event) => Ok(event),
                // The program stopped while it wrote the last line.
                Err(_) if ends_here => {
                    self.cut = true;
                    Ok(None)
                }
                Err(why) => Err(LogError::Line {
                    line: self.lines,
                    why,
                }),
            };
        }
    }
}

impl Iterator for LogReader {
    type Item = Result<Event, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let next = self.next_event();
        self.failed = !matches!(next, Ok(Some(_)));
        next.transpose()
    }
}

/// Result of reading a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadOutcome {
    /// Lines read, including the header.
    pub lines: u64,
    /// True if the file is truncated.
    pub cut: bool,
    /// Number of events that were too late to be sorted, so their time was changed.
    pub late: u64,
}

/// Reads the recording at `path` and passes on its events in order of time, each with the number of bytes read. `each` returns false to
/// stop early.
///
/// # Errors
/// The file cannot be opened, is not a recording, or contains an invalid line.
pub fn read_log(
    path: &Path,
    each: impl FnMut(Event, u64) -> bool,
) -> Result<ReadOutcome, LogError> {
    in_order(LogReader::open(path)?, each)
}

fn in_order(
    mut reader: LogReader,
    mut each: impl FnMut(Event, u64) -> bool,
) -> Result<ReadOutcome, LogError> {
    let mut sorter = Sorter::new(SORT_WINDOW);
    let mut wanted = true;
    while let Some(event) = reader.next() {
        sorter.push_weighing(event?, reader.length);
        while wanted && let Some(event) = next_of(&mut sorter) {
            wanted = each(event, reader.consumed());
        }
        if !wanted {
            break;
        }
    }
    while wanted && let Some(event) = sorter.flush() {
        wanted = each(event, reader.consumed());
    }
    Ok(ReadOutcome {
        lines: reader.lines,
        cut: reader.cut,
        late: sorter.late(),
    })
}

/// Returns the next event that no earlier event is expected to follow, or the oldest if too much is held.
fn next_of(sorter: &mut Sorter) -> Option<Event> {
    match sorter.pop(None) {
        None if sorter.weight() > MAX_HELD => sorter.flush(),
        next => next,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Header followed by endless repetitions of one line.
    struct Endless {
        line: Vec<u8>,
        at: usize,
    }

    impl Read for Endless {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            let rest = &self.line[self.at % self.line.len()..];
            let n = rest.len().min(buf.len());
            buf[..n].copy_from_slice(&rest[..n]);
            self.at += n;
            Ok(n)
        }
    }

    #[test]
    fn a_log_with_constant_time_is_not_held_in_full() {
        let mut line = br#"{"t":0,"e":"run_ended"}"#.to_vec();
        line.resize(1 << 20, b' ');
        line.push(b'\n');
        let header = io::Cursor::new(b"{\"loadscope\":1}\n".to_vec());
        let reader = LogReader::new(header.chain(Endless { line, at: 0 })).expect("a header");
        let mut count = 0;
        let outcome = in_order(reader, |_, consumed| {
            assert!(consumed < 3 * MAX_HELD as u64, "{consumed} bytes");
            count += 1;
            count < 10
        });
        assert!(!outcome.expect("sound lines").cut);
        assert_eq!(count, 10);
    }
}
