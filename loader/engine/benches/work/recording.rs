//! Observation of a loader: none, with events that are dropped, or as in the program.

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::thread::{Builder, JoinHandle, sleep};
use std::time::{Duration, Instant};

use loadscope_engine::run::MAX_EVENTS;
use loadscope_engine::{Clock, ContentPolicy, Events, Probe};
use loadscope_trace::{Compression, Event, EventKind, LogWriter, Nanos};

use super::processor;

/// Maximum delay of other threads' events, as in the program.
pub const MAX_EVENT_DELAY: Nanos = Nanos(5_000_000);

/// Interval of reading events, as in the program.
pub const POLL_INTERVAL: Duration = Duration::from_millis(4);

/// Use of the events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recording {
    /// No events: the loader is not observed.
    Off,
    /// Events are received and dropped, without contents of batches.
    Events,
    /// Events are sorted and written to a compressed log on disk, with contents.
    Log,
}

/// Progress of the listening thread, for other threads.
#[derive(Debug, Default)]
struct Progress {
    /// Time up to which all events were taken, nanoseconds on the run's clock.
    until: AtomicI64,
    events: AtomicU64,
    /// The system's ID of the thread, or 0 if unknown.
    number: AtomicU64,
}

impl EventTotals {
    fn add(&mut self, event: &Event) {
        self.events += 1;
        if let EventKind::Dropped { count } = event.kind {
            self.lost += count;
        }
    }
}

/// A probe, and the thread that listens to it.
pub struct Observer {
    pub probe: Probe,
    clock: Clock,
    progress: Arc<Progress>,
    thread: Option<JoinHandle<EventTotals>>,
}

/// Totals of the received events.
#[derive(Clone, Copy, Debug, Default)]
pub struct EventTotals {
    pub events: u64,
    /// Events for which there was no room.
    pub lost: u64,
    pub log_bytes: u64,
}

impl Observer {
    pub fn start(recording: Recording) -> Self {
        let (clock, progress) = (Clock::start(), Arc::<Progress>::default());
        let content = match recording {
            Recording::Off => {
                return Self {
                    probe: Probe::off(),
                    clock,
                    progress,
                    thread: None,
                };
            }
            Recording::Events => ContentPolicy::Off,
            Recording::Log => ContentPolicy::Share(0.01),
        };
        let (probe, events) = Probe::new(clock.clone(), content, MAX_EVENTS);
        let listener = Listener {
            clock: clock.clone(),
            events,
            progress: Arc::clone(&progress),
        };
        let listen = move || match recording {
            Recording::Log => listener.log(),
            _ => {
                let mut totals = EventTotals::default();
                listener.fetch(|event| totals.add(&event));
                totals
            }
        };
        let thread = Builder::new().name("recorder".to_owned()).spawn(listen);
        Self {
            probe,
            clock,
            progress,
            thread: thread.ok(),
        }
    }

    /// Waits until everything that was recorded before is written.
    pub fn catch_up(&self) {
        let now = self.clock.now().0;
        let is_behind = || self.progress.until.load(Ordering::Acquire) < now;
        while is_behind() && self.thread.as_ref().is_some_and(|t| !t.is_finished()) {
            sleep(Duration::from_micros(200));
        }
    }

    /// Returns the number of events received so far.
    pub fn events(&self) -> u64 {
        self.progress.events.load(Ordering::Acquire)
    }

    /// Returns the system's ID of the listening thread, or 0 if unknown.
    pub fn thread_number(&self) -> u64 {
        self.progress.number.load(Ordering::Acquire)
    }

    /// Waits until all events are received. The loader must have been dropped.
    pub fn finish(self) -> EventTotals {
        let unreported = self.probe.dropped();
        drop(self.probe);
        let totals = self.thread.and_then(|thread| thread.join().ok());
        let mut totals = totals.unwrap_or_default();
        totals.lost += unreported;
        totals
    }
}

/// State of the listening thread.
struct Listener {
    clock: Clock,
    events: Events,
    progress: Arc<Progress>,
}

impl Listener {
    /// Takes events until no probe is left.
    fn fetch(&self, mut on_event: impl FnMut(Event)) {
        let progress = &self.progress;
        progress
            .number
            .store(processor::current_thread_id(), Ordering::Release);
        let mut count = 0;
        let mut count_event = |event| {
            count += 1;
            on_event(event);
            count
        };
        while !self.events.is_over() {
            let until = self.clock.now() - MAX_EVENT_DELAY;
            let mut so_far = None;
            (self.events).take(Some(until), |event| so_far = Some(count_event(event)));
            if let Some(count) = so_far {
                progress.events.store(count, Ordering::Release);
            }
            progress.until.store(until.0, Ordering::Release);
            sleep(POLL_INTERVAL);
        }
        self.events.take(None, |event| {
            count_event(event);
        });
    }

    fn log(&self) -> EventTotals {
        let file = tempfile::tempfile().map_err(drop);
        let log = file.and_then(|file| LogWriter::new(file, Compression::Zstd).map_err(drop));
        let Ok(mut log) = log else {
            return EventTotals::default();
        };
        let mut totals = EventTotals::default();
        self.fetch(|event| {
            totals.add(&event);
            let start = matches!(event.kind, EventKind::Content(_)).then(Instant::now);
            let _ = log.write(&event);
            if let Some(start) = start {
                self.events.charge(event.at, start.elapsed());
            }
        });
        let length = |file: File| file.metadata().map(|metadata| metadata.len()).ok();
        totals.log_bytes = log.finish().ok().and_then(length).unwrap_or(0);
        totals
    }
}
