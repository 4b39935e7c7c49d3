//! Recordings on disk.

use std::fs::File;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;
use loadscope_live::folder;
use loadscope_trace::{
    Compression, Event, EventKind, Fleet, Level, LogError, LogReader, LogWriter, Message, Nanos,
    ReadOutcome, Run, RunId, read_log,
};

use crate::loaders::Loaders;

/// What to tell a user whose file could not be read.
pub fn refusal(path: &Path, error: &LogError) -> String {
    match error {
        // It names the file already.
        LogError::Open { .. } => format!("cannot open {error}"),
        _ => format!("cannot open {}: {error}", path.display()),
    }
}

/// Events that go from the thread that reads to the one that takes in, at a time.
const CHUNK: usize = 4096;

/// Reads the loader of a recording that is looked at first; see [`read_fleet`].
///
/// # Errors
/// If the file is no recording or is damaged.
pub fn read_run(path: &Path, progress: impl FnMut(f32) -> bool) -> Result<(Run, bool), LogError> {
    let (fleet, cut) = read_fleet(path, progress)?;
    let (_, run) = Loaders::of(fleet, None);
    Ok((run, cut))
}

/// Reads all loaders of a recording; `progress` hears how far it is and says whether to go on. Reading and taking in are about as much work, so
/// each has a thread.
///
/// # Errors
/// If the file is no recording or is damaged.
pub fn read_fleet(
    path: &Path,
    mut progress: impl FnMut(f32) -> bool,
) -> Result<(Fleet, bool), LogError> {
    let size = std::fs::metadata(path).map_or(0, |m| m.len()).max(1);
    let mut fleet = Fleet::default();
    let mut told = Instant::now();
    let outcome = std::thread::scope(|threads| {
        let (sender, chunks) = crossbeam_channel::bounded(8);
        let reader = std::thread::Builder::new()
            .name("recording".to_owned())
            .spawn_scoped(threads, move || read_chunks(path, &sender))
            .map_err(|cause| LogError::Io {
                doing: "read",
                lines: 0,
                cause,
            })?;
        for (events, bytes) in &chunks {
            events.iter().for_each(|event| fleet.apply(event));
            if told.elapsed() >= Duration::from_millis(50) {
                told = Instant::now();
                if !progress((bytes as f64 / size as f64) as f32) {
                    break;
                }
            }
        }
        // Who breaks off is heard by the reader through this.
        drop(chunks);
        match reader.join() {
            Ok(outcome) => outcome,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })?;
    if outcome.late > 0 {
        let first = fleet.runs().next();
        let (id, end) = first.map_or_else(Default::default, |(id, run)| (id, run.end()));
        fleet.apply(&late(id, end, outcome.late));
    }
    fleet.shrink_to_fit();
    Ok((fleet, outcome.cut))
}

/// Reads events for as long as somebody takes them.
fn read_chunks(path: &Path, sender: &Sender<(Vec<Event>, u64)>) -> Result<ReadOutcome, LogError> {
    let mut events = Vec::with_capacity(CHUNK);
    let mut read = 0;
    let outcome = read_events(path, |event, bytes| {
        events.push(event);
        read = bytes;
        if events.len() < CHUNK {
            return true;
        }
        let full = std::mem::replace(&mut events, Vec::with_capacity(CHUNK));
        sender.send((full, bytes)).is_ok()
    });
    // Nobody may want them any more.
    let _ = sender.send((events, read));
    outcome
}

/// Reads the events of a file, or of the folder into which a program wrote that nobody listened to.
fn read_events(
    path: &Path,
    mut each: impl FnMut(Event, u64) -> bool,
) -> Result<ReadOutcome, LogError> {
    if !path.is_dir() {
        return read_log(path, each);
    }
    let mut lines = 0;
    let read = folder::read(path, |event| {
        lines += 1;
        each(event, 0)
    });
    match read {
        Ok(cut) => Ok(ReadOutcome {
            lines,
            cut,
            late: 0,
        }),
        Err(cause) => Err(LogError::Open {
            path: path.to_owned(),
            cause,
        }),
    }
}

/// Says why there is nothing to be read at `path`.
///
/// # Errors
/// If it is neither a recording nor a folder with streams of the probe.
pub fn look(path: &Path) -> Result<(), LogError> {
    if path.is_dir() && !folder::streams(path).is_empty() {
        return Ok(());
    }
    LogReader::open(path).map(drop)
}

/// What is copied.
pub(super) enum Source {
    /// A log in memory.
    Memory(Vec<u8>),
    /// A recording, or a folder of streams.
    File(PathBuf),
}

/// Copies a log to `path`, compressed as its name asks for, through a file beside it so that nothing half-written is left.
pub(super) fn write_copy(source: Source, path: &Path) -> Result<(), LogError> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = path.with_file_name(name);
    let result = (|| {
        let file = File::create(&part).map_err(|cause| LogError::Open {
            path: path.to_owned(),
            cause,
        })?;
        let mut log = LogWriter::new(file, Compression::for_path(path))?;
        match source {
            Source::Memory(bytes) => {
                for event in LogReader::new(Cursor::new(bytes))? {
                    log.write(&event?)?;
                }
            }
            Source::File(from) if from.is_dir() => {
                let mut written = Ok(());
                read_events(&from, |event, _| {
                    written = log.write(&event);
                    written.is_ok()
                })?;
                written?;
            }
            Source::File(from) => {
                for event in LogReader::open(&from)? {
                    log.write(&event?)?;
                }
            }
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

/// Says that events came too late to be put in their place.
pub(super) fn late(run: RunId, at: Nanos, count: u64) -> Event {
    Event {
        at,
        run,
        kind: EventKind::Message(Box::new(Message {
            level: Level::Warning,
            text: format!("{count} events came late and are shown later than they happened"),
            about: None,
            worker: None,
            sample: None,
        })),
    }
}
