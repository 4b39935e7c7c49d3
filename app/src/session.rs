//! Where events come from: the embedded engine, or a file. The only module that names the engine.
//!
//! Whatever the origin, what arrives is an [`Update`] on one channel. A thread of its own sorts the events and writes the
//! log, so that neither the loader nor the window waits for a disk.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use loadscope_engine::{ContentPolicy, EngineError, RunControl, RunHandle};
use loadscope_trace::{
    Compression, Event, EventKind, LogError, LogReader, LogWriter, Nanos, Run, RunId, RunOptions,
    Sorter, read_log,
};

/// Something new from a session.
pub enum Update {
    /// The engine did something.
    Events(Vec<Event>),
    /// So much of a file has been read, 0 to 1.
    Loading(f32),
    /// A file has been read.
    Loaded {
        /// What was in it.
        run: Box<Run>,
        /// True if it ends in the middle.
        cut: bool,
    },
    /// Nothing more will come. The sentence says what ended it, if it was an error.
    Ended(Option<String>),
    /// The recording was saved.
    Saved(PathBuf),
    /// Something did not work; the run goes on.
    Failed(String),
}

/// Where the log of a run goes.
pub enum Record {
    /// Nowhere.
    Off,
    /// Into memory, compressed, so that it can be saved later.
    Memory,
    /// Into this file.
    File(PathBuf),
}

/// Why a session could not start.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The engine refused.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The recording cannot be written.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The system gave no thread.
    #[error("cannot start a thread: {0}. Close other programs and try again")]
    Thread(std::io::Error),
}

/// Called when something new is there.
pub type Waker = Arc<dyn Fn() + Send + Sync>;

/// A run that is under way, or a file that is being read.
pub struct Session {
    /// What is new.
    pub updates: Receiver<Update>,
    origin: Origin,
    to_window: Sender<Update>,
    wake: Waker,
}

enum Origin {
    Engine {
        control: RunControl,
        log: SharedLog,
    },
    File {
        path: PathBuf,
        cancel: Arc<AtomicBool>,
    },
}

/// The compressed log of a run in memory, as far as it has been flushed.
type SharedLog = Arc<Mutex<Vec<u8>>>;

/// How much of the workers' time may go into looking inside the batches.
const CONTENT: ContentPolicy = ContentPolicy::Share(0.02);

/// Checks options without running them.
///
/// # Errors
/// The sentence with which [`Session::start`] would refuse them, as far as that is known without opening the dataset.
pub fn check(options: &RunOptions) -> Result<(), SessionError> {
    Ok(loadscope_engine::run::check(options)?)
}

impl Session {
    /// Starts the engine.
    ///
    /// # Errors
    /// If the options are refused, the dataset cannot be opened or the log cannot be created.
    pub fn start(options: &RunOptions, record: Record, wake: Waker) -> Result<Self, SessionError> {
        let shared = SharedLog::default();
        let log = match record {
            Record::Off => None,
            Record::Memory => Some(Log::Memory(LogWriter::new(
                Memory(Arc::clone(&shared)),
                Compression::Zstd,
            )?)),
            Record::File(path) => Some(Log::File(LogWriter::create(&path)?)),
        };
        let run = loadscope_engine::start(options, CONTENT)?;
        let control = run.control.clone();
        let (to_window, updates) = unbounded();
        let pump = Pump {
            run,
            log,
            sorter: Sorter::new(STRAGGLERS),
            out: to_window.clone(),
            wake: Arc::clone(&wake),
            flushed: Instant::now(),
        };
        Builder::new()
            .name("recorder".to_owned())
            .spawn(move || pump.run())
            .map_err(SessionError::Thread)?;
        Ok(Self {
            updates,
            origin: Origin::Engine {
                control,
                log: shared,
            },
            to_window,
            wake,
        })
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If the system gives no thread; that the file is no recording is told as an [`Update`].
    pub fn open(path: &Path, wake: Waker) -> Result<Self, SessionError> {
        let (to_window, updates) = unbounded();
        let cancel = Arc::new(AtomicBool::new(false));
        let job = {
            let (path, cancel, out, wake) = (
                path.to_owned(),
                Arc::clone(&cancel),
                to_window.clone(),
                Arc::clone(&wake),
            );
            move || {
                let end = match read_run(&path, |share| {
                    let _ = out.send(Update::Loading(share));
                    wake();
                    !cancel.load(Ordering::Acquire)
                }) {
                    Ok((run, cut)) => {
                        let _ = out.send(Update::Loaded {
                            run: Box::new(run),
                            cut,
                        });
                        None
                    }
                    Err(e) => Some(refusal(&path, &e)),
                };
                let _ = out.send(Update::Ended(end));
                wake();
            }
        };
        Builder::new()
            .name("opener".to_owned())
            .spawn(job)
            .map_err(SessionError::Thread)?;
        let path = path.to_owned();
        Ok(Self {
            updates,
            origin: Origin::File { path, cancel },
            to_window,
            wake,
        })
    }

    /// Holds every thread of the loader.
    pub fn pause(&self) {
        if let Origin::Engine { control, .. } = &self.origin {
            control.gate.pause();
        }
    }

    /// Lets them go on.
    pub fn resume(&self) {
        if let Origin::Engine { control, .. } = &self.origin {
            control.gate.resume();
        }
    }

    /// Lets one transition through.
    pub fn step(&self) {
        if let Origin::Engine { control, .. } = &self.origin {
            control.gate.step();
        }
    }

    /// Breaks the run off, or stops reading.
    pub fn stop(&self) {
        match &self.origin {
            Origin::Engine { control, .. } => control.stop(),
            Origin::File { cancel, .. } => cancel.store(true, Ordering::Release),
        }
    }

    /// Something that breaks the run off from any thread.
    pub fn stopper(&self) -> impl Fn() + Send + 'static {
        let stop: Box<dyn Fn() + Send> = match &self.origin {
            Origin::Engine { control, .. } => {
                let control = control.clone();
                Box::new(move || control.stop())
            }
            Origin::File { cancel, .. } => {
                let cancel = Arc::clone(cancel);
                Box::new(move || cancel.store(true, Ordering::Release))
            }
        };
        stop
    }

    /// Writes the recording to `path`, in the background.
    pub fn save(&self, path: &Path) {
        let source: Box<dyn FnOnce() -> Result<LogReader, LogError> + Send> = match &self.origin {
            Origin::Engine { log, .. } => {
                let bytes = log.lock().unwrap_or_else(PoisonError::into_inner).clone();
                Box::new(|| LogReader::new(std::io::Cursor::new(bytes)))
            }
            Origin::File { path, .. } => {
                let from = path.clone();
                Box::new(move || LogReader::open(&from))
            }
        };
        let (path, out, wake) = (
            path.to_owned(),
            self.to_window.clone(),
            Arc::clone(&self.wake),
        );
        let job = move || {
            let update = match source().and_then(|reader| write_copy(reader, &path)) {
                Ok(()) => Update::Saved(path),
                Err(e) => Update::Failed(format!(
                    "The recording was not saved to {}: {e}",
                    path.display()
                )),
            };
            let _ = out.send(update);
            wake();
        };
        if let Err(e) = Builder::new().name("saver".to_owned()).spawn(job) {
            let failed = SessionError::Thread(e).to_string();
            let _ = self.to_window.send(Update::Failed(failed));
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.stop();
    }
}

/// What to tell a user whose file could not be read.
pub fn refusal(path: &Path, error: &LogError) -> String {
    match error {
        // It names the file already.
        LogError::Open { .. } => format!("cannot open {error}"),
        _ => format!("cannot open {}: {error}", path.display()),
    }
}

/// Reads a recording; `progress` hears how far it is and says whether to go on.
///
/// # Errors
/// If the file is no recording or is damaged.
pub fn read_run(
    path: &Path,
    mut progress: impl FnMut(f32) -> bool,
) -> Result<(Run, bool), LogError> {
    let size = std::fs::metadata(path).map_or(0, |m| m.len()).max(1);
    let mut run = Run::default();
    let mut told = Instant::now();
    let outcome = read_log(path, |event, bytes| {
        run.apply(&event);
        if run.events() % 1024 != 0 || told.elapsed() < Duration::from_millis(50) {
            return true;
        }
        told = Instant::now();
        progress((bytes as f64 / size as f64) as f32)
    })?;
    Ok((run, outcome.cut))
}

/// Copies a log to `path`, compressed as its name asks for, through a file beside it so that nothing half-written is left.
fn write_copy(reader: LogReader, path: &Path) -> Result<(), LogError> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = path.with_file_name(name);
    let result = (|| {
        let file = File::create(&part).map_err(|cause| LogError::Open {
            path: path.to_owned(),
            cause,
        })?;
        let mut log = LogWriter::new(file, Compression::for_path(path))?;
        for event in reader {
            log.write(&event?)?;
        }
        log.finish()?;
        std::fs::rename(&part, path).map_err(|cause| LogError::Open {
            path: path.to_owned(),
            cause,
        })
    })();
    if result.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    result
}

/// How long events of other threads may be on their way.
const STRAGGLERS: Nanos = Nanos(5_000_000);

/// How often what was written becomes readable to others.
const FLUSH_EVERY: Duration = Duration::from_millis(100);

/// Takes the engine's events, sorts them, writes the log and passes them on.
struct Pump {
    run: RunHandle,
    log: Option<Log>,
    sorter: Sorter,
    out: Sender<Update>,
    wake: Waker,
    flushed: Instant,
}

impl Pump {
    fn run(mut self) {
        loop {
            match self.run.events.recv_timeout(Duration::from_millis(8)) {
                Ok(event) => self.sorter.push(event),
                Err(RecvTimeoutError::Timeout) if self.run.is_finished() => break,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            while let Ok(event) = self.run.events.try_recv() {
                self.sorter.push(event);
            }
            let now = self.run.clock.now();
            let mut ready = Vec::new();
            while let Some(event) = self.sorter.pop(Some(now)) {
                ready.push(event);
            }
            self.pass_on(ready);
        }
        self.finish();
    }

    fn finish(mut self) {
        let ended = self.run.join().err().map(|e| e.to_string());
        while let Ok(event) = self.run.events.try_recv() {
            self.sorter.push(event);
        }
        let mut rest: Vec<Event> = std::iter::from_fn(|| self.sorter.flush()).collect();
        let count = self.run.dropped();
        if count > 0 {
            rest.push(Event {
                at: self.run.clock.now(),
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

    fn pass_on(&mut self, events: Vec<Event>) {
        if events.is_empty() {
            return;
        }
        if let Some(log) = &mut self.log {
            let due = self.flushed.elapsed() >= FLUSH_EVERY;
            if due {
                self.flushed = Instant::now();
            }
            if let Err(e) = log.write(&events, due) {
                // The run goes on; its recording has ended here.
                self.log = None;
                let _ = self
                    .out
                    .send(Update::Failed(format!("The recording has stopped. {e}")));
            }
        }
        let _ = self.out.send(Update::Events(events));
        (self.wake)();
    }
}

enum Log {
    Memory(LogWriter<Memory>),
    File(LogWriter<File>),
}

impl Log {
    fn write(&mut self, events: &[Event], flush: bool) -> Result<(), LogError> {
        match self {
            Self::Memory(log) => write_all(log, events, flush),
            Self::File(log) => write_all(log, events, flush),
        }
    }

    fn finish(self) -> Result<(), LogError> {
        match self {
            Self::Memory(log) => log.finish().map(drop),
            Self::File(log) => log.finish().map(drop),
        }
    }
}

fn write_all<W: Write>(
    log: &mut LogWriter<W>,
    events: &[Event],
    flush: bool,
) -> Result<(), LogError> {
    events.iter().try_for_each(|e| log.write(e))?;
    if flush { log.flush() } else { Ok(()) }
}

/// A log in memory that others may read while it grows.
struct Memory(SharedLog);

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
