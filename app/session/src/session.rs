//! A run that is under way, or a file that is being read, on threads of its own.

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

/// How a run begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pace {
    /// It is held before anything happens.
    pub paused: bool,
    /// Each sample and each training step takes so many times as long; 0 and 1: as long as it takes.
    pub factor: u32,
    /// The runs of a window have at most so many bytes: of their far past it gets sums then. `None`: as many as they need.
    pub memory: Option<u64>,
}

/// A run that is under way, or a file that is being read.
pub struct Session {
    /// What is new.
    pub updates: Receiver<SessionEvent>,
    pub(super) origin: Origin,
    pub(super) to_window: Sender<SessionEvent>,
    pub(super) wake: Waker,
    /// Breaks the export off that is under way.
    pub(super) cancel_export: Arc<AtomicBool>,
}

pub(super) enum Origin {
    Engine {
        control: Control,
        log: Kept,
    },
    Simulated {
        log: Kept,
    },
    File {
        path: PathBuf,
        cancel: Arc<AtomicBool>,
        partial: PartialRun,
    },
    Program {
        watched: Watched,
        log: Kept,
    },
}

/// Where the events of a live run are kept until it is saved.
#[derive(Clone)]
pub(super) enum Kept {
    /// In memory, compressed; empty if nothing is kept.
    Memory(SharedLog),
    /// In the user's journal.
    Journal(Entry),
}

impl Kept {
    fn of(record: &Record, memory: &SharedLog) -> Self {
        match record {
            Record::Journal(new) => Self::Journal(new.entry()),
            Record::Off | Record::Memory | Record::File(_) | Record::Limited(_) => {
                Self::Memory(memory.clone())
            }
        }
    }
}

/// What a session tells the window. Without a bound: neither an engine nor a program that is watched may wait for a window that is busy or
/// hidden, and all that lies here is what the window is going to keep anyway.
fn news() -> (Sender<SessionEvent>, Receiver<SessionEvent>) {
    unbounded()
}

impl Session {
    /// Starts the engine at full speed.
    ///
    /// # Errors
    /// As [`Session::start_at`].
    pub fn start(options: &RunOptions, record: Record, wake: Waker) -> Result<Self, SessionError> {
        Self::start_at(options, Pace::default(), record, wake)
    }

    /// Starts the engine. Opening the dataset, and whatever may go wrong with it, is reported as a [`SessionEvent`].
    ///
    /// # Errors
    /// If the options are refused or the system gives no thread.
    pub fn start_at(
        options: &RunOptions,
        pace: Pace,
        record: Record,
        wake: Waker,
    ) -> Result<Self, SessionError> {
        check_options(options)?;
        let (to_window, updates) = news();
        let control = Control::default().stretched(pace.factor.max(1));
        if pace.paused {
            control.pause();
        }
        let shared = SharedLog::default();
        let log = Kept::of(&record, &shared);
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
            updates,
            origin: Origin::Engine { control, log },
            to_window,
            wake,
            cancel_export: Arc::default(),
        })
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If the system gives no thread; that the file is no recording is reported as a [`SessionEvent`].
    pub fn open(path: &Path, wake: Waker) -> Result<Self, SessionError> {
        let (to_window, updates) = news();
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
            updates,
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

    /// Simulates a run on a virtual clock. The outcome is reported as a [`SessionEvent`].
    ///
    /// # Errors
    /// If the options are refused or the system gives no thread.
    pub fn simulate(options: &RunOptions, wake: Waker) -> Result<Self, SessionError> {
        check_options(options)?;
        let (to_window, updates) = news();
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
            updates,
            origin: Origin::Simulated {
                log: Kept::Memory(log),
            },
            to_window,
            wake,
            cancel_export: Arc::default(),
        })
    }

    /// Watches a program that was started.
    ///
    /// # Errors
    /// If the log cannot be begun or the system gives no thread.
    pub fn watch(watched: &Watched, record: Record, wake: Waker) -> Result<Self, SessionError> {
        Self::watch_part(watched, Selection::default(), record, wake, None)
    }

    /// The same for a part of what the program loads. The runs of a window have at most `memory` bytes, if that is given: of their far
    /// past it gets sums then.
    ///
    /// # Errors
    /// As [`Session::watch`].
    pub fn watch_part(
        watched: &Watched,
        selection: Selection,
        record: Record,
        wake: Waker,
        memory: Option<u64>,
    ) -> Result<Self, SessionError> {
        let (to_window, updates) = news();
        let shared = SharedLog::default();
        let log = Kept::of(&record, &shared);
        let seen = matches!(record, Record::Memory | Record::Journal(_));
        let (out, wakes) = (to_window.clone(), Arc::clone(&wake));
        let sink = EventSink::new(record, selection, shared, out, wakes)?;
        watched.follow(sink.within(memory), seen)?;
        Ok(Self {
            updates,
            origin: Origin::Program {
                watched: watched.clone(),
                log,
            },
            cancel_export: Arc::default(),
            to_window,
            wake,
        })
    }

    /// The journal that the run is written into, if it is.
    pub fn journal(&self) -> Option<&Entry> {
        match &self.origin {
            Origin::Engine { log, .. }
            | Origin::Simulated { log }
            | Origin::Program { log, .. } => match log {
                Kept::Journal(entry) => Some(entry),
                Kept::Memory(_) => None,
            },
            Origin::File { .. } => None,
        }
    }

    /// What the run was read from, or is kept in until it is saved: nothing may be written over it. `None` if that is memory.
    pub fn input(&self) -> Option<&Path> {
        match &self.origin {
            Origin::File { path, .. } => Some(path),
            _ => self.journal().map(Entry::path),
        }
    }

    /// What has been read so far, while a file is being read.
    pub fn partial(&self) -> Option<&PartialRun> {
        match &self.origin {
            Origin::File { partial, .. } => Some(partial),
            Origin::Engine { .. } | Origin::Simulated { .. } | Origin::Program { .. } => None,
        }
    }

    /// True if the engine runs it.
    pub fn is_engine(&self) -> bool {
        matches!(self.origin, Origin::Engine { .. })
    }

    /// True once a program that is watched has ended because this process was asked to end.
    pub fn was_asked_to_end(&self) -> bool {
        matches!(&self.origin, Origin::Program { watched, .. } if watched.was_asked_to_end())
    }

    /// Holds every thread of the loader.
    pub fn pause(&self) {
        if let Origin::Engine { control, .. } = &self.origin {
            control.pause();
        }
    }

    /// Lets them go on.
    pub fn resume(&self) {
        if let Origin::Engine { control, .. } = &self.origin {
            control.resume();
        }
    }

    /// Lets one transition through.
    pub fn step(&self) {
        if let Origin::Engine { control, .. } = &self.origin {
            control.step();
        }
    }

    /// Breaks the run off, or stops reading.
    pub fn stop(&self) {
        match &self.origin {
            Origin::Engine { control, .. } => control.stop(),
            // It is worked out in a moment.
            Origin::Simulated { .. } => {}
            Origin::File { cancel, .. } => cancel.store(true, Ordering::Release),
            Origin::Program { watched, .. } => watched.interrupt(),
        }
    }

    /// Breaks the run off and waits until its threads have ended, for at most so long: a process that goes away under threads that
    /// compute takes the libraries from them that they compute with. True if they have.
    pub fn end(self, patience: Duration) -> bool {
        if !matches!(self.origin, Origin::Engine { .. }) {
            return true;
        }
        self.stop();
        let until = Instant::now() + patience;
        while let Ok(update) = self.updates.recv_deadline(until) {
            if matches!(update, SessionEvent::Ended(_)) {
                return true;
            }
        }
        false
    }

    /// Something that breaks the run off from any thread.
    pub fn stopper(&self) -> impl Fn() + Send + 'static {
        let stop: Box<dyn Fn() + Send> = match &self.origin {
            Origin::Engine { control, .. } => {
                let control = control.clone();
                Box::new(move || control.stop())
            }
            Origin::Simulated { .. } => Box::new(|| {}),
            Origin::File { cancel, .. } => {
                let cancel = Arc::clone(cancel);
                Box::new(move || cancel.store(true, Ordering::Release))
            }
            Origin::Program { watched, .. } => {
                let watched = watched.clone();
                Box::new(move || watched.interrupt())
            }
        };
        stop
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.cancel_export();
        match &self.origin {
            // A training run goes on when it is not watched any more.
            Origin::Program { watched, .. } => watched.look_away(),
            _ => self.stop(),
        }
    }
}
