//! Reading a log: tolerant of a file cut off in the middle, strict about everything else.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::MAX_LINE;
use super::header::Header;
use super::wire::Line;
use crate::{Event, LogError, Nanos, Sorter};

/// The first bytes of a zstd frame.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// How far events of different processes may be out of order in a file.
const SORT_WINDOW: Nanos = Nanos(1_000_000_000);

/// Reads events from a log. Iterate it; afterwards [`LogReader::was_cut`] tells whether the file ends in the middle.
pub struct LogReader {
    consumed: Arc<AtomicU64>,
    input: BufReader<Box<dyn Read + Send>>,
    line: Vec<u8>,
    lines: u64,
    cut: bool,
    failed: bool,
}

impl LogReader {
    /// Opens the file at `path`; compression is found out from its content.
    ///
    /// # Errors
    /// If it cannot be opened or is no recording of this version.
    pub fn open(path: &Path) -> Result<Self, LogError> {
        let file = File::open(path).map_err(|cause| LogError::Open {
            path: path.to_owned(),
            cause,
        })?;
        Self::new(file)
    }

    /// Reads from `input`, which may be plain or compressed.
    ///
    /// # Errors
    /// If it is no recording of this version.
    pub fn new(input: impl Read + Send + 'static) -> Result<Self, LogError> {
        let failed = |cause| LogError::Io {
            doing: "read",
            lines: 0,
            cause,
        };
        let consumed = Arc::new(AtomicU64::new(0));
        let counted = Counted {
            inner: input,
            consumed: Arc::clone(&consumed),
        };
        let mut input = BufReader::with_capacity(1 << 18, counted);
        let start = input.fill_buf().map_err(failed)?;
        let plain: Box<dyn Read + Send> = if start.starts_with(&ZSTD_MAGIC) {
            Box::new(zstd::Decoder::with_buffer(input).map_err(failed)?)
        } else {
            Box::new(input)
        };
        let mut reader = Self {
            consumed,
            input: BufReader::with_capacity(1 << 18, plain),
            line: Vec::with_capacity(256),
            lines: 0,
            cut: false,
            failed: false,
        };
        match reader.next_line() {
            Ok(_) => Header::parse(reader.line.trim_ascii())?,
            Err(LogError::Io { .. } | LogError::Line { .. }) => {
                let why = "its first line cannot be read".to_owned();
                return Err(LogError::NotALog { why });
            }
            Err(other) => return Err(other),
        };
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

    /// Reads the next line into `self.line`; false at the end.
    fn next_line(&mut self) -> Result<bool, LogError> {
        self.line.clear();
        let limit = MAX_LINE as u64 + 1;
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
            Err(cause) => {
                return Err(LogError::Io {
                    doing: "read",
                    lines: self.lines,
                    cause,
                });
            }
        }
        self.lines += 1;
        if self.line.len() > MAX_LINE {
            let why = format!("it is longer than {} MiB", MAX_LINE >> 20);
            return Err(LogError::Line {
                line: self.lines,
                why,
            });
        }
        Ok(true)
    }

    fn next_event(&mut self) -> Result<Option<Event>, LogError> {
        loop {
            if !self.next_line()? {
                return Ok(None);
            }
            let ends_here = !self.line.ends_with(b"\n");
            let text = self.line.trim_ascii();
            if text.is_empty() {
                continue;
            }
            let event = serde_json::from_slice::<Line<'_>>(text)
                .map_err(|e| e.to_string())
                .and_then(Line::into_event);
            return match event {
                Ok(event) => Ok(Some(event)),
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

/// Counts what is read, so that progress can be shown.
struct Counted<R> {
    inner: R,
    consumed: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.consumed.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

/// How reading a log ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadOutcome {
    /// Lines read, the header included.
    pub lines: u64,
    /// True if the file ends in the middle.
    pub cut: bool,
}

/// Reads the whole log at `path` and hands its events over in order of time, each with the number of bytes of the file that
/// were read. `each` returns false to stop early.
///
/// # Errors
/// If the file cannot be opened, is no recording, or holds a line that is no event.
pub fn read_log(
    path: &Path,
    mut each: impl FnMut(Event, u64) -> bool,
) -> Result<ReadOutcome, LogError> {
    let mut reader = LogReader::open(path)?;
    let mut sorter = Sorter::new(SORT_WINDOW);
    let mut wanted = true;
    while let Some(event) = reader.next() {
        sorter.push(event?);
        while wanted && let Some(event) = sorter.pop(None) {
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
    })
}
