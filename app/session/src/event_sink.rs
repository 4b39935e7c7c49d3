//! Destination of a run's events: the log and the window.

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;
use loadscope_files::{GrowingFile, WriteError};
use loadscope_trace::{Compression, Event, EventKind, LogError, LogWriter};
use loadscope_words::say;

use super::journal::{Entry, NewFiles};
use super::limited::Limited;
use super::memory::SharedLog;
use super::memory_bound::MemoryBound;
use super::selection::{Selection, Selector};
use super::{NewEntry, NewLimited, SessionEvent};

/// Destination of a run's log.
pub enum Record {
    /// No log.
    Off,
    /// Compressed log in memory, for saving it later.
    Memory,
    /// A file, which is removed if nothing is written.
    File(GrowingFile),
    /// A recording with a limit.
    Limited(NewLimited),
    /// The user's journal.
    Journal(NewEntry),
}

/// Callback for new data.
pub type Waker = Arc<dyn Fn() + Send + Sync>;

/// Limit for recorded batch contents, bytes. Events after it are recorded without contents.
const MOST_CONTENT: usize = 512 << 20;

/// Maximum number of events per message. The window applies a chunk in less than a millisecond.
const CHUNK: usize = 1024;

/// Flush interval of the log. Other readers see data after a flush.
const FLUSH_EVERY: Duration = Duration::from_millis(25);

/// Sink that writes the log and sends events to the window.
pub(super) struct EventSink {
    pub out: Sender<SessionEvent>,
    pub wake: Waker,
    log: Option<Log>,
    flushed: Instant,
    /// True if something was written since the last flush.
    unflushed: bool,
    /// Size of the batch contents sent so far, bytes.
    content: usize,
    /// Filter of the recorded and shown events. `None` accepts all.
    selector: Option<Selector>,
    /// Memory limit of the window's runs.
    memory_bound: Option<MemoryBound>,
}

impl EventSink {
    /// Creates a sink that records and shows the selected events.
    ///
    /// # Errors
    /// If the log cannot be created.
    pub fn new(
        record: Record,
        selection: Selection,
        shared: SharedLog,
        out: Sender<SessionEvent>,
        wake: Waker,
    ) -> Result<Self, LogError> {
        let log = match record {
            Record::Off => None,
            Record::Memory => Some(Log::Memory(LogWriter::new(shared, Compression::Zstd)?)),
            Record::File(file) => Some(Log::Later(Box::new(Growing::new(file, None)))),
            Record::Limited(new) => Some(Log::Limited(Box::new(Limited::new(new)), None)),
            Record::Journal(new) => Some(match new.split() {
                (NewFiles::Whole(file), entry) => {
                    Log::Later(Box::new(Growing::new(file, Some(entry))))
                }
                (NewFiles::Limited(new), entry) => {
                    Log::Limited(Box::new(Limited::new(new)), Some(entry))
                }
            }),
        };
        Ok(Self {
            out,
            wake,
            log,
            flushed: Instant::now(),
            unflushed: false,
            content: 0,
            selector: Selector::new(selection),
            memory_bound: None,
        })
    }

    /// Limits the memory of the window's runs, bytes.
    #[must_use]
    pub fn with_memory_limit(mut self, memory: Option<u64>) -> Self {
        self.memory_bound = memory.map(MemoryBound::new);
        self
    }

    /// Writes events of any loaders, and removes contents beyond the limit.
    pub fn write(&mut self, events: &mut Vec<Event>) {
        if let Some(selector) = &mut self.selector {
            selector.select(events);
        }
        events.retain(|e| self.has_room(e));
        if events.is_empty() {
            return;
        }
        if let Some(log) = &mut self.log {
            self.unflushed = true;
            if let Err(e) = log.write(events) {
                self.stop_recording(&e);
            }
        }
    }

    /// Sends events of the shown loader to the window.
    pub fn send_events(&mut self, events: Vec<Event>) {
        // The window checks its time budget between two chunks.
        let mut events = events.into_iter();
        loop {
            let chunk: Vec<Event> = events.by_ref().take(CHUNK).collect();
            if chunk.is_empty() {
                return;
            }
            let bound = self.memory_bound.as_mut();
            let rebuilt = bound.and_then(|bound| bound.record(&chunk));
            self.send(SessionEvent::Events(chunk));
            if let Some(rebuilt) = rebuilt {
                self.send(SessionEvent::Rebuilt(rebuilt));
            }
        }
    }

    /// Sends a message to the window and wakes it.
    pub fn send(&mut self, event: SessionEvent) {
        let _ = self.out.send(event);
        (self.wake)();
    }

    /// Returns true if the event fits into the content limit. Without contents a run of any length fits into memory.
    fn has_room(&mut self, event: &Event) -> bool {
        let EventKind::Content(content) = &event.kind else {
            return true;
        };
        let before = self.content;
        self.content += content.nbytes();
        if before < MOST_CONTENT && self.content >= MOST_CONTENT {
            let text =
                say!("The contents of later batches are not kept: the limit of 512 MB is reached");
            let _ = self.out.send(SessionEvent::Notice(text.to_owned()));
        }
        self.content < MOST_CONTENT
    }

    /// Flushes the log if the interval has passed. The caller also does so without new events, so that all shown events are in the log.
    pub fn flush_when_due(&mut self) {
        if !self.unflushed || self.flushed.elapsed() < FLUSH_EVERY {
            return;
        }
        self.flushed = Instant::now();
        self.unflushed = false;
        if let Some(Err(e)) = self.log.as_mut().map(Log::flush) {
            self.stop_recording(&e);
        }
    }

    /// Completes the log.
    pub fn close(&mut self) {
        let closed = self.log.take().map_or(Ok(()), Log::finish);
        if let Err(e) = closed {
            let _ = self.out.send(SessionEvent::Failed(e));
        }
    }

    /// Ends the recording after an error. The run continues.
    fn stop_recording(&mut self, error: &LogError) {
        let text = match self.log.take().and_then(|log| log.path()) {
            Some(path) => {
                say!("Recording stopped, {path} contains everything before: {error}")
            }
            None => say!("Recording stopped: {error}"),
        };
        let _ = self.out.send(SessionEvent::Failed(text));
    }
}

enum Log {
    Memory(LogWriter<SharedLog>),
    File(Box<LogWriter<Growing>>, String),
    /// A file that is empty so far.
    Later(Box<Growing>),
    /// A recording with a limit, with its entry in the journal if there is one.
    Limited(Box<Limited>, Option<Entry>),
}

impl Log {
    fn write(&mut self, events: &[Event]) -> Result<(), LogError> {
        if matches!(self, Self::Later(_)) {
            self.begin()?;
        }
        match self {
            Self::Later(_) => Ok(()),
            Self::Memory(log) => events.iter().try_for_each(|e| log.write(e)),
            Self::File(log, _) => events.iter().try_for_each(|e| log.write(e)),
            Self::Limited(log, _) => log.write(events),
        }
    }

    /// Writes the header of the file before the first events.
    fn begin(&mut self) -> Result<(), LogError> {
        let empty = Self::Memory(LogWriter::new(SharedLog::default(), Compression::None)?);
        if let Self::Later(file) = std::mem::replace(self, empty) {
            let path = file.file.current_path();
            let (compression, shown) = (
                Compression::for_path(file.file.path()),
                path.display().to_string(),
            );
            *self = Self::File(
                Box::new(LogWriter::without_header(*file, compression)?),
                shown,
            );
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), LogError> {
        match self {
            Self::Later(_) => Ok(()),
            Self::Memory(log) => log.flush(),
            Self::File(log, _) => log.flush(),
            Self::Limited(log, _) => log.flush(),
        }
    }

    /// Returns the path of the recording. Returns `None` if nothing was written.
    fn path(self) -> Option<String> {
        match self {
            Self::Memory(_) | Self::Later(_) => None,
            Self::File(_, path) => Some(path),
            Self::Limited(log, _) => log.abort().map(|path| path.display().to_string()),
        }
    }

    /// Completes the recording. The error names the lost data and the path of the rest.
    fn finish(self) -> Result<(), String> {
        match self {
            Self::Later(file) => {
                file.file.discard();
                Ok(())
            }
            Self::Memory(log) => log.finish().map(drop).map_err(|e| e.to_string()),
            Self::Limited(log, None) => log.finish(),
            Self::Limited(log, Some(entry)) => finish_entry(*log, &entry),
            Self::File(log, path) => {
                let kept = |e: &dyn std::fmt::Display| match std::fs::exists(&path) {
                    Ok(false) => say!("The recording is lost: {e}"),
                    _ => say!("The recording in {path} is incomplete: {e}"),
                };
                let growing = log.finish().map_err(|e| kept(&e))?;
                growing.finish().map_err(|e| match e {
                    // The file under this name now belongs to another program.
                    WriteError::Vanished(_) => say!("The recording is lost: {e}"),
                    WriteError::Moved { .. } => {
                        say!("The recording is complete under another name: {e}")
                    }
                    _ => kept(&e),
                })
            }
        }
    }
}

/// Completes a run with a limit in the journal, or removes it if it was discarded.
fn finish_entry(log: Limited, entry: &Entry) -> Result<(), String> {
    if entry.is_unwanted() {
        log.discard();
        return Ok(());
    }
    let finished = log.finish();
    match entry.is_unwanted() {
        // The run was discarded during `finish`. The discarding thread leaves the removal of the parts to this thread.
        true => {
            entry.discard();
            Ok(())
        }
        false => finished,
    }
}

/// A growing file with a size limit.
struct Growing {
    file: GrowingFile,
    written: u64,
    /// Entry in the journal. `None` for a file of the user.
    entry: Option<Entry>,
}

impl Growing {
    fn new(file: GrowingFile, entry: Option<Entry>) -> Self {
        Self {
            file,
            written: 0,
            entry,
        }
    }

    fn finish(self) -> Result<(), WriteError> {
        match self.entry.is_some_and(|entry| entry.is_unwanted()) {
            true => {
                self.file.discard();
                Ok(())
            }
            false => self.file.finish().map(drop),
        }
    }
}

impl Write for Growing {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if let Some(entry) = &self.entry {
            entry.check(self.written)?;
        }
        let written = self.file.write(bytes)?;
        self.written += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests;
