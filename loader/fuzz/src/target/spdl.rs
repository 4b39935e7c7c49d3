//! An SQLite file, or rows for SPDL's tables, because random bytes are rarely valid pages.
//! A row has a letter for the table, then the values.

use std::cell::RefCell;

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::import;
use crate::scratch;

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

pub fn run(bytes: &[u8], thoroughly: bool) {
    if bytes.starts_with(b"SQLite format 3") {
        return import::run(bytes, thoroughly);
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
        import::open(&path, thoroughly);
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
