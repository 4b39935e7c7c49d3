//! Opening of an input, and the receiver of its events and its progress.

use std::fs::File;
use std::path::Path;

use loadscope_files::{ReadError, open_regular};
use loadscope_trace::{Event, EventKind, Level, Message, Nanos, RunId};
use loadscope_words::say;

use crate::ImportError;

/// Opens a regular file. A pipe cannot be read twice, and a device may be endless.
pub(crate) fn open(path: &Path) -> Result<File, ImportError> {
    open_regular(path).map_err(|e| match e {
        ReadError::Io { cause, .. } => ImportError::unreadable(path, cause),
        _ => ImportError::foreign(say!("is not a regular file: save it as a file first")),
    })
}

/// Result of reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// True if the file ends in the middle.
    pub cut: bool,
    /// Number of events that were too far out of order. Such events get a later time than their own.
    pub late: u64,
}

/// Receiver of an import's events.
pub(crate) struct Sink<'a> {
    each: &'a mut dyn FnMut(Option<Event>, u64) -> bool,
    /// Number of bytes read so far.
    pub consumed: u64,
    /// False after the receiver has stopped the import.
    pub is_open: bool,
}

impl<'a> Sink<'a> {
    pub fn new(each: &'a mut dyn FnMut(Option<Event>, u64) -> bool) -> Self {
        Self {
            each,
            consumed: 0,
            is_open: true,
        }
    }

    /// Sends an event. `at` is the time since the start of the run, ns.
    pub fn emit(&mut self, at: i64, kind: EventKind) {
        self.forward(Event {
            at: Nanos(at.max(0)),
            run: RunId(0),
            kind,
        });
    }

    /// Sends an event unchanged.
    pub fn forward(&mut self, event: Event) {
        self.is_open = self.is_open && (self.each)(Some(event), self.consumed);
    }

    /// Reports the number of bytes read. Returns false if the receiver stops the import.
    pub fn report_progress(&mut self, consumed: u64) -> bool {
        self.consumed = consumed;
        self.is_open = self.is_open && (self.each)(None, consumed);
        self.is_open
    }

    /// Sends a message about the whole import.
    pub fn emit_message(&mut self, at: i64, level: Level, text: String) {
        self.emit(at, message_event(level, text));
    }
}

/// Returns a message about the whole import.
pub(crate) fn message_event(level: Level, text: String) -> EventKind {
    EventKind::Message(Box::new(Message {
        level,
        text,
        about: None,
        worker: None,
        sample: None,
    }))
}
