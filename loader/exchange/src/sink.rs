//! Who takes the events of an import.

use loadscope_trace::{Event, EventKind, Level, Message, Nanos, RunId};

/// How reading ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// True if the file ends in the middle.
    pub cut: bool,
    /// Events so far out of order that they count as happening later than they did.
    pub late: u64,
}

/// Who takes the events of an import.
pub(crate) struct Sink<'a> {
    each: &'a mut dyn FnMut(Option<Event>, u64) -> bool,
    /// Bytes read so far.
    pub consumed: u64,
    /// False once no more is wanted.
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

    /// Hands an event over. `at` counts from the beginning of the run, ns.
    pub fn tell(&mut self, at: i64, kind: EventKind) {
        self.pass(Event {
            at: Nanos(at.max(0)),
            run: RunId(0),
            kind,
        });
    }

    /// Hands an event over as it is.
    pub fn pass(&mut self, event: Event) {
        self.wanted = self.wanted && (self.each)(Some(event), self.consumed);
    }

    /// Reports that so many bytes were read; false if no more is wanted.
    pub fn go_on(&mut self, consumed: u64) -> bool {
        self.consumed = consumed;
        self.wanted = self.wanted && (self.each)(None, consumed);
        self.wanted
    }

    /// Says something about the whole import.
    pub fn say(&mut self, at: i64, level: Level, text: String) {
        self.tell(at, note(level, text));
    }
}

/// A message about the whole import.
pub(crate) fn note(level: Level, text: String) -> EventKind {
    EventKind::Message(Box::new(Message {
        level,
        text,
        about: None,
        worker: None,
        sample: None,
    }))
}
