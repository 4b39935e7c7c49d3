//! Errors of SQLite files and of queries to them.
#![allow(
    clippy::disallowed_methods,
    clippy::too_many_lines,
    clippy::unwrap_used,
    reason = "files and lists of tests"
)]

use std::time::Duration;

use loadscope_formats::sql::{Query, Source};
use loadscope_formats::{Fault, Share, Untimed};
use rusqlite::Connection;

mod peers;

use peers::sql::{all, by_key, made, row, sqlite, streamed};
use peers::{fault, faults};

#[test]
fn invalid_queries_give_clear_errors() {
    let (_dir, path) = made(9);
    let refused = |query: &str, index: &str| by_key(&sqlite(&path), query, index).err().unwrap();
    let stream = |query: Query| streamed(&sqlite(&path), query).err().unwrap();
    faults! {
        refused("SELECT * FROM item", "id") => InvalidOption, "no such table: item", "shop.db";
        refused("SELECT * FROM items", "key") => NoSuchKey, "'key'", "id, name, class", "index=";
        refused("SELECT * FROM items WHERE id < 0", "id") => Damaged, "no rows";
        refused("SELECT * FROM items", "class") => InvalidOption, "two rows have the key \"class 7\"";
        refused("SELECT nullif(id, 4) AS k FROM items", "k") => WrongType, "a key is null", "row 2";
        refused("SELECT picture FROM items", "picture") => WrongType, "integers or all be texts";
        stream(Query::new("SELEC 1")) => InvalidOption, "syntax error";
        stream(Query::new("")) => InvalidOption;
        stream(Query::new("SELECT 1; SELECT 2")) => InvalidOption, "query";
        stream(Query::new("DELETE FROM items RETURNING id")) => InvalidOption, "writes";
        stream(Query::new("SELECT id, id FROM items")) => InvalidOption, "two columns", "'id'";
    }
    let label = Query {
        label: Some("clas".into()),
        ..Query::new("SELECT * FROM items")
    };
    fault(&stream(label), Fault::NoSuchKey, &["'clas'", "label="]);
    let image = Query {
        image: Some("name".into()),
        ..Query::new("SELECT * FROM items")
    };
    let error = all(&*streamed(&sqlite(&path), image).unwrap(), Share::default())
        .err()
        .unwrap();
    fault(&error, Fault::WrongType, &["row 0", "'name'", "BLOB"]);
    let missing = by_key(&sqlite(&path.with_file_name("no.db")), "SELECT 1", "id")
        .err()
        .unwrap();
    faults! {
        missing => Missing, "no.db: not found";
        by_key(&sqlite(path.parent().unwrap()), "SELECT 1", "id").err().unwrap() => Unreadable, "folder";
    }
    let kind = Source::parse("mysql://ann:hunter2@db/shop").err().unwrap();
    fault(&kind, Fault::InvalidOption, &["mysql", "sqlite:FILE"]);
    assert!(!kind.to_string().contains("hunter2"));
    let rows = by_key(&sqlite(&path), "SELECT * FROM items", "id").unwrap();
    faults! { row(&*rows, 9).err().unwrap() => OutOfRange, "row 9", "9 rows"; }
}

#[test]
fn a_bad_row_is_named_and_later_rows_are_read() {
    let (_dir, path) = made(4);
    let db = Connection::open(&path).unwrap();
    db.execute_batch("UPDATE items SET name = CAST(x'ff00fe' AS TEXT) WHERE id = 2; DELETE FROM items WHERE id = 6").unwrap();
    let stream = streamed(&sqlite(&path), Query::new("SELECT * FROM items")).unwrap();
    let mut part = stream.open(&Share::default()).unwrap();
    let answers: Vec<_> = std::iter::from_fn(|| part.next(&mut Untimed)).collect();
    assert_eq!(answers.len(), 3);
    faults! { *answers[1].as_ref().err().unwrap() => WrongType, "row 1", "'name'", "UTF-8"; }
    assert!(answers[2].is_ok());
    let rows = by_key(&sqlite(&path), "SELECT * FROM items", "id").unwrap();
    faults! { row(&*rows, 1).err().unwrap() => WrongType, "row 1", "'name'"; }
    assert!(row(&*rows, 2).is_ok());
    db.execute_batch("DELETE FROM items WHERE id = 4").unwrap();
    faults! { row(&*rows, 2).err().unwrap() => NoSuchKey, "row 2", "no longer exists"; }
}

#[test]
fn locked_files_and_slow_queries_time_out() {
    peers::within(Duration::from_secs(120), ask_what_is_locked_or_slow);
}

fn ask_what_is_locked_or_slow() {
    let (_dir, path) = made(9);
    let short = |text: &str| Query {
        timeout: Duration::from_millis(200),
        ..Query::new(text)
    };
    let endless =
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let stream = streamed(&sqlite(&path), short(endless)).unwrap();
    faults! { all(&*stream, Share::default()).err().unwrap() => Locked, "not answered for 0.2 s"; }
    let db = Connection::open(&path).unwrap();
    db.execute_batch("BEGIN EXCLUSIVE").unwrap();
    faults! {
        streamed(&sqlite(&path), short("SELECT * FROM items")).err().unwrap() => Locked, "lock", "0.2 s";
    }
    db.execute_batch("COMMIT").unwrap();
    assert!(streamed(&sqlite(&path), short("SELECT * FROM items")).is_ok());
}

#[test]
fn damaged_files_give_clear_errors() {
    peers::within(Duration::from_secs(120), read_damaged_files);
}

/// Reads truncated files and files with a duplicate page. The test `damaged` reads files with other damage.
fn read_damaged_files() {
    let (dir, path) = made(2000);
    let sound = std::fs::read(&path).unwrap();
    let mut variants: Vec<(String, Vec<u8>)> = Vec::new();
    for cut in [0, 1, 15, 99, 100, 511, 4095, 4096, 4097, 8192] {
        variants.push((format!("cut at {cut}"), sound[..cut].to_vec()));
    }
    for page in 1..12 {
        let mut bytes = sound.clone();
        let (to, from) = (page * 4096, (page / 2) * 4096);
        if to + 4096 <= bytes.len() {
            bytes.copy_within(from..from + 4096, to);
            variants.push((format!("page {page} twice"), bytes));
        }
    }
    let mut refused = 0;
    let count = variants.len();
    for (name, bytes) in variants {
        let path = dir.path().join("damaged.db");
        std::fs::write(&path, bytes).unwrap();
        let query = Query {
            timeout: Duration::from_secs(2),
            ..Query::new("SELECT * FROM items")
        };
        let streamed = streamed(&sqlite(&path), query).and_then(|stream| {
            let mut part = stream.open(&Share::default())?;
            for _ in 0..100_000 {
                match part.next(&mut Untimed) {
                    Some(row) => drop(row?),
                    None => break,
                }
            }
            Ok(())
        });
        let by_key = by_key(&sqlite(&path), "SELECT * FROM items", "id")
            .and_then(|rows| (0..rows.len().min(3000)).try_for_each(|i| row(&*rows, i).map(drop)));
        for error in [streamed.err(), by_key.err()].into_iter().flatten() {
            let text = error.to_string();
            assert!(
                text.contains("damaged.db") && text.len() < 500,
                "{name}: {text}"
            );
            refused += 1;
        }
    }
    assert!(count >= 20 && refused >= 20, "{refused} of {count}");
}
