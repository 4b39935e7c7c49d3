//! Reading whatever can be read.

use std::path::Path;

use loadscope_trace::{
    Event, EventKind, Level, LogError, LogReader, Message, Nanos, RunId, read_log,
};

use crate::{ImportError, Kind, lotus, profiler, spdl};

/// How reading ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// True if the file ends in the middle.
    pub cut: bool,
    /// Events so far out of order that they count as happening later than they did.
    pub late: u64,
}

/// Looks whether `path` can be opened, without reading it to its end.
///
/// # Errors
/// If it cannot be read, or is nothing that can be opened.
pub fn check(path: &Path) -> Result<Kind, ImportError> {
    let kind = Kind::of(path)?;
    match kind {
        Kind::Log => _ = LogReader::open(path)?,
        Kind::Spdl => spdl::check(path)?,
        Kind::Profiler | Kind::Lotus => {}
    }
    Ok(kind)
}

/// Bytes to be read of a file, or of a folder, for showing how far reading is.
pub fn size(path: &Path) -> u64 {
    match std::fs::metadata(path) {
        Ok(m) if m.is_dir() => lotus::size(path),
        Ok(m) => m.len(),
        Err(_) => 0,
    }
}

/// Reads what is at `path` and hands its events over in order of time, each with the number of bytes that were read. `each`
/// returns false to stop early; where much is read before the first event, it is called with none.
///
/// # Errors
/// If it cannot be opened, is nothing that can be, or is damaged.
pub fn read(
    path: &Path,
    mut each: impl FnMut(Option<Event>, u64) -> bool,
) -> Result<Outcome, ImportError> {
    match Kind::of(path)? {
        Kind::Log => {
            let outcome = read_log(path, |event, bytes| each(Some(event), bytes))?;
            Ok(Outcome {
                cut: outcome.cut,
                late: outcome.late,
            })
        }
        Kind::Profiler => profiler::read(path, &mut Sink::new(&mut each)),
        Kind::Lotus => lotus::read(path, &mut Sink::new(&mut each)),
        Kind::Spdl => spdl::read(path, &mut Sink::new(&mut each)),
    }
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
    fn new(each: &'a mut dyn FnMut(Option<Event>, u64) -> bool) -> Self {
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

/// That a file cannot be read, in the words of [`ImportError::Open`].
pub(crate) fn unreadable(path: &Path, cause: std::io::Error) -> ImportError {
    ImportError::Open {
        path: path.to_owned(),
        cause,
    }
}

/// The error of a recording is reported as itself.
impl ImportError {
    /// True if the sentence names the file already.
    pub fn names_the_file(&self) -> bool {
        matches!(self, Self::Open { .. } | Self::Log(LogError::Open { .. }))
    }
}
