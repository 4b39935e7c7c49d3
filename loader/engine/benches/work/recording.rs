//! Observing a loader: not at all, with events that are not kept, or as the program does it.

use std::thread::{Builder, JoinHandle, sleep};
use std::time::Duration;

use loadscope_engine::run::MOST_EVENTS;
use loadscope_engine::{Clock, ContentPolicy, Events, Probe};
use loadscope_trace::{Compression, Event, EventKind, LogWriter, Nanos};

/// How long events of other threads may be on their way, as in the program.
const STRAGGLERS: Nanos = Nanos(5_000_000);

/// How often the events are fetched, as in the program.
const LOOK_EVERY: Duration = Duration::from_millis(4);

/// What happens to the events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recording {
    /// There are none.
    Off,
    /// They are received and dropped; contents of batches are not looked at.
    Events,
    /// They are sorted and written to a compressed log in memory, with contents.
    Log,
}

impl Heard {
    fn hear(&mut self, event: &Event) {
        self.events += 1;
        if let EventKind::Dropped { count } = event.kind {
            self.lost += count;
        }
    }
}

/// A probe, and the thread that listens to it.
pub struct Observer {
    pub probe: Probe,
    thread: Option<JoinHandle<Heard>>,
}

/// What was heard.
#[derive(Clone, Copy, Debug, Default)]
pub struct Heard {
    pub events: u64,
    /// Events that there was no room for.
    pub lost: u64,
    pub log_bytes: usize,
}

impl Observer {
    pub fn start(recording: Recording) -> Self {
        let content = match recording {
            Recording::Off => {
                return Self {
                    probe: Probe::off(),
                    thread: None,
                };
            }
            Recording::Events => ContentPolicy::Off,
            Recording::Log => ContentPolicy::Share(0.02),
        };
        let clock = Clock::start();
        let (probe, events) = Probe::new(clock.clone(), content, MOST_EVENTS);
        let listen = move || match recording {
            Recording::Log => log(&clock, &events),
            _ => {
                let mut heard = Heard::default();
                fetch(&clock, &events, |event| heard.hear(&event));
                heard
            }
        };
        let thread = Builder::new().name("recorder".to_owned()).spawn(listen);
        Self {
            probe,
            thread: thread.ok(),
        }
    }

    /// Waits until all is heard. The loader must be gone.
    pub fn finish(self) -> Heard {
        let unreported = self.probe.dropped();
        drop(self.probe);
        let heard = self.thread.and_then(|thread| thread.join().ok());
        let mut heard = heard.unwrap_or_default();
        heard.lost += unreported;
        heard
    }
}

/// Takes events until no more will come.
fn fetch(clock: &Clock, events: &Events, mut hear: impl FnMut(Event)) {
    while !events.is_over() {
        events.take(Some(clock.now() - STRAGGLERS), &mut hear);
        sleep(LOOK_EVERY);
    }
    events.take(None, hear);
}

fn log(clock: &Clock, events: &Events) -> Heard {
    let Ok(mut log) = LogWriter::new(Vec::new(), Compression::Zstd) else {
        return Heard::default();
    };
    let mut heard = Heard::default();
    fetch(clock, events, |event| {
        heard.hear(&event);
        let _ = log.write(&event);
    });
    heard.log_bytes = log.finish().map_or(0, |bytes| bytes.len());
    heard
}
