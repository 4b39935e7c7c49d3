//! The embedded loader, and the thread that records it: it orders the engine's events, writes the log and sends them to the window.
//! Only this module imports the engine. Builds without it use `no_engine.rs`.

use std::sync::Arc;
use std::thread::Builder;
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;
use loadscope_engine::{ContentPolicy, RunControl, RunHandle};
use loadscope_plan::dataset::Catalog;
use loadscope_trace::{Event, EventKind, Nanos, RunId, RunOptions};

use super::event_sink::EventSink;
use super::file::late_warning;
use super::memory::SharedLog;
use super::{Record, Selection, SessionError, SessionEvent, Waker};

pub(super) use loadscope_engine::RunControl as Control;

/// True, because this build contains the embedded loader.
pub const HAS_ENGINE: bool = true;

/// Catalog that opens each dataset to learn its facts.
pub(super) const CATALOG: &(dyn Catalog + Sync) = &loadscope_engine::dataset::OpeningCatalog;

/// Starts the loader on its own threads.
pub(super) fn start(job: Job) -> Result<(), SessionError> {
    Builder::new()
        .name("recorder".to_owned())
        .spawn(move || job.run())
        .map_err(SessionError::Thread)?;
    Ok(())
}

/// Maximum fraction of the workers' time for previews of batch contents, including writing them.
const CONTENT: ContentPolicy = ContentPolicy::Share(0.01);

/// Configuration of the recorder.
pub(crate) struct Job {
    pub options: RunOptions,
    pub control: RunControl,
    pub record: Record,
    pub shared: SharedLog,
    pub out: Sender<SessionEvent>,
    pub wake: Waker,
    /// Memory limit of the window's runs, bytes.
    pub memory: Option<u64>,
}

impl Job {
    /// Starts the engine and records it to its end.
    pub fn run(self) {
        let (out, wake) = (self.out.clone(), Arc::clone(&self.wake));
        match self.start() {
            Ok(recorder) => recorder.run(),
            Err(e) => {
                let _ = out.send(SessionEvent::Ended(Some(e.to_string())));
                wake();
            }
        }
    }

    fn start(self) -> Result<Recorder, SessionError> {
        // Batch contents are only examined for a recording.
        let content = match self.record {
            Record::Off => ContentPolicy::Off,
            _ => CONTENT,
        };
        let run = loadscope_engine::start(&self.options, content, self.control)?;
        Ok(Recorder {
            run,
            sink: EventSink::new(
                self.record,
                Selection::default(),
                self.shared,
                self.out,
                self.wake,
            )?
            .with_memory_limit(self.memory),
        })
    }
}

/// Maximum delay of an event after its timestamp.
/// A thread can be interrupted between reading the clock and storing the event.
const MAX_DELAY: Nanos = Nanos(5_000_000);

/// Polling interval of the events.
/// Polling is cheaper: sending to a sleeping receiver costs a worker a futex wake, which takes longer than recording 100 events.
const POLL_INTERVAL: Duration = Duration::from_millis(4);

/// Maximum number of events that are written and sent at once. The window then receives the first events soon.
const PART: usize = 1 << 14;

/// Receiver of the engine's events in order of time. It writes the log and sends them to the window.
struct Recorder {
    run: RunHandle,
    sink: EventSink,
}

impl Recorder {
    fn run(mut self) {
        loop {
            if self.run.events.is_over() || self.run.is_finished() {
                break;
            }
            // The clock of a paused run does not advance, so no earlier event can follow.
            let is_paused = self.run.control.is_paused();
            let now = self.run.control.now();
            self.take((!is_paused).then(|| now - MAX_DELAY));
            self.sink.flush_when_due();
            std::thread::sleep(POLL_INTERVAL);
        }
        self.finish();
    }

    fn finish(mut self) {
        let ended = self.run.join().err().map(|e| e.to_string());
        self.take(None);
        let mut rest: Vec<Event> = Vec::new();
        let now = self.run.control.now();
        let came_late = self.run.events.late();
        if came_late > 0 {
            rest.push(late_warning(RunId(0), now, came_late));
        }
        let count = self.run.dropped();
        if count > 0 {
            rest.push(Event {
                at: now,
                run: RunId(0),
                kind: EventKind::Dropped { count },
            });
        }
        forward(&mut self.sink, &mut rest);
        self.sink.close();
        self.sink.send(SessionEvent::Ended(ended));
    }

    /// Takes all events up to a time. `None` takes all.
    fn take(&mut self, until: Option<Nanos>) {
        let mut part = Vec::new();
        let (sink, source) = (&mut self.sink, &self.run.events);
        source.take(until, |event| {
            if matches!(event.kind, EventKind::Content(_)) {
                forward(sink, &mut part);
                let (at, start) = (event.at, Instant::now());
                forward(sink, &mut vec![event]);
                source.charge(at, start.elapsed());
                return;
            }
            part.push(event);
            if part.len() == PART {
                forward(sink, &mut part);
                sink.flush_when_due();
            }
        });
        forward(sink, &mut part);
    }
}

fn forward(sink: &mut EventSink, events: &mut Vec<Event>) {
    if !events.is_empty() {
        sink.write(events);
        sink.send_events(std::mem::take(events));
    }
}
