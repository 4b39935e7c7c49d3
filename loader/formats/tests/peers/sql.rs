//! Queries for the tests of both databases.

use std::path::{Path, PathBuf};
use std::time::Duration;

use loadscope_formats::Opened;
use loadscope_formats::sql::{Query, Source, open};
use loadscope_formats::{Cell, FormatError, Rows, Share, StreamSource, Untimed};
use rusqlite::Connection;
use serde_json::Value;
use tempfile::TempDir;

pub fn sqlite(path: &Path) -> String {
    format!("sqlite:{}", path.display())
}

pub fn keyed(source: &str, query: Query) -> Result<Box<dyn Rows>, FormatError> {
    match open(&Source::parse(source)?, &query)? {
        Opened::Rows(rows) => Ok(rows),
        Opened::Stream(_) => panic!("it has an index"),
    }
}

pub fn by_key(source: &str, text: &str, index: &str) -> Result<Box<dyn Rows>, FormatError> {
    let index = Some(index.to_owned());
    keyed(
        source,
        Query {
            index,
            ..Query::new(text)
        },
    )
}

pub fn streamed(source: &str, query: Query) -> Result<Box<dyn StreamSource>, FormatError> {
    match open(&Source::parse(source)?, &query)? {
        Opened::Stream(stream) => Ok(stream),
        Opened::Rows(_) => panic!("it has no index"),
    }
}

pub fn all(stream: &dyn StreamSource, share: Share) -> Result<Vec<Cell>, FormatError> {
    let mut part = stream.open(&share)?;
    std::iter::from_fn(|| part.next(&mut Untimed)).collect()
}

pub fn row(rows: &dyn Rows, index: usize) -> Result<Cell, FormatError> {
    rows.row(index, &mut Untimed)
}

/// Compares the streamed rows of a query with those of Python.
pub fn compare(source: &str, query: &str, expected: &[Value]) {
    let stream = streamed(source, Query::new(query)).unwrap();
    let cells = all(&*stream, Share::default()).unwrap();
    let got: Vec<_> = cells.iter().map(super::shown).collect();
    assert_eq!(got.len(), expected.len());
    for (got, expected) in got.iter().zip(expected) {
        assert_eq!(got, expected, "streamed: {query}");
    }
}

/// Compares the rows of a query by key with those of Python: one by one, as a column, and together.
pub fn compare_by_key(source: &str, query: &str, index: &str, expected: &[Value]) {
    let rows = by_key(source, query, index).unwrap();
    let cells: Vec<Cell> = (0..rows.len()).map(|i| row(&*rows, i).unwrap()).collect();
    let got: Vec<_> = cells.iter().map(super::shown).collect();
    assert!(got == expected, "by key: {query}");
    let values = rows.column(index).unwrap().unwrap();
    assert_eq!(values.len(), cells.len());
    for (cell, value) in cells.iter().zip(&values) {
        assert_eq!(field(cell, index), value);
    }
    let backwards: Vec<usize> = (0..rows.len()).rev().collect();
    let together = rows.rows(&backwards, &mut Untimed).unwrap().unwrap();
    let got: Vec<_> = together.iter().rev().map(super::shown).collect();
    assert!(got == expected, "by keys: {query}");
}

/// Returns a field of a `dict`.
pub fn field<'a>(cell: &'a Cell, name: &str) -> &'a Cell {
    match cell {
        Cell::Map(fields) => &fields.iter().find(|(key, _)| &**key == name).unwrap().1,
        other => panic!("{other:?}"),
    }
}

/// Creates a query with a short timeout.
pub fn short(text: &str) -> Query {
    let timeout = Duration::from_millis(1500);
    Query {
        timeout,
        ..Query::new(text)
    }
}

/// Creates a table of `rows` rows: id, name, class, image.
pub fn made(rows: i64) -> (TempDir, PathBuf) {
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
