//! Spool of a program's recording, for the pages that show it live. Each page reads it at its own pace. Unnamed temporary files contain it,
//! so nothing remains after the process. Their size is limited. Older data is reduced to sums, long waits and errors.

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom, Write as _};
use std::sync::Arc;
use std::sync::{Mutex, MutexGuard, PoisonError};

use loadscope_files::unnamed_file;
use loadscope_session::History;
use loadscope_trace::{Compression, Event, LogError, LogWriter, format_event};
use loadscope_words::say;

/// Size of one read, bytes.
const PIECE: u64 = 256 << 10;

/// Default size of the files, bytes.
pub const USUAL_SIZE: u64 = 256_000_000;

/// Number of parts that fill the size. Then each new part replaces the oldest.
const PARTS: u64 = 16;

/// Recording so far.
#[derive(Debug)]
pub struct Spool {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Last parts, in order. There is always at least one.
    parts: Vec<Arc<Part>>,
    /// Summary of the removed parts, as a recording. Its bytes precede the first part.
    head: Arc<Vec<u8>>,
    /// Offset after the last whole line.
    end: i64,
    /// End of the recording, with an error message if it failed.
    ended: Option<String>,
}

/// Part of the recording.
#[derive(Debug)]
struct Part {
    number: u32,
    /// Offset of the first byte, from the start of the recording.
    start: i64,
    /// State of the loaders at the start of the part.
    state: Vec<Event>,
    file: Mutex<File>,
}

impl Part {
    fn new(number: u32, start: i64, state: Vec<Event>) -> io::Result<Arc<Self>> {
        Ok(Arc::new(Self {
            number,
            start,
            state,
            file: Mutex::new(unnamed_file()?),
        }))
    }

    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        let mut file = locked(&self.file);
        file.seek(SeekFrom::End(0))?;
        file.write_all(bytes)
    }

    /// Reads whole lines between the bytes `from` and `to`, about [`PIECE`] bytes.
    fn read(&self, from: u64, to: u64) -> io::Result<Vec<u8>> {
        let mut file = locked(&self.file);
        file.seek(SeekFrom::Start(from))?;
        let mut piece = Vec::new();
        let mut rest = Read::by_ref(&mut *file).take(to - from);
        loop {
            let read = rest.by_ref().take(PIECE).read_to_end(&mut piece)?;
            if let Some(end) = piece.iter().rposition(|byte| *byte == b'\n') {
                piece.truncate(end + 1);
                return Ok(piece);
            }
            if read == 0 {
                // The writer appends only whole lines.
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

/// Writer of the recording.
pub struct Writer {
    history: History,
    /// Maximum size of all parts, bytes.
    most: u64,
    text: Vec<u8>,
    spool: Arc<Spool>,
}

/// Next piece for a page.
pub(super) enum Next {
    /// Whole lines.
    Piece(Vec<u8>),
    /// No new data.
    Nothing,
    /// The data at this offset was removed.
    Gone,
}

impl Spool {
    /// Creates an empty recording of at most `most` bytes, and its writer.
    ///
    /// # Errors
    /// If no temporary file can be created.
    pub fn new(most: u64) -> io::Result<(Arc<Self>, Writer)> {
        let header = recording(&[]).map_err(io::Error::other)?;
        let part = Part::new(0, 0, Vec::new())?;
        part.append(&header)?;
        let spool = Arc::new(Self {
            state: Mutex::new(State {
                parts: vec![part],
                end: header.len() as i64,
                ..State::default()
            }),
        });
        let writer = Writer {
            history: History::new(most),
            most,
            text: Vec::new(),
            spool: Arc::clone(&spool),
        };
        Ok((spool, writer))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    /// Returns the offset for a new page, and the summary that it receives first.
    pub(super) fn beginning(&self) -> (i64, Arc<Vec<u8>>) {
        let state = self.state();
        let start = state.parts.first().map_or(state.end, |part| part.start);
        (start, Arc::clone(&state.head))
    }

    /// Reads whole lines from an offset on.
    pub(super) fn read(&self, from: i64) -> io::Result<Next> {
        let (part, to) = {
            let state = self.state();
            if from >= state.end {
                return Ok(Next::Nothing);
            }
            let next = state.parts.partition_point(|part| part.start <= from);
            let Some(at) = next.checked_sub(1) else {
                return Ok(Next::Gone);
            };
            let end = state.parts.get(next).map_or(state.end, |part| part.start);
            (Arc::clone(&state.parts[at]), end)
        };
        let (from, to) = (from - part.start, to - part.start);
        Ok(Next::Piece(part.read(from as u64, to as u64)?))
    }

    /// Returns the final offset and the error message, if the recording has ended. The message is empty without an error.
    pub fn end(&self) -> Option<(i64, String)> {
        let state = self.state();
        let ended = state.ended.clone();
        ended.map(|why| (state.end, why))
    }
}

impl Writer {
    /// Writes events. Pages can read them at once. An error ends the live view with a message. The recording itself continues.
    pub fn write(&mut self, events: &[Event]) {
        if self.spool.state().ended.is_some() {
            return;
        }
        let most = self.part_size();
        let mut rest = events;
        while !rest.is_empty() {
            // Many events at once are split into parts of the same size.
            let written = self.write_some(rest, most);
            match written {
                Ok(count) => rest = rest.get(count..).unwrap_or_default(),
                Err(e) => return self.end(&say!("The live view stopped: {e}")),
            }
        }
    }

    fn part_size(&self) -> u64 {
        (self.most / PARTS).max(1)
    }

    /// Writes the first of these events. Returns their number.
    fn write_some(&mut self, events: &[Event], most: u64) -> Result<usize, LogError> {
        let (mut lines, mut count) = (Vec::new(), 0);
        while count < events.len() && (lines.len() as u64) < most {
            format_event(&events[count], &mut self.text)?;
            lines.append(&mut self.text);
            lines.push(b'\n');
            count += 1;
        }
        let (part, first) = {
            let state = self.spool.state();
            let first = state.parts.first().map_or(0, |part| part.number);
            (state.parts.last().map(Arc::clone), first)
        };
        let Some(part) = part else {
            return Ok(events.len());
        };
        part.append(&lines).map_err(failed)?;
        self.history.record(&events[..count], first);
        let end = {
            let mut state = self.spool.state();
            state.end += lines.len() as i64;
            state.end
        };
        if (end - part.start) as u64 >= most {
            self.next_part(end, first)?;
        }
        Ok(count)
    }

    /// Starts a new part, and removes the oldest ones.
    fn next_part(&mut self, start: i64, first: u32) -> Result<(), LogError> {
        let (number, state) = self.history.start_part(first);
        let part = Part::new(number, start, state).map_err(failed)?;
        let mut parts = self.spool.state().parts.clone();
        parts.push(part);
        // The limit leaves room for the new part.
        let most = self.most.saturating_sub(self.part_size());
        let gone = parts.partition_point(|part| (start - part.start) as u64 > most);
        parts.drain(..gone.min(parts.len().saturating_sub(1)));
        let head = match parts.first() {
            Some(first) if gone > 0 => {
                let mut events = self.history.before(first.number);
                events.extend_from_slice(&first.state);
                Some(Arc::new(recording(&events)?))
            }
            _ => None,
        };
        let mut state = self.spool.state();
        state.parts = parts;
        state.head = head.unwrap_or(Arc::clone(&state.head));
        Ok(())
    }

    /// Ends the recording. `why` is the reason if there was an error.
    pub fn end(&mut self, why: &str) {
        let mut state = self.spool.state();
        state.ended.get_or_insert_with(|| why.to_owned());
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.end("");
    }
}

/// Returns a recording of these events.
fn recording(events: &[Event]) -> Result<Vec<u8>, LogError> {
    let mut log = LogWriter::new(Vec::new(), Compression::None)?;
    events.iter().try_for_each(|event| log.write(event))?;
    log.finish()
}

fn locked<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

fn failed(cause: io::Error) -> LogError {
    LogError::Io {
        doing: "write",
        lines: 0,
        cause,
    }
}

#[cfg(test)]
mod tests;
