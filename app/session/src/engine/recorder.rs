//! The thread that starts the engine, puts its events into order, writes the log and passes them on to the window.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;
use loadscope_engine::{ContentPolicy, RunControl, RunHandle};
use loadscope_trace::{Event, EventKind, Nanos, RunId, RunOptions};

use crate::event_sink::EventSink;
use crate::file::late;
use crate::memory::SharedLog;
use crate::{Record, Selection, SessionError, SessionEvent, Waker};

/// How much of the workers' time may go into looking inside the batches, and into writing what was seen.
const CONTENT: ContentPolicy = ContentPolicy::Share(0.01);

/// What the recorder is to do.
pub(crate) struct Job {
    pub options: RunOptions,
    pub control: RunControl,
    pub record: Record,
    pub shared: SharedLog,
    pub out: Sender<SessionEvent>,
    pub wake: Waker,
    /// Bytes that the runs of the window may have.
    pub memory: Option<u64>,
}

impl Job {
    /// Starts the engine and follows it to its end.
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
        // Without a record the batches' contents are not looked at.
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
            .within(self.memory),
        })
    }
}

/// How long after its time an event of any thread is there for certain: a thread may be interrupted between reading the clock and
/// storing the event.
const STRAGGLERS: Nanos = Nanos(5_000_000);

/// How often the events are fetched. Polled on purpose: sending to a sleeping receiver costs the
/// worker a futex wake, more than telling 100 events.
const LOOK_EVERY: Duration = Duration::from_millis(4);

/// Events are written and passed on this many at a time, so that the window sees the first of many soon.
const PART: usize = 1 << 14;

/// Receiver of the engine's events in order of time. Writes the log and passes them on.
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
            // The clock of a paused run stands still; nothing that is not here yet can be earlier.
            let is_paused = self.run.control.is_paused();
            let now = self.run.control.now();
            self.take((!is_paused).then(|| now - STRAGGLERS));
            self.sink.flush_when_due();
            std::thread::sleep(LOOK_EVERY);
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
            rest.push(late(RunId(0), now, came_late));
        }
        let count = self.run.dropped();
        if count > 0 {
            rest.push(Event {
                at: now,
                run: RunId(0),
                kind: EventKind::Dropped { count },
            });
        }
        pass_on(&mut self.sink, &mut rest);
        self.sink.close();
        self.sink.tell(SessionEvent::Ended(ended));
    }

    /// Takes what is there up to a time.
    fn take(&mut self, until: Option<Nanos>) {
        let mut part = Vec::new();
        let (sink, source) = (&mut self.sink, &self.run.events);
        source.take(until, |event| {
            if matches!(event.kind, EventKind::Content(_)) {
                pass_on(sink, &mut part);
                let (at, start) = (event.at, Instant::now());
                pass_on(sink, &mut vec![event]);
                source.charge(at, start.elapsed());
                return;
            }
            part.push(event);
            if part.len() == PART {
                pass_on(sink, &mut part);
                sink.flush_when_due();
            }
        });
        pass_on(sink, &mut part);
    }
}

fn pass_on(sink: &mut EventSink, events: &mut Vec<Event>) {
    if !events.is_empty() {
        sink.write(events);
        sink.show(std::mem::take(events));
    }
}
