//! SQLite files against Python's `sqlite3`, and everything that can be wrong with them.
#![cfg(feature = "sql")]
#![allow(clippy::disallowed_methods, reason = "files of tests")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use loadscope_formats::sql::{Opened, Query, Source, open};
use loadscope_formats::{Cell, Fault, FormatError, Rows, Share, StreamSource, Untimed};
use rusqlite::Connection;
use tempfile::TempDir;

mod peers;

fn source(path: &Path) -> Source {
    Source::parse(&format!("sqlite:{}", path.display())).unwrap()
}

fn keyed(path: &Path, query: &str, index: &str) -> Result<Box<dyn Rows>, FormatError> {
    let query = Query {
        index: Some(index.to_owned()),
        ..Query::new(query)
    };
    match open(&source(path), &query)? {
        Opened::Rows(rows) => Ok(rows),
        Opened::Stream(_) => panic!("it has an index"),
    }
}

fn streamed(path: &Path, query: Query) -> Result<Box<dyn StreamSource>, FormatError> {
    match open(&source(path), &query)? {
        Opened::Stream(stream) => Ok(stream),
        Opened::Rows(_) => panic!("it has no index"),
    }
}

fn all(stream: &dyn StreamSource, share: Share) -> Result<Vec<Cell>, FormatError> {
    let mut part = stream.open(&share)?;
    std::iter::from_fn(|| part.next(&mut Untimed)).collect()
}

fn row(rows: &dyn Rows, index: usize) -> Result<Cell, FormatError> {
    rows.row(index, &mut Untimed)
}

fn field<'a>(cell: &'a Cell, name: &str) -> &'a Cell {
    match cell {
        Cell::Map(fields) => &fields.iter().find(|(key, _)| &**key == name).unwrap().1,
        other => panic!("{other:?}"),
    }
}

/// A table of `rows` rows: id, name, class, picture.
fn made(rows: i64) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("shop.db");
    let db = Connection::open(&path).unwrap();
    db.execute_batch(&format!(
        "CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, class TEXT, picture BLOB);
         WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {rows})
         INSERT INTO items SELECT i * 2, 'item ' || i, 'class ' || (9 - i % 3), zeroblob(i % 50) FROM n;"
    ))
    .unwrap();
    (dir, path)
}

#[test]
fn rows_are_those_of_python() {
    let Some(python) = peers::python(&["sqlite3"]) else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a, b's.db");
    let file = path.to_str().unwrap();
    peers::run(&python, "sqlite_rows.py", &["make", file]);
    for (query, index) in [
        ("SELECT * FROM items", "id"),
        (
            "SELECT id, note, price FROM items WHERE stock IS NOT NULL ORDER BY name DESC, id",
            "id",
        ),
        (
            "SELECT word, count * 2 AS twice FROM words -- in the order of the table",
            "word",
        ),
        (
            "WITH w AS (SELECT * FROM words) SELECT * FROM w ORDER BY count",
            "word",
        ),
    ] {
        let expected = peers::run(&python, "sqlite_rows.py", &["rows", file, query]);
        assert!(expected.len() >= 500);
        let stream = streamed(&path, Query::new(query)).unwrap();
        let cells = all(&*stream, Share::default()).unwrap();
        let got: Vec<_> = cells.iter().map(peers::shown).collect();
        assert!(got == expected, "streamed: {query}");
        // A comment at the end would swallow the bracket in Python's query by key.
        let query = query.split(" --").next().unwrap();
        let expected = peers::run(&python, "sqlite_rows.py", &["rows", file, query, index]);
        let rows = keyed(&path, query, index).unwrap();
        let got: Vec<_> = (0..rows.len())
            .map(|i| peers::shown(&row(&*rows, i).unwrap()))
            .collect();
        assert!(got == expected, "by key: {query}");
    }
}

#[test]
fn workers_share_a_stream_and_threads_do_not_share_connections() {
    let (_dir, path) = made(1000);
    let stream = streamed(&path, Query::new("SELECT id FROM items")).unwrap();
    let whole = all(&*stream, Share::default()).unwrap();
    assert_eq!(whole.len(), 1000);
    let stream = &*stream;
    let share = |worker, rank| Share {
        worker,
        workers: 3,
        rank,
        world_size: 2,
        seed: 1,
    };
    let parts: Vec<Vec<Cell>> = std::thread::scope(|scope| {
        let parts = (0..6).map(|p| scope.spawn(move || all(stream, share(p % 3, p / 3)).unwrap()));
        let parts: Vec<_> = parts.collect();
        parts.into_iter().map(|p| p.join().unwrap()).collect()
    });
    for (p, part) in parts.iter().enumerate() {
        let expected: Vec<_> = whole.iter().skip(p).step_by(6).cloned().collect();
        assert_eq!(*part, expected);
    }
    let rows = keyed(&path, "SELECT * FROM items", "id").unwrap();
    let rows = &*rows;
    std::thread::scope(|scope| {
        for t in 0..4 {
            scope.spawn(move || {
                for i in (t..1000).step_by(4) {
                    assert_eq!(
                        *field(&row(rows, i).unwrap(), "id"),
                        Cell::Int(2 * i as i64)
                    );
                }
            });
        }
    });
}

#[test]
fn a_stream_that_is_left_lets_the_file_go() {
    let (_dir, path) = made(1000);
    let stream = streamed(&path, Query::new("SELECT id FROM items")).unwrap();
    let mut part = stream.open(&Share::default()).unwrap();
    assert!(part.next(&mut Untimed).unwrap().is_ok());
    let db = Connection::open(&path).unwrap();
    db.busy_timeout(Duration::ZERO).unwrap();
    assert!(
        db.execute_batch("BEGIN EXCLUSIVE; COMMIT").is_err(),
        "a cursor holds a lock"
    );
    drop(part);
    db.execute_batch("BEGIN EXCLUSIVE; COMMIT").unwrap();
}

#[test]
fn columns_become_what_the_options_say() {
    let (_dir, path) = made(9);
    let query = Query {
        index: Some("id".into()),
        image: Some("picture".into()),
        label: Some("class".into()),
        text_column: Some("id".into()),
        ..Query::new("SELECT * FROM items;")
    };
    let Opened::Rows(rows) = open(&source(&path), &query).unwrap() else {
        panic!()
    };
    assert_eq!(rows.classes(), ["class 7", "class 8", "class 9"]);
    assert_eq!(rows.labels().unwrap(), [2, 1, 0, 2, 1, 0, 2, 1, 0]);
    let cell = row(&*rows, 4).unwrap();
    assert_eq!(*field(&cell, "class"), Cell::Int(1));
    assert_eq!(*field(&cell, "id"), Cell::from("8"));
    match field(&cell, "picture") {
        Cell::Picture(picture) => {
            assert_eq!(picture.bytes.len(), 4);
            assert!(picture.origin.contains("column picture of row 4"));
        }
        other => panic!("{other:?}"),
    }
}

fn fault(error: &FormatError, fault: Fault, says: &[&str]) {
    let text = error.to_string();
    assert_eq!(error.fault, fault, "{text}");
    for part in says {
        assert!(text.contains(part), "{text:?} does not say {part:?}");
    }
}

#[test]
fn what_is_asked_wrongly_is_a_sentence() {
    let (_dir, path) = made(9);
    let by_key = |query: &str, index: &str| keyed(&path, query, index).err().unwrap();
    let stream = |query: Query| streamed(&path, query).err().unwrap();
    fault(
        &by_key("SELECT * FROM item", "id"),
        Fault::Asked,
        &["no such table: item", "shop.db"],
    );
    fault(
        &by_key("SELECT * FROM items", "key"),
        Fault::NoSuchKey,
        &["'key'", "id, name, class", "index="],
    );
    fault(
        &by_key("SELECT * FROM items WHERE id < 0", "id"),
        Fault::Damaged,
        &["no rows"],
    );
    fault(
        &by_key("SELECT * FROM items", "class"),
        Fault::Asked,
        &["two rows have the key \"class 7\""],
    );
    fault(
        &by_key("SELECT nullif(id, 4) AS k FROM items", "k"),
        Fault::WrongType,
        &["a key is a null", "row 2"],
    );
    fault(
        &by_key("SELECT picture FROM items", "picture"),
        Fault::WrongType,
        &["whole numbers, or texts"],
    );
    fault(
        &stream(Query::new("SELEC 1")),
        Fault::Asked,
        &["syntax error"],
    );
    fault(&stream(Query::new("")), Fault::Asked, &[]);
    fault(
        &stream(Query::new("SELECT 1; SELECT 2")),
        Fault::Asked,
        &["query"],
    );
    fault(
        &stream(Query::new("DELETE FROM items RETURNING id")),
        Fault::Asked,
        &["writes"],
    );
    fault(
        &stream(Query::new("SELECT id, id FROM items")),
        Fault::Asked,
        &["two columns", "'id'"],
    );
    let label = Query {
        label: Some("clas".into()),
        ..Query::new("SELECT * FROM items")
    };
    fault(&stream(label), Fault::NoSuchKey, &["'clas'", "label="]);
    let image = Query {
        image: Some("name".into()),
        ..Query::new("SELECT * FROM items")
    };
    let error = all(&*streamed(&path, image).unwrap(), Share::default())
        .err()
        .unwrap();
    fault(&error, Fault::WrongType, &["row 0", "'name'", "blob"]);
    let missing = keyed(&path.with_file_name("no.db"), "SELECT 1", "id")
        .err()
        .unwrap();
    fault(&missing, Fault::Missing, &["no.db", "no such file"]);
    fault(
        &keyed(path.parent().unwrap(), "SELECT 1", "id")
            .err()
            .unwrap(),
        Fault::Unreadable,
        &["folder"],
    );
    let kind = Source::parse("mysql://ann:hunter2@db/shop").err().unwrap();
    fault(&kind, Fault::Asked, &["mysql", "sqlite:FILE"]);
    assert!(!kind.to_string().contains("hunter2"));
    let rows = keyed(&path, "SELECT * FROM items", "id").unwrap();
    fault(
        &row(&*rows, 9).err().unwrap(),
        Fault::OutOfRange,
        &["row 9", "9 rows"],
    );
}

#[test]
fn a_bad_row_is_named_and_the_next_one_comes() {
    let (_dir, path) = made(4);
    let db = Connection::open(&path).unwrap();
    db.execute_batch("UPDATE items SET name = CAST(x'ff00fe' AS TEXT) WHERE id = 2; DELETE FROM items WHERE id = 6").unwrap();
    let stream = streamed(&path, Query::new("SELECT * FROM items")).unwrap();
    let mut part = stream.open(&Share::default()).unwrap();
    let answers: Vec<_> = std::iter::from_fn(|| part.next(&mut Untimed)).collect();
    assert_eq!(answers.len(), 3);
    fault(
        answers[1].as_ref().err().unwrap(),
        Fault::WrongType,
        &["row 1", "'name'", "UTF-8"],
    );
    assert!(answers[2].is_ok());
    let rows = keyed(&path, "SELECT * FROM items", "id").unwrap();
    fault(
        &row(&*rows, 1).err().unwrap(),
        Fault::WrongType,
        &["row 1", "'name'"],
    );
    assert!(row(&*rows, 2).is_ok());
    db.execute_batch("DELETE FROM items WHERE id = 4").unwrap();
    fault(
        &row(&*rows, 2).err().unwrap(),
        Fault::NoSuchKey,
        &["row 2", "not there any more"],
    );
}

#[test]
fn what_is_locked_or_slow_is_given_up() {
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
    let stream = streamed(&path, short(endless)).unwrap();
    fault(
        &all(&*stream, Share::default()).err().unwrap(),
        Fault::Locked,
        &["not answered for 0.2 s"],
    );
    let db = Connection::open(&path).unwrap();
    db.execute_batch("BEGIN EXCLUSIVE").unwrap();
    fault(
        &streamed(&path, short("SELECT * FROM items")).err().unwrap(),
        Fault::Locked,
        &["lock", "0.2 s"],
    );
    db.execute_batch("COMMIT").unwrap();
    assert!(streamed(&path, short("SELECT * FROM items")).is_ok());
}

#[test]
fn damaged_files_are_sentences() {
    peers::within(Duration::from_secs(120), read_damaged_files);
}

/// Damages that a disk, a copy or a stranger makes.
fn read_damaged_files() {
    let (dir, path) = made(2000);
    let sound = std::fs::read(&path).unwrap();
    let mut variants: Vec<(String, Vec<u8>)> = Vec::new();
    for cut in [
        0,
        1,
        15,
        99,
        100,
        511,
        4095,
        4096,
        4097,
        8192,
        sound.len() / 2,
        sound.len() - 1,
    ] {
        variants.push((format!("cut at {cut}"), sound[..cut].to_vec()));
    }
    let mut random = 12345u64;
    let mut next = |below: usize| {
        random = random
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (random >> 33) as usize % below
    };
    for variant in 0..60 {
        let mut bytes = sound.clone();
        let from = if variant % 2 == 0 { 0 } else { bytes.len() - 1 };
        for _ in 0..=variant {
            let at = if from == 0 {
                next(4096.min(bytes.len()))
            } else {
                next(bytes.len())
            };
            bytes[at] = next(256) as u8;
        }
        variants.push((format!("changed {variant}"), bytes));
    }
    for page in 1..12 {
        let mut bytes = sound.clone();
        let (to, from) = (page * 4096, next(page) * 4096);
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
        let streamed = streamed(&path, query).and_then(|stream| {
            let mut part = stream.open(&Share::default())?;
            for _ in 0..100_000 {
                match part.next(&mut Untimed) {
                    Some(row) => drop(row?),
                    None => break,
                }
            }
            Ok(())
        });
        let by_key = keyed(&path, "SELECT * FROM items", "id")
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
    assert!(count >= 80 && refused >= 60, "{refused} of {count}");
}
