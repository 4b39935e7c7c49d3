//! Reading a log: tolerant of a file cut off in the middle, strict about everything else.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

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
        let file = File::open(path).map_err(|source| LogError::Open {
            path: path.to_owned(),
            source,
        })?;
        Self::new(file)
    }

    /// Reads from `input`, which may be plain or compressed.
    ///
    /// # Errors
    /// If it is no recording of this version.
    pub fn new(input: impl Read + Send + 'static) -> Result<Self, LogError> {
        let failed = |source| LogError::Io {
            doing: "read",
            lines: 0,
            source,
        };
        let mut input = BufReader::with_capacity(1 << 18, input);
        let start = input.fill_buf().map_err(failed)?;
        let plain: Box<dyn Read + Send> = if start.starts_with(&ZSTD_MAGIC) {
            Box::new(zstd::Decoder::with_buffer(input).map_err(failed)?)
        } else {
            Box::new(input)
        };
        let mut reader = Self {
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
            Err(source) => {
                return Err(LogError::Io {
                    doing: "read",
                    lines: self.lines,
                    source,
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

/// How reading a log ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadOutcome {
    /// Lines read, the header included.
    pub lines: u64,
    /// True if the file ends in the middle.
    pub cut: bool,
}

/// Reads the whole log at `path` and hands its events over in order of time. `each` returns false to stop early.
///
/// # Errors
/// If the file cannot be opened, is no recording, or holds a line that is no event.
pub fn read_log(path: &Path, mut each: impl FnMut(Event) -> bool) -> Result<ReadOutcome, LogError> {
    let mut reader = LogReader::open(path)?;
    let mut sorter = Sorter::new(SORT_WINDOW);
    let mut wanted = true;
    for event in reader.by_ref() {
        sorter.push(event?);
        while wanted && let Some(event) = sorter.pop(None) {
            wanted = each(event);
        }
        if !wanted {
            break;
        }
    }
    while wanted && let Some(event) = sorter.flush() {
        wanted = each(event);
    }
    Ok(ReadOutcome {
        lines: reader.lines,
        cut: reader.cut,
    })
}
