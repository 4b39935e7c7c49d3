//! Reading a log: tolerant of a file cut off in the middle, strict about everything else.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::ZSTD_MAGIC;
use super::chain::Chain;
use super::counted::Counted;
use super::header::{Header, Heading};
use super::line::{thorough, too_long};
use super::quick::Quick;
use super::unpack::Unpacked;
use super::{MAX_HEADER, MAX_HELD, MAX_LINE, SORT_WINDOW};
use crate::{Event, LogError, Sorter};
use loadscope_words::say;

/// Reads events from a log. Iterate it; afterwards [`LogReader::was_cut`] tells whether the file ends in the middle.
pub struct LogReader {
    consumed: Arc<AtomicU64>,
    pub(super) input: BufReader<Box<dyn Read + Send>>,
    line: Vec<u8>,
    /// Length of the last line.
    length: usize,
    lines: u64,
    cut: bool,
    failed: bool,
    /// Taken from the input by [`LogReader::read_lines`], behind the last whole line.
    pub(super) rest: Vec<u8>,
    /// Nothing is left for it to read.
    pub(super) is_through: bool,
    /// It is compressed.
    pub(super) packed: bool,
    quick: Quick,
    /// What the first line says.
    header: Header,
    /// Bytes of the parts of the recording, if it has any.
    size: Option<u64>,
}

impl LogReader {
    /// Opens the file at `path`, with the parts that stand beside it; compression is found out from its content.
    ///
    /// # Errors
    /// If it cannot be opened or is no recording of this version.
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

    /// Reads the parts of the recording at `path` in `folder` as one.
    fn of_parts(path: &Path, folder: &str, header: &[u8]) -> Result<Self, LogError> {
        let consumed = Arc::new(AtomicU64::new(0));
        let chain = Chain::open(path, folder, header, Arc::clone(&consumed))?;
        let size = Some(chain.size);
        let mut reader = Self::begin(Box::new(chain), consumed, true)?;
        reader.size = size;
        Ok(reader)
    }

    /// Name of the folder with its parts, which stands beside it, if it has any.
    pub fn parts(&self) -> Option<&str> {
        self.header.parts.as_deref()
    }

    /// What the first line of a copy of it in one file has to say.
    pub fn heading(&self) -> Heading<'static> {
        self.header.of_copies()
    }

    /// Bytes of its parts, if it has any and they were opened.
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    /// Reads from `input`, which may be plain or compressed.
    ///
    /// # Errors
    /// If it is no recording of this version.
    pub fn new(input: impl Read + Send + 'static) -> Result<Self, LogError> {
        let failed = |cause| LogError::reading(cause, 0, false);
        let consumed = Arc::new(AtomicU64::new(0));
        let counted = Counted::new(input, Arc::clone(&consumed));
        let mut input = BufReader::with_capacity(1 << 18, counted);
        let start = input.fill_buf().map_err(failed)?;
        let packed = start.starts_with(&ZSTD_MAGIC);
        let plain: Box<dyn Read + Send> = if packed {
            Box::new(Unpacked::new(input).map_err(failed)?)
        } else {
            Box::new(input)
        };
        Self::begin(plain, consumed, packed)
    }

    /// Reads the first line of a text.
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
            quick: Quick::default(),
            header: Header::plain(),
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

    /// Bytes taken from the input so far, before decompression.
    pub fn consumed(&self) -> u64 {
        self.consumed.load(Ordering::Relaxed)
    }

    /// Lines read so far, the header included.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// True if the file ended in the middle of a line or of a compressed block. Everything before was read.
    pub fn was_cut(&self) -> bool {
        self.cut
    }

    /// Reads the next line, of at most `longest` bytes, into `self.line`; false at the end.
    fn next_line(&mut self, longest: usize) -> Result<bool, LogError> {
        self.line.clear();
        let limit = longest as u64 + 1;
        let read = (&mut self.input)
            .take(limit)
            .read_until(b'\n', &mut self.line);
        match read {
            Ok(0) => return Ok(false),
            Ok(_) => {}
            // What zstd says when the compressed data stops in the middle of a frame.
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => {
                self.cut = true;
                return Ok(false);
            }
            Err(cause) => return Err(LogError::reading(cause, self.lines, self.packed)),
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
            if let Some((event, length)) = self.quick.parse(self.input.buffer()) {
                self.input.consume(length);
                self.lines += 1;
                self.length = length;
                return Ok(Some(event));
            }
            if !self.next_line(MAX_LINE)? {
                return Ok(None);
            }
            let ends_here = !self.line.ends_with(b"\n");
            return match thorough(&self.line) {
                Ok(None) => continue,
                Ok(event) => Ok(event),
                // The last line was being written when the program stopped.
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

/// How reading a log ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadOutcome {
    /// Lines read, the header included.
    pub lines: u64,
    /// True if the file ends in the middle.
    pub cut: bool,
    /// Events so far out of order that they count as happening later than they did.
    pub late: u64,
}

/// Reads the whole log at `path` and hands its events over in order of time, each with the number of bytes of the file that
/// were read. `each` returns false to stop early.
///
/// # Errors
/// If the file cannot be opened, is no recording, or holds a line that is no event.
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

/// The next event that no earlier one is expected to follow, or the oldest if too much is held back.
fn next_of(sorter: &mut Sorter) -> Option<Event> {
    match sorter.pop(None) {
        None if sorter.weight() > MAX_HELD => sorter.flush(),
        next => next,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header, then the same line for ever.
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
    fn a_log_in_which_no_time_passes_is_not_held_back_whole() {
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
