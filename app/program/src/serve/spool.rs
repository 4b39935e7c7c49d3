//! The recording of a program that runs, for the pages that show it. Each page reads it at its own pace. Temporary files
//! without a name contain it, so nothing remains after the process. Their size is limited. Older data is reduced to sums, long waits and errors.

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom, Write as _};
use std::sync::Arc;
use std::sync::{Mutex, MutexGuard, PoisonError};

use loadscope_files::unnamed_file;
use loadscope_session::History;
use loadscope_trace::{Compression, Event, Heading, LogError, LogWriter, line_of};
use loadscope_words::say;

/// Bytes of one read.
const PIECE: u64 = 256 << 10;

/// Usual size of the files, bytes.
pub const USUAL_SIZE: u64 = 256_000_000;

/// Number of parts that fill the size. The oldest goes when there are as many.
const PARTS: u64 = 16;

/// The recording so far.
#[derive(Debug)]
pub struct Spool {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The last parts, in order. There is always one.
    parts: Vec<Arc<Part>>,
    /// Bytes before the first part, if some are gone: a recording of what is kept of them.
    head: Arc<Vec<u8>>,
    /// Place after the last whole line.
    end: i64,
    /// The end of the recording, with a sentence if something went wrong.
    ended: Option<String>,
}

/// A part of the recording.
#[derive(Debug)]
struct Part {
    number: u32,
    /// Place of its first byte, counted from the start of the recording.
    start: i64,
    /// State of the loaders at its start.
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

    /// Whole lines from the byte `from` to the byte `to`, about a piece of them.
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
                // The writer adds whole lines only.
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

/// Writes the recording.
pub struct Writer {
    history: History,
    /// Bytes of all parts at most.
    most: u64,
    text: Vec<u8>,
    spool: Arc<Spool>,
}

/// The next piece for a page.
pub(super) enum Next {
    /// Whole lines.
    Piece(Vec<u8>),
    /// Nothing has come since.
    Nothing,
    /// The page has a place that is gone.
    Gone,
}

impl Spool {
    /// Creates an empty recording of at most `most` bytes, and its writer.
    ///
    /// # Errors
    /// If no temporary file can be created.
    pub fn new(heading: Heading<'_>, most: u64) -> io::Result<(Arc<Self>, Writer)> {
        let header = recording(heading, &[]).map_err(io::Error::other)?;
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

    /// The place of a new page, and the bytes that it gets first.
    pub(super) fn beginning(&self) -> (i64, Arc<Vec<u8>>) {
        let state = self.state();
        let start = state.parts.first().map_or(state.end, |part| part.start);
        (start, Arc::clone(&state.head))
    }

    /// Whole lines from a place on.
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

    /// Where it ends, if it has ended, and the sentence.
    pub fn end(&self) -> Option<(i64, String)> {
        let state = self.state();
        let ended = state.ended.clone();
        ended.map(|why| (state.end, why))
    }
}

impl Writer {
    /// Writes events, which can be read at once. What cannot be written ends it, with a sentence; the recording itself goes on.
    pub fn write(&mut self, events: &[Event]) {
        if self.spool.state().ended.is_some() {
            return;
        }
        let most = self.part_size();
        let mut rest = events;
        while !rest.is_empty() {
            // A part has its size also if all comes at once.
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

    /// Writes the first of these events, and answers how many.
    fn write_some(&mut self, events: &[Event], most: u64) -> Result<usize, LogError> {
        let (mut lines, mut count) = (Vec::new(), 0);
        while count < events.len() && (lines.len() as u64) < most {
            line_of(&events[count], &mut self.text)?;
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
        self.history.hear(&events[..count], first);
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

    /// Begins another part. The oldest ones go.
    fn next_part(&mut self, start: i64, first: u32) -> Result<(), LogError> {
        let (number, state) = self.history.cut(first);
        let part = Part::new(number, start, state).map_err(failed)?;
        let mut parts = self.spool.state().parts.clone();
        parts.push(part);
        // With the part that begins here, they have their size.
        let most = self.most.saturating_sub(self.part_size());
        let gone = parts.partition_point(|part| (start - part.start) as u64 > most);
        parts.drain(..gone.min(parts.len().saturating_sub(1)));
        let head = match parts.first() {
            Some(first) if gone > 0 => {
                let mut events = self.history.before(first.number);
                events.extend_from_slice(&first.state);
                Some(Arc::new(recording(Heading::Limited, &events)?))
            }
            _ => None,
        };
        let mut state = self.spool.state();
        state.parts = parts;
        state.head = head.unwrap_or(Arc::clone(&state.head));
        Ok(())
    }

    /// Nothing more will come. The sentence says why, if something went wrong.
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

/// A recording with these events.
fn recording(heading: Heading<'_>, events: &[Event]) -> Result<Vec<u8>, LogError> {
    let mut log = LogWriter::headed(Vec::new(), Compression::None, heading)?;
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
