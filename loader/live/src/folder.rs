//! Reader of stream files, which a program writes if no listener is available.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use loadscope_files::{ReadError, open_regular};
use loadscope_trace::{Event, Nanos, RunId, Sorter, plural};

use crate::wire::{Introduction, Record};
use crate::{Join, StreamId};

/// Suffix of the file name of a stream.
const SUFFIX: &str = ".stream.jsonl";

/// Maximum number of files to scan in a folder.
const MAX_ENTRIES: usize = 1 << 20;

/// Maximum length of a line, bytes.
const MAX_LINE: u64 = 48 << 20;

/// Time window for sorting, ns. The files are merged by time, so only records that a process sends late are out of order.
const WINDOW: Nanos = Nanos(10_000_000_000);

/// Returns the paths of the streams in a folder, sorted. Empty if the folder has none or cannot be read.
pub fn streams(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = files.take(MAX_ENTRIES);
    let mut streams: Vec<PathBuf> = files
        .filter(|file| file.file_name().to_string_lossy().ends_with(SUFFIX))
        .map(|file| file.path())
        // Pipes are skipped: opening one blocks until it has a writer.
        .filter(|path| path.is_file())
        .collect();
    streams.sort();
    streams
}

/// A stream that starts later than the current time of the merge. Its file is closed.
struct PendingStream {
    path: PathBuf,
    id: StreamId,
    introduction: Introduction,
    /// Offset of its clock to the clock of the first stream, ns.
    shift: i64,
}

impl PendingStream {
    fn start(&self) -> i64 {
        self.introduction.monotonic.saturating_add(self.shift)
    }
}

struct Stream {
    id: StreamId,
    lines: BufReader<File>,
    next: Record,
    shift: i64,
}

/// Reads the streams of a folder and passes their events to `each` in order of time, until `each` returns false. Returns true if a
/// stream is truncated.
///
/// # Errors
/// Returns an error if a file cannot be read or is not a stream.
pub fn read(folder: &Path, mut each: impl FnMut(Event) -> bool) -> io::Result<bool> {
    let mut cut = false;
    let mut waiting = introductions(folder, &mut cut)?;
    waiting.sort_by_key(|w| Reverse((w.start(), w.id)));
    let mut join = Join::default();
    let mut sorter = Sorter::new(WINDOW);
    let mut open: BTreeMap<StreamId, Stream> = BTreeMap::new();
    let mut queue = BinaryHeap::new();
    let mut last = Nanos(0);
    let mut hand = |event: Event| {
        last = event.at;
        each(event)
    };
    let mut wanted = true;
    while wanted {
        // Each epoch can have its own processes. A file is opened at its start time, so the open files match the running processes.
        let now = queue.peek().map(|Reverse((at, _))| *at);
        if let Some(next) = waiting.pop_if(|next| now.is_none_or(|now| next.start() <= now)) {
            let mut lines = BufReader::with_capacity(1 << 16, stream_file(&next.path)?);
            read_line(&mut lines, &mut cut)?;
            join.open(next.id, next.introduction);
            match next_record(&mut lines, next.id, &mut join, &mut cut)? {
                Some(record) => {
                    let (id, shift) = (next.id, next.shift);
                    queue.push(Reverse((record.at().saturating_add(shift), id)));
                    let stream = Stream {
                        id,
                        lines,
                        next: record,
                        shift,
                    };
                    open.insert(id, stream);
                }
                None => join.close(next.id),
            }
            continue;
        }
        let Some(mut stream) = queue.pop().and_then(|Reverse((_, id))| open.remove(&id)) else {
            break;
        };
        let next = next_record(&mut stream.lines, stream.id, &mut join, &mut cut)?;
        let id = stream.id;
        match next {
            Some(next) => {
                queue.push(Reverse((next.at().saturating_add(stream.shift), id)));
                join.push(id, std::mem::replace(&mut stream.next, next));
                open.insert(id, stream);
            }
            None => {
                join.push(id, stream.next);
                join.close(id);
            }
        }
        join.events().for_each(|event| sorter.push(event));
        while wanted && let Some(event) = sorter.pop(None) {
            wanted = hand(event);
        }
    }
    join.finish();
    join.events().for_each(|event| sorter.push(event));
    while wanted && let Some(event) = sorter.flush() {
        wanted = hand(event);
    }
    if wanted && sorter.late() > 0 && join.loaders() > 0 {
        each(late(last, sorter.late()));
    }
    Ok(cut)
}

/// Reads the first line of each stream. One file is open at a time: there can be more streams than the limit of open files.
fn introductions(folder: &Path, cut: &mut bool) -> io::Result<Vec<PendingStream>> {
    let mut waiting: Vec<PendingStream> = Vec::new();
    let mut first: Option<Introduction> = None;
    for (number, path) in streams(folder).into_iter().enumerate() {
        let mut lines = BufReader::new(stream_file(&path)?);
        let Some(line) = read_line(&mut lines, cut)? else {
            // The process was killed before it wrote its first line.
            *cut = true;
            continue;
        };
        let introduction = Introduction::parse(&line).map_err(|why| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            io::Error::new(io::ErrorKind::InvalidData, format!("{name}: {why}"))
        })?;
        let base = first.get_or_insert_with(|| introduction.clone());
        let same = (&base.boot, &base.host) == (&introduction.boot, &introduction.host);
        let shift = match same {
            true => 0,
            false => introduction.wall_ahead().saturating_sub(base.wall_ahead()),
        };
        waiting.push(PendingStream {
            path,
            id: StreamId(u32::try_from(number).unwrap_or(u32::MAX)),
            introduction,
            shift,
        });
    }
    Ok(waiting)
}

/// Opens a stream. Returns an error if the path is not a regular file any more.
fn stream_file(path: &Path) -> io::Result<File> {
    open_regular(path).map_err(|e| match e {
        ReadError::Io { cause, .. } => cause,
        other => io::Error::other(other),
    })
}

/// Returns the warning about events that came too late to be sorted.
fn late(at: Nanos, count: u64) -> Event {
    let text = format!(
        "{} too late to be put in order of time: counted as happening when read",
        plural(count, "event came", "events came")
    );
    Event::warning(RunId(0), at, text)
}

/// Returns the next valid record, or `None` at the end. Invalid lines are counted as lost.
fn next_record(
    lines: &mut BufReader<File>,
    id: StreamId,
    join: &mut Join,
    cut: &mut bool,
) -> io::Result<Option<Record>> {
    while let Some(line) = read_line(lines, cut)? {
        match Record::parse(&line) {
            Ok(record) => return Ok(Some(record)),
            Err(_) => join.count_invalid_line(id),
        }
    }
    Ok(None)
}

/// Returns the next complete line, or `None` at the end. Sets `cut` if the last line is incomplete.
fn read_line(lines: &mut BufReader<File>, cut: &mut bool) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    lines.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)?;
    if line.last() == Some(&b'\n') {
        return Ok(Some(line));
    }
    *cut |= !line.is_empty();
    Ok(None)
}
