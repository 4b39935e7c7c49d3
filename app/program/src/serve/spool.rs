//! The recording of a program that runs, as lines of text in a file of its own that goes with the process: each page reads it at its
//! own pace, and none of them holds up what is written.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::{Mutex, MutexGuard, PoisonError};

use loadscope_files::TemporaryFolder;
use loadscope_session::Selection;
use loadscope_trace::{Compression, Event, LogError, LogWriter};
use loadscope_words::say;

/// What is read at a time, bytes.
const PIECE: u64 = 256 << 10;

/// What has been written so far.
#[derive(Debug)]
pub struct Spool {
    path: PathBuf,
    state: Mutex<State>,
    _folder: TemporaryFolder,
}

#[derive(Debug, Default)]
struct State {
    /// Bytes of whole lines.
    length: u64,
    /// Nothing more will come; the sentence says what ended it, if something went wrong.
    ended: Option<String>,
}

/// Writes it.
pub struct Writer {
    log: Option<LogWriter<File>>,
    file: File,
    spool: Arc<Spool>,
}

impl Spool {
    /// An empty one for what is selected, and what writes into it.
    ///
    /// # Errors
    /// If there is no place for it.
    pub fn new(selection: &Selection) -> io::Result<(Arc<Self>, Writer)> {
        let folder = TemporaryFolder::new("loadscope-web-")?;
        let path = folder.path().join("run.jsonl");
        let file = File::create_new(&path)?;
        let mut log = LogWriter::headed(file, Compression::None, selection.heading())
            .map_err(io::Error::other)?;
        log.flush().map_err(io::Error::other)?;
        let file = File::open(&path)?;
        let spool = Arc::new(Self {
            path,
            state: Mutex::default(),
            _folder: folder,
        });
        let writer = Writer {
            log: Some(log),
            file,
            spool: Arc::clone(&spool),
        };
        writer.tell()?;
        Ok((spool, writer))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whole lines from there on; none if there are none yet.
    pub(super) fn read(&self, from: u64) -> io::Result<Vec<u8>> {
        let length = self.state().length;
        let mut piece = Vec::new();
        if from >= length {
            return Ok(piece);
        }
        let mut file = BufReader::new(File::open(&self.path)?);
        file.seek(SeekFrom::Start(from))?;
        // What is beyond may be half a line.
        let mut file = file.take(length - from);
        file.by_ref().take(PIECE).read_to_end(&mut piece)?;
        // The rest of the last line.
        if piece.last() != Some(&b'\n') {
            file.read_until(b'\n', &mut piece)?;
        }
        Ok(piece)
    }

    /// Where it ends, if it has ended, and the sentence.
    pub(super) fn end(&self) -> Option<(u64, String)> {
        let state = self.state();
        let ended = state.ended.clone();
        ended.map(|why| (state.length, why))
    }
}

impl Writer {
    /// Writes events, which can be read at once. What cannot be written ends it, with a sentence; the recording itself goes on.
    pub fn write(&mut self, events: &[Event]) {
        let Some(log) = &mut self.log else {
            return;
        };
        let mut written = events.iter().try_for_each(|event| log.write(event));
        written = written.and_then(|()| log.flush());
        if let Err(e) = written.and_then(|()| self.tell().map_err(failed)) {
            self.end(&say!("The live view stopped: {e}"));
        }
    }

    fn tell(&self) -> io::Result<()> {
        let length = self.file.metadata()?.len();
        self.spool.state().length = length;
        Ok(())
    }

    /// Nothing more will come. The sentence says why, if something went wrong.
    pub fn end(&mut self, why: &str) {
        self.log = None;
        let mut state = self.spool.state();
        state.ended.get_or_insert_with(|| why.to_owned());
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.end("");
    }
}

fn failed(cause: io::Error) -> LogError {
    LogError::Io {
        doing: "write",
        lines: 0,
        cause,
    }
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{EventKind, Nanos, RunId};

    use super::*;

    pub(crate) fn events(count: i64) -> Vec<Event> {
        let event = |at| Event {
            at: Nanos(at),
            run: RunId(0),
            kind: EventKind::Dropped { count: 1 },
        };
        (0..count).map(event).collect()
    }

    #[test]
    fn lines_are_read_whole_and_once() {
        let (spool, mut writer) = Spool::new(&Selection::default()).expect("a place");
        let (mut at, mut all) = (0, Vec::new());
        let mut read = |spool: &Spool| {
            loop {
                let piece = spool.read(at).expect("it is there");
                if piece.is_empty() {
                    return all.clone();
                }
                assert!(piece.ends_with(b"\n"));
                at += piece.len() as u64;
                all.extend(piece);
            }
        };
        assert!(read(&spool).starts_with(b"{\"loadscope\":1,"));
        writer.write(&events(20_000));
        read(&spool);
        assert!(spool.end().is_none());
        writer.write(&events(10));
        writer.end("");
        let all = read(&spool);
        let lines = all.iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(lines, 1 + 20_010);
        assert_eq!(spool.end(), Some((all.len() as u64, String::new())));
        let folder = spool.path.parent().expect("in a folder").to_owned();
        drop((writer, spool));
        assert!(!folder.exists());
    }
    /// An epoch may begin in its middle: a page of an older version must not take it for whole.
    #[test]
    fn a_selection_says_in_its_first_line_that_not_everything_is_there() {
        let selection = Selection {
            skip_first: 5,
            epochs: Vec::new(),
        };
        let (spool, _writer) = Spool::new(&selection).expect("a place");
        let first = spool.read(0).expect("it is there");
        assert!(first.starts_with(b"{\"loadscope\":2,"));
    }
}
