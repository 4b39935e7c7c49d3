//! The receiver of an import's events.

use loadscope_trace::{Event, EventKind, Level, Message, Nanos, RunId};

/// Result of reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// True if the file ends in the middle.
    pub cut: bool,
    /// Number of events that were too far out of order. They get a later time than their own.
    pub late: u64,
}

/// Receiver of an import's events.
pub(crate) struct Sink<'a> {
    each: &'a mut dyn FnMut(Option<Event>, u64) -> bool,
    /// Number of bytes read so far.
    pub consumed: u64,
    /// False after the receiver has stopped the import.
    pub wanted: bool,
}

impl<'a> Sink<'a> {
    pub fn new(each: &'a mut dyn FnMut(Option<Event>, u64) -> bool) -> Self {
        Self {
            each,
            consumed: 0,
            wanted: true,
        }
    }

    /// Sends an event. `at` is the time since the start of the run, ns.
    pub fn tell(&mut self, at: i64, kind: EventKind) {
        self.pass(Event {
            at: Nanos(at.max(0)),
            run: RunId(0),
            kind,
        });
    }

    /// Sends an event unchanged.
    pub fn pass(&mut self, event: Event) {
        self.wanted = self.wanted && (self.each)(Some(event), self.consumed);
    }

    /// Reports the number of bytes read. Returns false if the receiver stops the import.
    pub fn go_on(&mut self, consumed: u64) -> bool {
        self.consumed = consumed;
        self.wanted = self.wanted && (self.each)(None, consumed);
        self.wanted
    }

    /// Sends a message about the whole import.
    pub fn say(&mut self, at: i64, level: Level, text: String) {
        self.tell(at, note(level, text));
    }
}

/// Returns a message about the whole import.
pub(crate) fn note(level: Level, text: String) -> EventKind {
    EventKind::Message(Box::new(Message {
        level,
        text,
        about: None,
        worker: None,
        sample: None,
    }))
}
