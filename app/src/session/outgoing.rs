//! What becomes of the events of a run under way: they are written to the log and passed on to whoever watches.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;
use loadscope_trace::{Compression, Event, EventKind, LogError, LogWriter};

use super::{Record, Update, Waker};

/// The compressed log of a run in memory, as far as it has been flushed.
pub(super) type SharedLog = Arc<Mutex<Vec<u8>>>;

/// Contents of batches are kept up to this many bytes; beyond, events are kept and pictures are not.
const MOST_CONTENT: usize = 512 << 20;

/// How often what was written becomes readable to others.
const FLUSH_EVERY: Duration = Duration::from_millis(100);

/// Writes the log and passes events on.
pub(super) struct Outgoing {
    pub out: Sender<Update>,
    pub wake: Waker,
    log: Option<Log>,
    flushed: Instant,
    /// True if something was written since.
    unflushed: bool,
    /// Bytes of pictures and numbers that were passed on.
    content: usize,
}

impl Outgoing {
    /// # Errors
    /// If the log cannot be begun.
    pub fn new(
        record: Record,
        shared: SharedLog,
        out: Sender<Update>,
        wake: Waker,
    ) -> Result<Self, LogError> {
        let log = match record {
            Record::Off => None,
            Record::Memory => Some(Log::Memory(LogWriter::new(
                Memory(shared),
                Compression::Zstd,
            )?)),
            Record::File(path) => Some(Log::file(path)?),
            Record::FileOnceTold(path) => Some(Log::Later(path)),
        };
        Ok(Self {
            out,
            wake,
            log,
            flushed: Instant::now(),
            unflushed: false,
            content: 0,
        })
    }

    /// Writes events of any loaders, and drops those that there is no room for.
    pub fn write(&mut self, events: &mut Vec<Event>) {
        events.retain(|e| self.has_room(e));
        if events.is_empty() {
            return;
        }
        if let Some(log) = &mut self.log {
            self.unflushed = true;
            if let Err(e) = log.write(events) {
                self.give_up(&e);
            }
        }
    }

    /// Passes events of the loader that is looked at on.
    pub fn show(&mut self, events: Vec<Event>) {
        if events.is_empty() {
            return;
        }
        self.tell(Update::Events(events));
    }

    /// Passes something on.
    pub fn tell(&mut self, update: Update) {
        let _ = self.out.send(update);
        (self.wake)();
    }

    /// Without pictures a run of any length fits into memory; with them it may not.
    fn has_room(&mut self, event: &Event) -> bool {
        let EventKind::Content(content) = &event.kind else {
            return true;
        };
        let before = self.content;
        self.content += content.nbytes();
        if before < MOST_CONTENT && self.content >= MOST_CONTENT {
            let text = "The contents of later batches are not kept: half a gigabyte is full";
            let _ = self.out.send(Update::Failed(text.to_owned()));
        }
        self.content < MOST_CONTENT
    }

    /// Also while nothing happens: what was shown is there to be saved.
    pub fn flush_when_due(&mut self) {
        if !self.unflushed || self.flushed.elapsed() < FLUSH_EVERY {
            return;
        }
        self.flushed = Instant::now();
        self.unflushed = false;
        if let Some(Err(e)) = self.log.as_mut().map(Log::flush) {
            self.give_up(&e);
        }
    }

    /// Ends the log.
    pub fn close(&mut self) {
        let closed = self.log.take().map_or(Ok(()), Log::finish);
        if let Err(e) = closed {
            let _ = self.out.send(Update::Failed(e.to_string()));
        }
    }

    /// The run goes on; its recording has ended here.
    fn give_up(&mut self, error: &LogError) {
        self.log = None;
        let _ = self.out.send(Update::Failed(format!(
            "The recording has stopped. {error}"
        )));
    }
}

enum Log {
    Memory(LogWriter<Memory>),
    File(LogWriter<File>),
    /// Nothing has been written yet.
    Later(PathBuf),
}

impl Log {
    fn file(path: PathBuf) -> Result<Self, LogError> {
        LogWriter::create(&path).map(Self::File)
    }

    fn write(&mut self, events: &[Event]) -> Result<(), LogError> {
        if let Self::Later(path) = self {
            *self = Self::file(std::mem::take(path))?;
        }
        match self {
            Self::Later(_) => Ok(()),
            Self::Memory(log) => events.iter().try_for_each(|e| log.write(e)),
            Self::File(log) => events.iter().try_for_each(|e| log.write(e)),
        }
    }

    fn flush(&mut self) -> Result<(), LogError> {
        match self {
            Self::Later(_) => Ok(()),
            Self::Memory(log) => log.flush(),
            Self::File(log) => log.flush(),
        }
    }

    fn finish(self) -> Result<(), LogError> {
        match self {
            Self::Later(_) => Ok(()),
            Self::Memory(log) => log.finish().map(drop),
            Self::File(log) => log.finish().map(drop),
        }
    }
}

/// A log in memory that others may read while it grows.
pub(super) struct Memory(pub SharedLog);

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        log.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
