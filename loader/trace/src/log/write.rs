//! Writing of recordings.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::fast_writer;
use super::frames::FrameWriter;
use super::header::Header;
use super::wire::Line;
use crate::{Event, LogError};

/// Compression of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Plain text (`.jsonl`).
    None,
    /// zstd (`.jsonl.zst`), about a tenth of the size.
    Zstd,
}

impl Compression {
    /// Returns the compression for a file name: zstd if it ends in `.zst`.
    pub fn for_path(path: &Path) -> Self {
        match path.extension() {
            Some(ext) if ext.eq_ignore_ascii_case("zst") => Self::Zstd,
            _ => Self::None,
        }
    }
}

/// Size of the write buffer, bytes. Each write takes time on a slow disk.
const BUFFER: usize = 64 << 10;

enum Sink<W: Write> {
    Plain(BufWriter<W>),
    Zstd(Box<FrameWriter<W>>),
}

impl<W: Write> Sink<W> {
    fn write_line(&mut self, line: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(w) => w.write_all(line),
            Self::Zstd(w) => w.write_line(line),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(w) => w.flush(),
            Self::Zstd(w) => w.flush(),
        }
    }
}

/// Writer of events. Call [`LogWriter::finish`] at the end, because it reports a full disk.
pub struct LogWriter<W: Write> {
    sink: Sink<W>,
    line: Vec<u8>,
    lines: u64,
}

impl LogWriter<File> {
    /// Creates the file at `path`, with the compression for its name. An existing file is not overwritten.
    ///
    /// # Errors
    /// The file exists, or cannot be created or written.
    pub fn create(path: &Path) -> Result<Self, LogError> {
        let file = File::create_new(path).map_err(|cause| LogError::Open {
            path: path.to_owned(),
            cause,
        })?;
        Self::new(file, Compression::for_path(path))
    }
}

impl<W: Write> LogWriter<W> {
    /// Starts a recording on `writer` with a header.
    ///
    /// # Errors
    /// `writer` fails.
    pub fn new(writer: W, compression: Compression) -> Result<Self, LogError> {
        Self::with_header(writer, compression, &Header::new())
    }

    /// Starts the file of a recording in parts, which are in this folder.
    ///
    /// # Errors
    /// `writer` fails.
    pub fn in_parts(writer: W, compression: Compression, folder: &str) -> Result<Self, LogError> {
        let mut header = Header::new();
        header.parts = Some(folder.to_owned());
        Self::with_header(writer, compression, &header)
    }

    /// Starts the part of a recording with this number.
    ///
    /// # Errors
    /// `writer` fails.
    pub fn part(writer: W, compression: Compression, number: u32) -> Result<Self, LogError> {
        let mut header = Header::new();
        header.part = Some(number);
        Self::with_header(writer, compression, &header)
    }

    fn with_header(writer: W, compression: Compression, header: &Header) -> Result<Self, LogError> {
        let mut log = Self::without_header(writer, compression)?;
        log.write_json_line(header)?;
        Ok(log)
    }

    /// Starts a recording without a header, for lines copied with [`LogWriter::copy_line`], the header first.
    ///
    /// # Errors
    /// Memory for the compressor cannot be allocated.
    pub fn without_header(writer: W, compression: Compression) -> Result<Self, LogError> {
        let sink = match compression {
            Compression::None => Sink::Plain(BufWriter::with_capacity(BUFFER, writer)),
            Compression::Zstd => {
                let frames = FrameWriter::new(writer).map_err(|cause| LogError::Io {
                    doing: "write",
                    lines: 0,
                    cause,
                })?;
                Sink::Zstd(Box::new(frames))
            }
        };
        Ok(Self {
            sink,
            line: Vec::with_capacity(256),
            lines: 0,
        })
    }

    /// Sets the frame size. Each frame ends with the line that reaches this number of uncompressed bytes.
    #[must_use]
    pub fn with_frame_size(mut self, bytes: u64) -> Self {
        if let Sink::Zstd(frames) = &mut self.sink {
            frames.max_frame = bytes;
        }
        self
    }

    /// Writes one event.
    ///
    /// # Errors
    /// The disk is full or the pipe is closed.
    pub fn write(&mut self, event: &Event) -> Result<(), LogError> {
        self.line.clear();
        if !fast_writer::write_line(event, &mut self.line) {
            return self.write_json_line(&Line::of(event));
        }
        self.end_line()
    }

    fn write_json_line(&mut self, value: &impl serde::Serialize) -> Result<(), LogError> {
        self.line.clear();
        let made = serde_json::to_writer(&mut self.line, value).map_err(io::Error::from);
        self.checked(made)?;
        self.end_line()
    }

    fn end_line(&mut self) -> Result<(), LogError> {
        self.line.push(b'\n');
        let written = self.sink.write_line(&self.line);
        self.checked(written)?;
        self.lines += 1;
        Ok(())
    }

    /// Writes a line of another recording, given without its end.
    ///
    /// # Errors
    /// The disk is full or the pipe is closed.
    pub fn copy_line(&mut self, line: &[u8]) -> Result<(), LogError> {
        self.line.clear();
        self.line.extend_from_slice(line);
        self.end_line()
    }

    fn checked<T>(&self, result: io::Result<T>) -> Result<T, LogError> {
        result.map_err(|cause| LogError::Io {
            doing: "write",
            lines: self.lines,
            cause,
        })
    }

    /// Makes all events so far readable in the file. If the program is killed later, they are not lost.
    ///
    /// # Errors
    /// The disk is full or the pipe is closed.
    pub fn flush(&mut self) -> Result<(), LogError> {
        let flushed = self.sink.flush();
        self.checked(flushed)
    }

    /// Ends the recording and returns the writer.
    ///
    /// # Errors
    /// The disk is full or the pipe is closed.
    pub fn finish(self) -> Result<W, LogError> {
        let lines = self.lines;
        let failed = |cause| LogError::Io {
            doing: "write",
            lines,
            cause,
        };
        let writer = match self.sink {
            Sink::Plain(w) => w,
            Sink::Zstd(w) => w.finish().map_err(failed)?,
        };
        writer.into_inner().map_err(|e| failed(e.into_error()))
    }
}

/// Appends the line of an event to `text`, without a line end.
///
/// # Errors
/// Serialization fails.
pub fn format_event(event: &Event, text: &mut Vec<u8>) -> Result<(), LogError> {
    if fast_writer::write_line(event, text) {
        return Ok(());
    }
    serde_json::to_writer(text, &Line::of(event)).map_err(|cause| LogError::Io {
        doing: "write",
        lines: 0,
        cause: cause.into(),
    })
}
