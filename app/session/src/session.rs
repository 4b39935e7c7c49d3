//! A live run, or a file that is being read, on separate threads.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, unbounded};
use loadscope_plan::plan::check_options;
use loadscope_trace::RunOptions;

use super::engine::{self, Control};
use super::event_sink::EventSink;
use super::memory::SharedLog;
use super::opener::Opener;
use super::{
    Entry, PartialRun, Record, Selection, SessionError, SessionEvent, Waker, Watched, simulator,
};

/// Pace and memory limit of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pace {
    /// True to pause the run before the first batch.
    pub paused: bool,
    /// Slowdown factor of samples and training steps. 0 and 1 are full speed.
    pub factor: u32,
    /// Memory limit of the window's runs, bytes. Beyond it, sums replace the far past. `None` is unlimited.
    pub memory: Option<u64>,
}

/// A live run, or a file that is being read.
pub struct Session {
    /// Events for the window.
    pub events: Receiver<SessionEvent>,
    pub(super) origin: Origin,
    pub(super) to_window: Sender<SessionEvent>,
    pub(super) wake: Waker,
    /// Cancels the current export.
    pub(super) cancel_export: Arc<AtomicBool>,
}

pub(super) enum Origin {
    Engine {
        control: Control,
        log: LogStorage,
    },
    Simulated {
        log: LogStorage,
    },
    File {
        path: PathBuf,
        cancel: Arc<AtomicBool>,
        partial: PartialRun,
    },
    Program {
        watched: Watched,
        log: LogStorage,
    },
}

/// Storage of a live run's events until it is saved.
#[derive(Clone)]
pub(super) enum LogStorage {
    /// Compressed in memory. Empty without a recording.
    Memory(SharedLog),
    /// In the user's journal.
    Journal(Entry),
}

impl LogStorage {
    fn of(record: &Record, memory: &SharedLog) -> Self {
        match record {
            Record::Journal(new) => Self::Journal(new.entry()),
            Record::Off | Record::Memory | Record::File(_) | Record::Limited(_) => {
                Self::Memory(memory.clone())
            }
        }
    }
}

/// Creates the channel to the window. It is unbounded, because neither the engine nor a watched program may wait for a busy or hidden
/// window.
/// The window stores all of these events anyway.
fn event_channel() -> (Sender<SessionEvent>, Receiver<SessionEvent>) {
    unbounded()
}

impl Session {
    /// Starts the engine at full speed.
    ///
    /// # Errors
    /// As [`Session::start_with_pace`].
    pub fn start(options: &RunOptions, record: Record, wake: Waker) -> Result<Self, SessionError> {
        Self::start_with_pace(options, Pace::default(), record, wake)
    }

    /// Starts the engine. Opening the dataset and its errors are reported as [`SessionEvent`]s.
    ///
    /// # Errors
    /// If the options are refused or no thread can start.
    pub fn start_with_pace(
        options: &RunOptions,
        pace: Pace,
        record: Record,
        wake: Waker,
    ) -> Result<Self, SessionError> {
        check_options(options)?;
        let (to_window, events) = event_channel();
        let control = Control::default().with_slow_motion(pace.factor.max(1));
        if pace.paused {
            control.pause();
        }
        let shared = SharedLog::default();
        let log = LogStorage::of(&record, &shared);
        engine::start(engine::Job {
            options: options.clone(),
            control: control.clone(),
            record,
            shared,
            out: to_window.clone(),
            wake: Arc::clone(&wake),
            memory: pace.memory,
        })?;
        Ok(Self {
            events,
            origin: Origin::Engine { control, log },
            to_window,
            wake,
            cancel_export: Arc::default(),
        })
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If no thread can start. An invalid file is reported as a [`SessionEvent`].
    pub fn open(path: &Path, wake: Waker) -> Result<Self, SessionError> {
        let (to_window, events) = event_channel();
        let cancel = Arc::new(AtomicBool::new(false));
        let partial = PartialRun::default();
        let opener = Opener {
            path: path.to_owned(),
            cancel: Arc::clone(&cancel),
            partial: partial.clone(),
            out: to_window.clone(),
            wake: Arc::clone(&wake),
        };
        Builder::new()
            .name("opener".to_owned())
            .spawn(move || opener.run())
            .map_err(SessionError::Thread)?;
        let path = path.to_owned();
        Ok(Self {
            events,
            origin: Origin::File {
                path,
                cancel,
                partial,
            },
            to_window,
            wake,
            cancel_export: Arc::default(),
        })
    }

    /// Simulates a run on a virtual clock. The result is reported as a [`SessionEvent`].
    ///
    /// # Errors
    /// If the options are refused or no thread can start.
    pub fn simulate(options: &RunOptions, wake: Waker) -> Result<Self, SessionError> {
        check_options(options)?;
        let (to_window, events) = event_channel();
        let log = SharedLog::default();
        let job = simulator::Job {
            options: options.clone(),
            shared: log.clone(),
            out: to_window.clone(),
            wake: Arc::clone(&wake),
        };
        Builder::new()
            .name("simulator".to_owned())
            .spawn(move || job.run())
            .map_err(SessionError::Thread)?;
        Ok(Self {
            events,
            origin: Origin::Simulated {
                log: LogStorage::Memory(log),
            },
            to_window,
            wake,
            cancel_export: Arc::default(),
        })
    }

    /// Watches a started program.
    ///
    /// # Errors
    /// If the log cannot be created or no thread can start.
    pub fn watch(watched: &Watched, record: Record, wake: Waker) -> Result<Self, SessionError> {
        Self::watch_selected(watched, Selection::default(), record, wake, None)
    }

    /// Watches a started program and records the selected batches.
    /// `memory` limits the window's runs, bytes. Beyond it, sums replace the far past.
    ///
    /// # Errors
    /// As [`Session::watch`].
    pub fn watch_selected(
        watched: &Watched,
        selection: Selection,
        record: Record,
        wake: Waker,
        memory: Option<u64>,
    ) -> Result<Self, SessionError> {
        let (to_window, events) = event_channel();
        let shared = SharedLog::default();
        let log = LogStorage::of(&record, &shared);
        let has_window = matches!(record, Record::Memory | Record::Journal(_));
        let (out, wakes) = (to_window.clone(), Arc::clone(&wake));
        let sink = EventSink::new(record, selection, shared, out, wakes)?;
        watched.follow(sink.with_memory_limit(memory), has_window)?;
        Ok(Self {
            events,
            origin: Origin::Program {
                watched: watched.clone(),
                log,
            },
            cancel_export: Arc::default(),
            to_window,
            wake,
        })
    }

    /// Returns the journal entry of the run. Returns `None` if there is none.
    pub fn journal(&self) -> Option<&Entry> {
        match &self.origin {
            Origin::Engine { log, .. }
            | Origin::Simulated { log }
            | Origin::Program { log, .. } => match log {
                LogStorage::Journal(entry) => Some(entry),
                LogStorage::Memory(_) => None,
            },
            Origin::File { .. } => None,
        }
    }

    /// Returns the file or folder of the run, which must not be overwritten. Returns `None` if the run is in memory.
    pub fn input(&self) -> Option<&Path> {
        match &self.origin {
            Origin::File { path, .. } => Some(path),
            _ => self.journal().map(Entry::path),
        }
    }

    /// Returns the snapshots of a file that is being read.
    pub fn partial(&self) -> Option<&PartialRun> {
        match &self.origin {
            Origin::File { partial, .. } => Some(partial),
            Origin::Engine { .. } | Origin::Simulated { .. } | Origin::Program { .. } => None,
        }
    }

    /// Returns true if the engine runs the session.
    pub fn is_engine(&self) -> bool {
        matches!(self.origin, Origin::Engine { .. })
    }

    /// Returns true if a watched program has ended after SIGTERM or SIGHUP asked this process to end.
    pub fn ended_by_signal(&self) -> bool {
        matches!(&self.origin, Origin::Program { watched, .. } if watched.ended_by_signal())
    }

    /// Pauses all threads of the loader.
    pub fn pause(&self) {
        if let Origin::Engine { control, .. } = &self.origin {
            control.pause();
        }
    }

    /// Resumes all threads of the loader.
    pub fn resume(&self) {
        if let Origin::Engine { control, .. } = &self.origin {
            control.resume();
        }
    }

    /// Lets one transition through the gate.
    pub fn step(&self) {
        if let Origin::Engine { control, .. } = &self.origin {
            control.step();
        }
    }

    /// Stops the run, or the reading of a file.
    pub fn stop(&self) {
        match &self.origin {
            Origin::Engine { control, .. } => control.stop(),
            // A simulation ends quickly by itself.
            Origin::Simulated { .. } => {}
            Origin::File { cancel, .. } => cancel.store(true, Ordering::Release),
            Origin::Program { watched, .. } => watched.detach(),
        }
    }

    /// Stops the run and waits up to `patience` for its threads. Returns true if they have ended.
    /// If the process exits earlier, its libraries are unloaded while threads compute with them.
    pub fn end(self, patience: Duration) -> bool {
        if !matches!(self.origin, Origin::Engine { .. }) {
            return true;
        }
        self.stop();
        let until = Instant::now() + patience;
        while let Ok(event) = self.events.recv_deadline(until) {
            if matches!(event, SessionEvent::Ended(_)) {
                return true;
            }
        }
        false
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.cancel_export();
        match &self.origin {
            // A watched program continues when its session is dropped.
            Origin::Program { watched, .. } => watched.stop_events(),
            _ => self.stop(),
        }
    }
}

#[cfg(test)]
#[cfg(feature = "engine")]
mod tests {
    use super::*;

    /// Starts a run whose samples take `cost_ms`, and waits for its first events.
    fn under_way(cost_ms: u32) -> Session {
        let options = RunOptions {
            dataset: format!("synthetic:len=1000,cost_ms={cost_ms},cpu=true"),
            batch_size: Some(1),
            num_workers: 2,
            ..RunOptions::default()
        };
        let session = Session::start(&options, Record::Memory, Arc::new(|| {}));
        let session = session.expect("sound options");
        let first = session.events.recv_timeout(Duration::from_secs(20));
        assert!(matches!(first, Ok(SessionEvent::Events(_))));
        session
    }

    #[test]
    fn close_waits_for_workers_up_to_the_timeout() {
        let start = Instant::now();
        assert!(under_way(5).end(Duration::from_secs(20)));
        assert!(under_way(60_000).end(Duration::from_secs(20)));
        assert!(start.elapsed() < Duration::from_secs(40));
        // The timeout limits the wait. The threads may or may not have ended.
        let session = under_way(60_000);
        let start = Instant::now();
        let _ = session.end(Duration::ZERO);
        assert!(start.elapsed() < Duration::from_secs(5));
    }
}
