//! Streams in files: what a program wrote that nobody listened to.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use loadscope_trace::{Event, Nanos, Sorter};

use crate::wire::{Introduction, Record};
use crate::{Join, StreamId};

/// How the name of a stream ends.
const ENDING: &str = ".stream.jsonl";

/// A line is no longer than this.
const MOST_LINE: u64 = 48 << 20;

/// How far events of different files may be out of order: they are read side by side, so it is only what a process says late.
const WINDOW: Nanos = Nanos(10_000_000_000);

/// The streams in a folder; none if it is no folder of the probe's.
pub fn streams(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut streams: Vec<PathBuf> = files
        .filter(|file| file.file_name().to_string_lossy().ends_with(ENDING))
        .map(|file| file.path())
        .collect();
    streams.sort();
    streams
}

struct Stream {
    id: StreamId,
    lines: BufReader<File>,
    next: Option<Record>,
    at: i64,
}

/// Reads the streams of a folder and hands their events over in order of time, until `each` answers false. True if one of the
/// streams ends in the middle of a line.
///
/// # Errors
/// If a file cannot be read, or is no stream.
pub fn read(folder: &Path, mut each: impl FnMut(Event) -> bool) -> io::Result<bool> {
    let mut join = Join::default();
    let mut sorter = Sorter::new(WINDOW);
    let mut open = Vec::new();
    let mut cut = false;
    let mut first: Option<Introduction> = None;
    for (number, path) in streams(folder).into_iter().enumerate() {
        let mut lines = BufReader::with_capacity(1 << 16, File::open(&path)?);
        let line = line_of(&mut lines, &mut cut)?;
        let Some(introduction) = line.and_then(|line| Introduction::parse(&line).ok()) else {
            // It was killed before it had introduced itself.
            cut = true;
            continue;
        };
        let base = first.get_or_insert_with(|| introduction.clone());
        let same = (&base.boot, &base.host) == (&introduction.boot, &introduction.host);
        let shift = match same {
            true => 0,
            false => introduction.wall_ahead().saturating_sub(base.wall_ahead()),
        };
        let id = StreamId(u32::try_from(number).unwrap_or(u32::MAX));
        join.open(id, introduction);
        let mut stream = Stream {
            id,
            lines,
            next: None,
            at: shift,
        };
        advance(&mut stream, shift, &mut join, &mut cut)?;
        open.push((stream, shift));
    }
    let mut wanted = true;
    while wanted {
        let earliest = open
            .iter_mut()
            .filter(|(s, _)| s.next.is_some())
            .min_by_key(|(s, _)| s.at);
        let Some((stream, shift)) = earliest else {
            break;
        };
        if let Some(record) = stream.next.take() {
            join.tell(stream.id, record);
        }
        advance(stream, *shift, &mut join, &mut cut)?;
        if stream.next.is_none() {
            join.close(stream.id);
        }
        join.events().for_each(|event| sorter.push(event));
        while wanted && let Some(event) = sorter.pop(None) {
            wanted = each(event);
        }
    }
    join.finish();
    join.events().for_each(|event| sorter.push(event));
    while wanted && let Some(event) = sorter.flush() {
        wanted = each(event);
    }
    Ok(cut)
}

fn advance(stream: &mut Stream, shift: i64, join: &mut Join, cut: &mut bool) -> io::Result<()> {
    while let Some(line) = line_of(&mut stream.lines, cut)? {
        match Record::parse(&line) {
            Ok(record) => {
                stream.at = record.at().saturating_add(shift);
                stream.next = Some(record);
                return Ok(());
            }
            Err(_) => join.not_understood(stream.id),
        }
    }
    Ok(())
}

/// The next whole line; `None` at the end.
fn line_of(lines: &mut BufReader<File>, cut: &mut bool) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    lines
        .by_ref()
        .take(MOST_LINE)
        .read_until(b'\n', &mut line)?;
    if line.last() == Some(&b'\n') {
        return Ok(Some(line));
    }
    *cut |= !line.is_empty();
    Ok(None)
}
