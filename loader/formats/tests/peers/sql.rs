//! Queries for the tests of both databases.

use std::path::{Path, PathBuf};
use std::time::Duration;

use loadscope_formats::sql::{Opened, Query, Source, open};
use loadscope_formats::{Cell, Fault, FormatError, Rows, Share, StreamSource, Untimed};
use rusqlite::Connection;
use tempfile::TempDir;

use super::server::{PASSWORD, QUOTED};

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

/// Checks the kind of an error and words of its text, and that the text contains no password.
pub fn fault(error: &FormatError, fault: Fault, says: &[&str]) {
    let text = error.to_string();
    assert_eq!(error.fault, fault, "{text}");
    for part in says {
        assert!(text.contains(part), "{text:?} does not say {part:?}");
    }
    for secret in [PASSWORD, QUOTED] {
        assert!(!text.contains(secret), "{text}");
        assert!(!format!("{error:?}").contains(secret), "{text}");
    }
}
