//! Reading the events of a run again, to save them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::Builder;

use crossbeam_channel::{Receiver, Sender, bounded};
use loadscope_exchange::{ImportError, Kind};
use loadscope_files::{AtomicFile, Existing, WriteError, check_not_input};
use loadscope_trace::{Compression, Event, LogError, LogReader, LogWriter, Nanos};
use loadscope_words::say;

use super::folder::{Folder, LoaderNumbers, Placement, placements};
use super::memory::LogInMemory;
use super::reading::{each_event, is_program};
use loadscope_insight::session_event::Output;

use super::session::{LogStorage, Origin};
use super::{Session, SessionError, SessionEvent};

/// Number of events per chunk that a reading thread sends to the writing thread.
const CHUNK: usize = 1024;
/// Number of chunks that may wait in the channel.
const WAITING: usize = 2;

/// Source for reading the events of a run again.
enum EventSource {
    /// The compressed log in memory.
    Memory(LogInMemory),
    /// A file or a folder.
    File(PathBuf),
}

impl Session {
    /// Returns the source of the events that the window received.
    fn event_source(&self) -> EventSource {
        match &self.origin {
            Origin::Engine { log, .. }
            | Origin::Simulated { log }
            | Origin::Program { log, .. } => match log {
                LogStorage::Memory(log) => EventSource::Memory(log.now()),
                LogStorage::Journal(entry) => EventSource::File(entry.path().to_owned()),
            },
            Origin::File { path, .. } => EventSource::File(path.clone()),
        }
    }

    /// Writes the recording to `path`, in the background.
    pub fn save(&self, path: &Path, existing: Existing) {
        let source = self.event_source();
        let (path, out, wake) = (
            path.to_owned(),
            self.to_window.clone(),
            Arc::clone(&self.wake),
        );
        let job = move || {
            let event = match write_copy(source, &path, existing) {
                Ok(()) => SessionEvent::Saved(path),
                Err(SaveError::Writing(WriteError::Exists(_))) => {
                    SessionEvent::Exists(Output::Recording(path))
                }
                Err(e) => SessionEvent::NotSaved(say!(
                    "The recording was not saved to {}: {e}",
                    path.display()
                )),
            };
            let _ = out.send(event);
            wake();
        };
        if let Err(e) = Builder::new().name("saver".to_owned()).spawn(job) {
            let failed = SessionError::Thread(e).to_string();
            let _ = self.to_window.send(SessionEvent::NotSaved(failed));
        }
    }
}

impl EventSource {
    /// Calls `each` with all events.
    fn each(self, mut each: impl FnMut(&Event) -> Result<(), LogError>) -> Result<(), ImportError> {
        let path = match self {
            Self::Memory(log) => return of_log(LogReader::new(log)?, &mut each),
            Self::File(path) => path,
        };
        let path = match path.is_dir() {
            true => match &mut Folder::of(&path)?.recordings[..] {
                [one] => std::mem::take(one),
                all => return merge(all, &mut each),
            },
            false => path,
        };
        // A log is copied in file order, not in sorted order.
        if !is_program(&path) && Kind::of(&path)? == Kind::Log {
            return of_log(LogReader::open(&path)?, &mut each);
        }
        let mut result = Ok(());
        each_event(&path, |event| {
            result = each(event);
            result.is_ok()
        })?;
        Ok(result?)
    }
}

/// Calls `each` with the events of a recording, or of all recordings of a folder, in order of time.
/// Returns true if there is only one recording and it is truncated.
///
/// # Errors
/// If the path cannot be opened, or if the only recording is damaged.
pub(super) fn each_in_order(
    path: &Path,
    each: &mut dyn FnMut(&Event) -> Result<(), LogError>,
) -> Result<bool, ImportError> {
    let mut one = path.to_owned();
    if path.is_dir() {
        let folder = Folder::of(path)?;
        match &folder.recordings[..] {
            [] => return Err(folder.nothing()),
            [only] => one.clone_from(only),
            all => return merge(all, each).map(|()| false),
        }
    }
    let mut result = Ok(());
    let cut = each_event(&one, |event| {
        result = each(event);
        result.is_ok()
    })?;
    result?;
    Ok(cut)
}

fn of_log(
    reader: LogReader,
    each: &mut dyn FnMut(&Event) -> Result<(), LogError>,
) -> Result<(), ImportError> {
    for event in reader {
        each(&event?)?;
    }
    Ok(())
}

/// A recording that is being read by a thread.
struct Source {
    placement: Placement,
    chunks: Receiver<Vec<Event>>,
    events: std::vec::IntoIter<Event>,
    next: Option<Event>,
}

impl Source {
    /// Fetches the next event. Returns its time on the common clock.
    fn fetch(&mut self) -> Option<Nanos> {
        loop {
            self.next = self.events.next();
            if let Some(event) = &self.next {
                return Some(self.placement.to_common_clock(event.at));
            }
            self.events = self.chunks.recv().ok()?.into_iter();
        }
    }
}

/// Calls `each` with the events of several recordings in order of time. One thread per recording reads ahead by a few chunks.
/// Events after a damaged position are omitted, as in the window, which reported the damage.
fn merge(
    recordings: &[PathBuf],
    each: &mut dyn FnMut(&Event) -> Result<(), LogError>,
) -> Result<(), ImportError> {
    let mut numbers = LoaderNumbers::default();
    std::thread::scope(|threads| {
        let (mut sources, mut turns) = (Vec::new(), BinaryHeap::new());
        for (k, placement) in placements(recordings).into_iter().enumerate() {
            let (sender, chunks) = bounded(WAITING);
            let path = placement.path.clone();
            Builder::new()
                .name("recording".to_owned())
                .spawn_scoped(threads, move || read_chunks(&path, &sender))
                .map_err(|cause| LogError::Io {
                    doing: "read",
                    lines: 0,
                    cause,
                })?;
            let mut source = Source {
                placement,
                chunks,
                events: Vec::new().into_iter(),
                next: None,
            };
            turns.extend(source.fetch().map(|at| Reverse((at, k))));
            sources.push(source);
        }
        while let Some(Reverse((_, k))) = turns.pop() {
            let source = &mut sources[k];
            let Some(mut event) = source.next.take() else {
                continue;
            };
            if let Some(before) = source.placement.adjust(&mut event, &mut numbers) {
                each(&before)?;
            }
            each(&event)?;
            turns.extend(source.fetch().map(|at| Reverse((at, k))));
        }
        Ok(())
    })
}

/// Reads events until the receiver is dropped.
fn read_chunks(path: &Path, sender: &Sender<Vec<Event>>) {
    let mut events = Vec::with_capacity(CHUNK);
    let _ = each_event(path, |event| {
        events.push(event.clone());
        if events.len() < CHUNK {
            return true;
        }
        let full = std::mem::replace(&mut events, Vec::with_capacity(CHUNK));
        sender.send(full).is_ok()
    });
    let _ = sender.send(events);
}

/// Writes events to `path` atomically, compressed by its file extension.
fn write_copy(events: EventSource, path: &Path, existing: Existing) -> Result<(), SaveError> {
    if let EventSource::File(input) = &events {
        check_not_input(path, input)?;
    }
    let file = AtomicFile::create(path, existing)?;
    let mut log = LogWriter::new(file, Compression::for_path(path)).map_err(ImportError::from)?;
    events.each(|event| log.write(event))?;
    log.finish().map_err(ImportError::from)?.commit()?;
    Ok(())
}

/// Error while saving a recording.
#[derive(Debug, thiserror::Error)]
enum SaveError {
    #[error(transparent)]
    Reading(#[from] ImportError),
    #[error(transparent)]
    Writing(#[from] WriteError),
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{EventKind, RunId, RunInfo};

    use super::*;
    use crate::open;

    #[test]
    fn a_folder_saves_as_one_recording_with_equal_runs() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        for (rank, began) in [(0, 0), (1, 5_000_000)] {
            let path = dir.path().join(format!("rank{rank}.jsonl"));
            let mut log = LogWriter::create(&path).expect("the folder is writable");
            let info = RunInfo {
                rank,
                world_size: 2,
                host: format!("gpu-{rank}"),
                started_unix_ns: 1_790_000_000_000_000_000 + began,
                ..RunInfo::default()
            };
            let mut tell = |at: i64, kind| {
                let (at, run) = (Nanos(at * 1_000_000), RunId(7));
                log.write(&Event { at, run, kind }).expect("there is room");
            };
            tell(0, EventKind::RunStarted(Box::new(info)));
            for epoch in 0..20 {
                tell(i64::from(epoch) * 2, EventKind::EpochStarted { epoch });
                tell(i64::from(epoch) * 2 + 1, EventKind::EpochEnded { epoch });
            }
            log.finish().expect("there is room");
        }
        let folder = dir.path().to_owned();
        let before = open(&folder, |_| true).expect("a folder of recordings");
        let saved = tempfile::tempdir().expect("a temporary folder");
        let path = saved.path().join("both.jsonl.zst");
        write_copy(EventSource::File(folder), &path, Existing::Keep).expect("there is room");
        let after = open(&path, |_| true).expect("a recording");
        assert_eq!(format!("{:?}", before.fleet), format!("{:?}", after.fleet));
        let begun: Vec<Nanos> = (after.fleet.runs())
            .map(|(_, run)| run.epochs()[0].start)
            .collect();
        assert_eq!(begun, [Nanos::ZERO, Nanos::from_millis(5)]);
    }
}
