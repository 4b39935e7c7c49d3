//! A log with a known upper bound of its size.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use loadscope_files::{Existing, GrowingFile, WriteError};
use loadscope_trace::{Compression, Event, LogError, LogWriter, format_event};

/// Upper bound for the end of frames: the checksum of zstd, and our checksum per 8 MiB of text.
const END: u64 = 4096;

/// A compressed log in the folder of a recording.
pub(super) struct BoundedLog {
    log: LogWriter<CountingFile>,
    path: PathBuf,
    /// Size of the file, bytes.
    written: Arc<AtomicU64>,
    /// Size of text that is not in the file yet, bytes.
    waiting: u64,
}

/// Returns the maximum size of a compressed text, bytes.
pub(super) fn max_compressed_size(text: u64) -> u64 {
    text + text / 64 + END
}

impl BoundedLog {
    /// Creates a file that contains `head` when it appears.
    pub fn create(path: PathBuf, head: &[u8]) -> Result<Self, LogError> {
        let file = GrowingFile::create(&path, Existing::Keep, head).map_err(written)?;
        let written = Arc::new(AtomicU64::new(head.len() as u64));
        let counting = CountingFile {
            file,
            written: Arc::clone(&written),
        };
        Ok(Self {
            log: LogWriter::without_header(counting, Compression::Zstd)?,
            path,
            written,
            waiting: 0,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the current size of the file, bytes.
    pub fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Returns the maximum size after another line of `line` bytes.
    pub fn with(&self, line: usize) -> u64 {
        self.written() + max_compressed_size(self.waiting + line as u64 + 1)
    }

    /// Writes a line, given without its newline.
    pub fn put(&mut self, line: &[u8]) -> Result<(), LogError> {
        self.waiting += line.len() as u64 + 1;
        self.log.copy_line(line)
    }

    pub fn flush(&mut self) -> Result<(), LogError> {
        if self.waiting > 0 {
            self.log.flush()?;
            self.waiting = 0;
        }
        Ok(())
    }

    /// Completes the log. Returns its size, bytes.
    pub fn finish(self) -> Result<u64, LogError> {
        self.log.finish()?.file.finish().map_err(written)?;
        Ok(self.written.load(Ordering::Relaxed))
    }
}

/// Returns a compressed log with these events.
pub(super) fn head(events: &[Event]) -> Result<Vec<u8>, LogError> {
    finished(LogWriter::new(Vec::new(), Compression::Zstd)?, events)
}

/// Returns the start of the part with this number: a compressed log with these events.
pub(super) fn head_of_part(number: u32, events: &[Event]) -> Result<Vec<u8>, LogError> {
    finished(
        LogWriter::part(Vec::new(), Compression::Zstd, number)?,
        events,
    )
}

fn finished(mut log: LogWriter<Vec<u8>>, events: &[Event]) -> Result<Vec<u8>, LogError> {
    events.iter().try_for_each(|event| log.write(event))?;
    log.finish()
}

/// Replaces `text` with the line of an event.
pub(super) fn line(event: &Event, text: &mut Vec<u8>) -> Result<(), LogError> {
    text.clear();
    format_event(event, text)
}

/// Converts a write error.
pub(super) fn written(error: WriteError) -> LogError {
    LogError::Io {
        doing: "write",
        lines: 0,
        cause: io::Error::other(error.to_string()),
    }
}

/// A file that counts its bytes.
struct CountingFile {
    file: GrowingFile,
    written: Arc<AtomicU64>,
}

impl Write for CountingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.written.fetch_add(written as u64, Ordering::Relaxed);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
