//! Files of other tools: any single file, a folder of LotusTrace logs, rows of SPDL, and compressed and then damaged input.

use std::cell::RefCell;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use flate2::write::GzEncoder;
use loadscope_exchange::{ImportError, check, read};
use loadscope_trace::Fleet;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::recording;
use crate::{examine, scratch};

/// Maximum length of an error message, bytes.
const LONGEST_REFUSAL: usize = 2_000;

/// Opens a single file of any format.
pub fn run(bytes: &[u8], thoroughly: bool) {
    let path = scratch::file("any_main_pid_7", bytes);
    open(&path, thoroughly);
}

/// Opens `path` as `loadscope info` and the window do.
pub fn open(path: &Path, thoroughly: bool) {
    let mut fleet = Fleet::default();
    let mut last = None;
    let result = read(path, |event, _| {
        if let Some(event) = &event {
            assert!(last <= Some(event.at), "events are in order of time");
            last = Some(event.at);
            fleet.apply(event);
        }
        true
    });
    let looked = check(path);
    match (result, looked) {
        (Ok(_), Ok(_)) => examine::fleet(&fleet, thoroughly),
        (Ok(_), Err(e)) => panic!("it opens, in spite of the error: {e}"),
        (Err(e), looked) => {
            check_error(&e);
            looked
                .iter()
                .for_each(|kind| assert!(!kind.to_string().is_empty()));
            looked.err().iter().for_each(check_error);
        }
    }
}

/// Checks the error message.
fn check_error(error: &ImportError) {
    let text = error.to_string();
    assert!(!text.is_empty() && text.len() < LONGEST_REFUSAL, "{text}");
}

/// File names. The first process is the main one, and one file belongs to another run.
const NAMES: [&str; 5] = [
    "run_main_pid_1",
    "run_worker_pid_2",
    "run_worker_pid_3",
    "other_main_pid_4",
    "run_worker_pid_18446744073709551615",
];

/// Opens a folder of LotusTrace logs. A line that starts with `=` starts another file.
pub fn lotus(bytes: &[u8], thoroughly: bool) {
    let files = split(bytes, NAMES.len());
    scratch::with(|folder| {
        let folder = folder.join("lotus");
        let _ = fs::create_dir(&folder);
        for (k, name) in NAMES.iter().enumerate() {
            let path = folder.join(name);
            match files.get(k) {
                Some(text) => fs::write(&path, text).expect("there is room"),
                None => _ = fs::remove_file(&path),
            }
        }
        // The input is the folder, or one of its logs.
        match bytes.last() {
            Some(b';') => open(&folder.join(NAMES[0]), thoroughly),
            _ => open(&folder, thoroughly),
        }
    });
}

/// Splits `bytes` at lines that start with `=`. The last of `most` parts contains the rest.
pub fn split(bytes: &[u8], most: usize) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let mut rest = bytes;
    while parts.len() + 1 < most
        && let Some(at) = rest.windows(2).position(|w| w == b"\n=")
    {
        parts.push(&rest[..=at]);
        let after = &rest[at + 2..];
        let line = after.iter().position(|b| *b == b'\n');
        rest = &after[line.map_or(after.len(), |end| end + 1)..];
    }
    parts.push(rest);
    parts
}

/// Maximum number of rows. Inserting one is much slower than reading it.
const MOST_ROWS: usize = 48;

const TABLES: &str = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
    CREATE TABLE queue_stats (timestamp, name, elapsed, num_items, ave_put_time, ave_get_time, occupancy_rate);
    CREATE TABLE task_stats (timestamp, name, num_tasks, num_failures, ave_time);
    CREATE TABLE event_stats (timestamp, event_name);";

thread_local! {
    static FILE: RefCell<Connection> = RefCell::new(scratch::with(|folder| {
        let connection = Connection::open(folder.join("rows.sqlite")).expect("a new file");
        connection.execute_batch(TABLES).expect("SQL");
        connection
    }));
}

/// Opens an SQLite file, or rows for SPDL's tables, because random bytes are rarely valid pages. A row has a letter for the table, then
/// the values.
pub fn spdl(bytes: &[u8], thoroughly: bool) {
    if bytes.starts_with(b"SQLite format 3") {
        return run(bytes, thoroughly);
    }
    FILE.with_borrow(|file| {
        let delete =
            "DELETE FROM queue_stats; DELETE FROM task_stats; DELETE FROM event_stats; BEGIN;";
        file.execute_batch(delete).expect("SQL");
        for line in bytes.split(|b| *b == b'\n').take(MOST_ROWS) {
            let Some((table, values)) = line.split_first() else {
                continue;
            };
            let (insert, width) = match table % 3 {
                0 => ("INSERT INTO queue_stats VALUES (?,?,?,?,?,?,?)", 7),
                1 => ("INSERT INTO task_stats VALUES (?,?,?,?,?)", 5),
                _ => ("INSERT INTO event_stats VALUES (?,?)", 2),
            };
            let mut row: Vec<Value> = values
                .split(|b| *b == b',')
                .map(value)
                .take(width)
                .collect();
            row.resize(width, Value::Null);
            let mut statement = file.prepare(insert).expect("SQL");
            statement
                .execute(params_from_iter(row))
                .expect("there is room");
        }
        file.execute_batch("COMMIT").expect("there is room");
        let path = scratch::with(|folder| folder.join("rows.sqlite"));
        open(&path, thoroughly);
    });
}

/// Parses a number, otherwise text. A leading `x` marks a blob.
fn value(text: &[u8]) -> Value {
    if let Some(blob) = text.strip_prefix(b"x") {
        return Value::Blob(blob.to_vec());
    }
    let Ok(text) = std::str::from_utf8(text) else {
        return Value::Blob(text.to_vec());
    };
    match (text.parse(), text.parse()) {
        _ if text.is_empty() => Value::Null,
        (Ok(whole), _) => Value::Integer(whole),
        (_, Ok(number)) => Value::Real(number),
        _ => Value::Text(text.to_owned()),
    }
}

/// Opens compressed and then damaged input. Random bytes are rarely a valid frame, so the target compresses them.
pub fn compressed(bytes: &[u8], thoroughly: bool) {
    let Some((head, text)) = bytes.split_first_chunk::<8>() else {
        return;
    };
    let [how, pieces, cut, cut_more, at, at_more, flip, twice] = *head;
    let packed_as_gzip = how & 1 == 1;
    let size = text.len() / (usize::from(pieces % 4) + 1) + 1;
    let mut packed: Vec<u8> = Vec::new();
    // Several frames in a row are one file.
    for piece in text.chunks(size) {
        let frame = match packed_as_gzip {
            true => gzip(piece),
            false => zstd::bulk::compress(piece, i32::from(how >> 6)).expect("a vector"),
        };
        packed.extend(frame);
    }
    let place = |low: u8, high: u8| usize::from(u16::from_le_bytes([low, high]));
    if how & 2 == 2 {
        let at = place(at, at_more);
        for place in [Some(at), (twice > 0).then(|| at + usize::from(twice))] {
            if let Some(byte) = place.and_then(|at| packed.get_mut(at)) {
                *byte ^= flip;
            }
        }
    }
    if how & 4 == 4 {
        packed.truncate(packed.len().saturating_sub(place(cut, cut_more)));
    }
    match packed_as_gzip {
        true => run(&packed, thoroughly),
        false => recording::run(&packed, thoroughly),
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes).expect("a vector");
    out.finish().expect("a vector")
}
