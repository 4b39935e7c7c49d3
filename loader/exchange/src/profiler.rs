//! Traces of `torch.profiler` (Kineto): one annotation per `next()` of a `DataLoader`, in the main process.
//!
//! A call is a wait, and the time until the next call of the same thread is the training step. The trace does not contain the work of the
//! workers, nor the ends of epochs. A call without computation after it is assumed to have exhausted the iterator.
//!
//! Events are sorted by time first, so their order in the file does not matter.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;
use loadscope_words::say;

use crate::input::Sink;
use crate::input::open;
use crate::json::{Json, JsonError, Value, nanos};
use crate::{ImportError, Kind, Outcome};

mod calls;
mod emit;
mod slice;
mod sort;

use calls::Calls;
use slice::{Header, Raw, text};
use sort::{MOST_SLICES, Slices};

/// Bytes between two progress reports.
const PROGRESS_INTERVAL: u64 = 4 << 20;

pub(crate) fn read(path: &Path, sink: &mut Sink<'_>) -> Result<Outcome, ImportError> {
    let mut header = Header::default();
    let mut slices = Slices::new(MOST_SLICES);
    let mut calls = Calls::default();
    let mut cut = false;
    loop {
        cut |= pass(path, &mut header, &mut slices, sink)?;
        if !sink.is_open {
            return Ok(Outcome::default());
        }
        if !slices.end_pass(&mut calls) {
            break;
        }
    }
    drop(slices);
    emit::emit(&header, calls, sink)?;
    Ok(Outcome { cut, late: 0 })
}

/// Reads the file from its beginning. Returns true if it ends in the middle.
fn pass(
    path: &Path,
    header: &mut Header,
    slices: &mut Slices,
    sink: &mut Sink<'_>,
) -> Result<bool, ImportError> {
    let file = open(path)?;
    let consumed = Arc::new(AtomicU64::new(0));
    let counted = Counted(file, Arc::clone(&consumed));
    let mut input = BufReader::with_capacity(1 << 16, counted);
    let is_gzip = {
        use std::io::BufRead as _;
        let head = input
            .fill_buf()
            .map_err(|e| ImportError::unreadable(path, e))?;
        head.starts_with(&[0x1F, 0x8B])
    };
    let input: Box<dyn Read> = match is_gzip {
        true => Box::new(MultiGzDecoder::new(input)),
        false => Box::new(input),
    };
    let mut reader = Reader {
        json: Json::new(input),
        consumed,
        reported: 0,
        header,
        slices,
    };
    match reader.file(sink) {
        Ok(()) => Ok(false),
        Err(JsonError::Cut) => Ok(true),
        Err(JsonError::Io(cause)) if is_gzip => Err(reader.damaged(&say!(
            "its compression is broken ({cause})",
            cause = loadscope_words::cause(&cause)
        ))),
        Err(JsonError::Io(cause)) => Err(ImportError::unreadable(path, cause)),
        Err(JsonError::Bad(why)) => Err(reader.damaged(why)),
    }
}

struct Reader<'a, R> {
    json: Json<R>,
    consumed: Arc<AtomicU64>,
    reported: u64,
    header: &'a mut Header,
    slices: &'a mut Slices,
}

impl<R: Read> Reader<'_, R> {
    fn damaged(&self, why: &str) -> ImportError {
        ImportError::Damaged {
            kind: Kind::Profiler,
            place: say!("at byte {}", self.json.position()),
            why: why.to_owned(),
        }
    }

    /// Reads the file: an object with the events, or only their list.
    fn file(&mut self, sink: &mut Sink<'_>) -> Result<(), JsonError> {
        if self.json.enter(b'[')? {
            return self.events(sink);
        }
        if !self.json.enter(b'{')? {
            return Err(JsonError::Bad(say!("it begins with neither {{ nor [")));
        }
        while sink.is_open && self.json.next_name()? {
            match self.json.text() {
                b"traceEvents" => match self.json.enter(b'[')? {
                    true => self.events(sink)?,
                    false => _ = self.json.value()?,
                },
                b"distributedInfo" => match self.json.enter(b'{')? {
                    true => self.distributed()?,
                    false => _ = self.json.value()?,
                },
                b"otherData" => match self.json.enter(b'{')? {
                    true => self.other_data()?,
                    false => _ = self.json.value()?,
                },
                b"baseTimeNanoseconds" => {
                    if self.json.value()? == Value::Number {
                        let text = std::str::from_utf8(self.json.text()).unwrap_or_default();
                        self.header.base = text.parse().unwrap_or(0);
                    }
                }
                b"host_name" => {
                    if self.json.value()? == Value::Text {
                        self.header.host = text(self.json.text());
                    }
                }
                _ => _ = self.json.value()?,
            }
        }
        Ok(())
    }

    fn other_data(&mut self) -> Result<(), JsonError> {
        while self.json.next_name()? {
            let is_writer = self.json.text() == b"writer";
            let is_text = self.json.value()? == Value::Text;
            if is_writer && is_text {
                self.header.is_ours = self.json.text().starts_with(b"loadscope ");
            }
        }
        Ok(())
    }

    fn distributed(&mut self) -> Result<(), JsonError> {
        while self.json.next_name()? {
            let field = match self.json.text() {
                b"rank" => &mut self.header.rank,
                b"world_size" => &mut self.header.world_size,
                _ => {
                    self.json.value()?;
                    continue;
                }
            };
            if self.json.value()? == Value::Number {
                let text = std::str::from_utf8(self.json.text()).unwrap_or_default();
                *field = text.parse().unwrap_or(0);
            }
        }
        Ok(())
    }

    fn events(&mut self, sink: &mut Sink<'_>) -> Result<(), JsonError> {
        let mut raw = Raw::default();
        while self.json.next_item()? {
            if !self.json.enter(b'{')? {
                self.json.value()?;
                continue;
            }
            raw.clear();
            while self.json.next_name()? {
                self.field(&mut raw)?;
            }
            self.slices.add_event(&raw);
            if self.json.position() - self.reported > PROGRESS_INTERVAL {
                self.reported = self.json.position();
                // Progress stays at the end of the first pass during further passes.
                let consumed = self.consumed.load(Ordering::Relaxed).max(sink.consumed);
                if !sink.report_progress(consumed) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Reads one field of an event.
    fn field(&mut self, raw: &mut Raw) -> Result<(), JsonError> {
        let json = &mut self.json;
        match json.text() {
            b"ph" => {
                json.value()?;
                raw.is_complete = json.text() == b"X";
            }
            b"name" => {
                if json.value()? == Value::Text {
                    raw.name.extend_from_slice(json.text());
                }
            }
            b"cat" => {
                if json.value()? == Value::Text {
                    raw.is_python = json.text() == b"python_function";
                }
            }
            b"pid" => match json.value()? {
                Value::Other => {}
                _ => raw.pid.extend_from_slice(json.text()),
            },
            b"tid" => match json.value()? {
                Value::Other => {}
                _ => raw.tid.extend_from_slice(json.text()),
            },
            b"ts" => {
                json.value()?;
                raw.start = nanos(json.text());
            }
            b"dur" => {
                json.value()?;
                raw.duration = nanos(json.text());
            }
            _ => _ = json.value()?,
        }
        Ok(())
    }
}

/// File that counts the bytes read from it, for the progress.
struct Counted(File, Arc<AtomicU64>);

impl Read for Counted {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.0.read(out)?;
        self.1.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}
