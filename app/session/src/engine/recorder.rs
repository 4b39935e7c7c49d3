//! The thread that starts the engine, puts its events into order, writes the log and passes them on to the window.

use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::Sender;
use loadscope_engine::{ContentPolicy, RunControl, RunHandle};
use loadscope_trace::{Event, EventKind, Nanos, RunId, RunOptions, Sorter};

use crate::file::late;
use crate::memory::SharedLog;
use crate::outgoing::Outgoing;
use crate::{Record, Selection, SessionError, Update, Waker};

/// How much of the workers' time may go into looking inside the batches.
const CONTENT: ContentPolicy = ContentPolicy::Share(0.02);

/// What the recorder is to do.
pub(crate) struct Job {
    pub options: RunOptions,
    pub control: RunControl,
    pub record: Record,
    pub shared: SharedLog,
    pub out: Sender<Update>,
    pub wake: Waker,
    /// Bytes that the runs of the window may have.
    pub memory: Option<u64>,
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
        // Without a record the batches' contents are not looked at.
        let content = match self.record {
            Record::Off => ContentPolicy::Off,
            _ => CONTENT,
        };
        let run = loadscope_engine::start(&self.options, content, self.control)?;
        Ok(Pump {
            run,
            outgoing: Outgoing::new(
                self.record,
                Selection::default(),
                self.shared,
                self.out,
                self.wake,
            )?
            .within(self.memory),
            sorter: Sorter::new(STRAGGLERS),
        })
    }
}

/// How long events of other threads may be on their way.
const STRAGGLERS: Nanos = Nanos(5_000_000);

/// How often the events are fetched. Polled on purpose: sending to a sleeping receiver costs the
/// worker a futex wake, more than sending 100 events.
const LOOK_EVERY: Duration = Duration::from_millis(4);

/// Takes the engine's events, sorts them, writes the log and passes them on.
struct Pump {
    run: RunHandle,
    outgoing: Outgoing,
    sorter: Sorter,
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
            self.outgoing.flush_when_due();
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
        self.outgoing.close();
        self.outgoing.tell(Update::Ended(ended));
    }

    fn pass_on(&mut self, mut events: Vec<Event>) {
        self.outgoing.write(&mut events);
        self.outgoing.show(events);
    }
}
