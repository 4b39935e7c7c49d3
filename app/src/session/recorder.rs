//! The thread that starts the engine, puts its events into order, writes the log and passes them on to the window.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;
use loadscope_engine::{ContentPolicy, RunControl, RunHandle};
use loadscope_trace::{
    Compression, Event, EventKind, LogError, LogWriter, Nanos, RunId, RunOptions, Sorter,
};

use super::file::late;
use super::{Record, SessionError, Update, Waker};

/// The compressed log of a run in memory, as far as it has been flushed.
pub(super) type SharedLog = Arc<Mutex<Vec<u8>>>;

/// How much of the workers' time may go into looking inside the batches.
const CONTENT: ContentPolicy = ContentPolicy::Share(0.02);

/// Contents of batches are kept up to this many bytes; beyond, events are kept and pictures are not.
const MOST_CONTENT: usize = 512 << 20;

/// What the recorder is to do.
pub(super) struct Job {
    pub options: RunOptions,
    pub control: RunControl,
    pub record: Record,
    pub shared: SharedLog,
    pub out: Sender<Update>,
    pub wake: Waker,
}

impl Job {
    /// Starts the engine and follows it to its end.
    pub fn run(self) {
        let (out, wake) = (self.out.clone(), Arc::clone(&self.wake));
        match self.start() {
            Ok(pump) => pump.run(),
            Err(e) => {
                let _ = out.send(Update::Ended(Some(e.to_string())));
                wake();
            }
        }
    }

    fn start(self) -> Result<Pump, SessionError> {
        // Without a record nobody will look inside the batches.
        let content = match self.record {
            Record::Off => ContentPolicy::Off,
            _ => CONTENT,
        };
        // Before the file is created: options that are refused must not empty an old recording.
        let run = loadscope_engine::start(&self.options, content, self.control)?;
        let log = match self.record {
            Record::Off => None,
            Record::Memory => Some(Log::Memory(LogWriter::new(
                Memory(self.shared),
                Compression::Zstd,
            )?)),
            Record::File(path) => Some(Log::file(path)?),
        };
        Ok(Pump {
            run,
            log,
            sorter: Sorter::new(STRAGGLERS),
            out: self.out,
            wake: self.wake,
            flushed: Instant::now(),
            unflushed: false,
            content: 0,
        })
    }
}

/// How long events of other threads may be on their way.
const STRAGGLERS: Nanos = Nanos(5_000_000);

/// How often what was written becomes readable to others.
const FLUSH_EVERY: Duration = Duration::from_millis(100);

/// How often the events are fetched. Nobody waits at their channel: a thread that tells one and finds somebody asleep there
/// would have to wake him, which takes longer than to tell a hundred.
const LOOK_EVERY: Duration = Duration::from_millis(4);

/// Takes the engine's events, sorts them, writes the log and passes them on.
struct Pump {
    run: RunHandle,
    log: Option<Log>,
    sorter: Sorter,
    out: Sender<Update>,
    wake: Waker,
    flushed: Instant,
    /// True if something was written since.
    unflushed: bool,
    /// Bytes of pictures and numbers that were passed on.
    content: usize,
}

impl Pump {
    fn run(mut self) {
        loop {
            let disconnected = loop {
                match self.run.events.try_recv() {
                    Ok(event) => self.sorter.push(event),
                    Err(error) => break error.is_disconnected(),
                }
            };
            if disconnected || self.run.is_finished() {
                break;
            }
            let now = self.run.control.now();
            let mut ready = Vec::new();
            // The clock of a paused run stands still; nothing that is not here yet can be earlier.
            let all = self.run.control.is_paused();
            let next = |sorter: &mut Sorter| {
                if all {
                    sorter.flush()
                } else {
                    sorter.pop(Some(now))
                }
            };
            while let Some(event) = next(&mut self.sorter) {
                ready.push(event);
            }
            self.pass_on(ready);
            self.flush_when_due();
            std::thread::sleep(LOOK_EVERY);
        }
        self.finish();
    }

    fn finish(mut self) {
        let ended = self.run.join().err().map(|e| e.to_string());
        while let Ok(event) = self.run.events.try_recv() {
            self.sorter.push(event);
        }
        let mut rest: Vec<Event> = std::iter::from_fn(|| self.sorter.flush()).collect();
        let now = self.run.control.now();
        if self.sorter.late() > 0 {
            rest.push(late(RunId(0), now, self.sorter.late()));
        }
        let count = self.run.dropped();
        if count > 0 {
            rest.push(Event {
                at: now,
                run: RunId(0),
                kind: EventKind::Dropped { count },
            });
        }
        self.pass_on(rest);
        let closed = self.log.take().map_or(Ok(()), Log::finish);
        if let Err(e) = closed {
            let _ = self.out.send(Update::Failed(e.to_string()));
        }
        let _ = self.out.send(Update::Ended(ended));
        (self.wake)();
    }

    fn pass_on(&mut self, mut events: Vec<Event>) {
        events.retain(|e| self.has_room(e));
        if events.is_empty() {
            return;
        }
        if let Some(log) = &mut self.log {
            self.unflushed = true;
            if let Err(e) = log.write(&events) {
                self.give_up(&e);
            }
        }
        let _ = self.out.send(Update::Events(events));
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
    fn flush_when_due(&mut self) {
        if !self.unflushed || self.flushed.elapsed() < FLUSH_EVERY {
            return;
        }
        self.flushed = Instant::now();
        self.unflushed = false;
        if let Some(Err(e)) = self.log.as_mut().map(Log::flush) {
            self.give_up(&e);
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
}

impl Log {
    fn file(path: PathBuf) -> Result<Self, LogError> {
        LogWriter::create(&path).map(Self::File)
    }

    fn write(&mut self, events: &[Event]) -> Result<(), LogError> {
        match self {
            Self::Memory(log) => events.iter().try_for_each(|e| log.write(e)),
            Self::File(log) => events.iter().try_for_each(|e| log.write(e)),
        }
    }

    fn flush(&mut self) -> Result<(), LogError> {
        match self {
            Self::Memory(log) => log.flush(),
            Self::File(log) => log.flush(),
        }
    }

    fn finish(self) -> Result<(), LogError> {
        match self {
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
