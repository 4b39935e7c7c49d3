//! Malicious SQLite files. No code in them runs, and reading ends in time.
#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]

use crate::support;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use support::try_open;

/// Size of a page, bytes.
const PAGE: usize = 512;

/// Creates a file with these SQL commands.
fn made(folder: &Path, name: &str, commands: &str) -> PathBuf {
    let path = folder.join(name);
    let file = Connection::open(&path).expect("a new file");
    let small = format!("PRAGMA page_size = {PAGE}; VACUUM; {commands}");
    file.execute_batch(&small).expect("SQL");
    path
}

const TASKS: &str = "CREATE TABLE task_stats (timestamp, name, num_tasks, num_failures, ave_time); \
                     INSERT INTO task_stats VALUES (1.0, 'decode', 4, 0, 0.1), (2.0, 'decode', 5, 0, 0.1);";

/// Returns the error message, and the time until the error.
fn timed_error(path: &Path) -> (String, Duration) {
    let start = Instant::now();
    let result = try_open(path).map(|_| ());
    let error = result.expect_err("nothing that can be opened");
    (error.to_string(), start.elapsed())
}

/// Returns an interior page of a table with `count` cells for the page `child`, and one more pointer to it.
fn inner(child: u32, count: usize) -> Vec<u8> {
    let mut page = vec![0; PAGE];
    // A cell is a page number and a key of one byte.
    let content = PAGE - 5 * count;
    page[0] = 5;
    page[3..5].copy_from_slice(&(count as u16).to_be_bytes());
    page[5..7].copy_from_slice(&(content as u16).to_be_bytes());
    page[8..12].copy_from_slice(&child.to_be_bytes());
    for k in 0..count {
        let at = content + 5 * k;
        page[12 + 2 * k..14 + 2 * k].copy_from_slice(&(at as u16).to_be_bytes());
        page[at..at + 4].copy_from_slice(&child.to_be_bytes());
        page[at + 4] = k as u8;
    }
    page
}

/// Replaces the table at page `root` by a tree in which each page refers 51 times to the same child. The table has at least 51^12 rows.
fn without_end(path: &Path, root: u32) {
    let mut bytes = std::fs::read(path).expect("just written");
    let count = (bytes.len() / PAGE) as u32;
    let at = |page: u32| (page as usize - 1) * PAGE;
    let leaf = bytes[at(root)..at(root) + PAGE].to_vec();
    assert_eq!(leaf[0], 13, "a table that fits into a page");
    bytes.extend(leaf);
    let mut last = count + 1;
    for _ in 0..11 {
        bytes.extend(inner(last, 50));
        last += 1;
    }
    let top = inner(last, 50);
    bytes[at(root)..at(root) + PAGE].copy_from_slice(&top);
    let pages = (bytes.len() / PAGE) as u32;
    bytes[28..32].copy_from_slice(&pages.to_be_bytes());
    std::fs::write(path, bytes).expect("there is room");
}

fn root_of(path: &Path, table: &str) -> u32 {
    let file = Connection::open(path).expect("there");
    let query = "SELECT rootpage FROM sqlite_master WHERE name = ?";
    file.query_row(query, [table], |row| row.get(0))
        .expect("a table")
}

#[test]
fn cyclic_tables_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let events = "CREATE TABLE event_stats (timestamp, event_name); INSERT INTO event_stats VALUES (1.5, 'x');";
    for table in ["task_stats", "event_stats"] {
        let path = made(folder.path(), table, &format!("{TASKS} {events}"));
        assert!(try_open(&path).is_ok());
        without_end(&path, root_of(&path, table));
        let (text, took) = timed_error(&path);
        assert!(text.contains("are endless"), "{text}");
        assert!(took < Duration::from_secs(10), "{took:?}");
    }
}

#[test]
fn views_and_virtual_tables_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 1099511627776) \
                   SELECT x AS timestamp, 'n' AS name, 1 AS num_tasks, 0 AS num_failures, 1 AS ave_time FROM n";
    for (name, commands) in [
        ("view", format!("CREATE VIEW task_stats AS {endless};")),
        (
            "virtual",
            "CREATE VIRTUAL TABLE task_stats USING fts5(timestamp, name, num_tasks, num_failures, ave_time);".to_owned(),
        ),
        // The schema text in a file may be forged.
        (
            "disguised",
            "CREATE VIRTUAL TABLE task_stats USING fts5(timestamp, name); PRAGMA writable_schema = ON; \
             UPDATE sqlite_master SET sql = 'CREATE/**/VIRTUAL TABLE task_stats USING fts5(timestamp, name)' WHERE name = 'task_stats';"
                .to_owned(),
        ),
    ] {
        let path = made(folder.path(), name, &commands);
        let (text, took) = timed_error(&path);
        assert!(text.contains("the tables task_stats"), "{name}: {text}");
        assert!(took < Duration::from_secs(10), "{name}: {took:?}");
    }
}

#[test]
fn generated_columns_are_limited_and_triggers_do_not_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let generated = |expression: &str| {
        format!(
            "CREATE TABLE task_stats (timestamp, name AS ({expression}), num_tasks, num_failures, ave_time); \
             INSERT INTO task_stats (timestamp, num_tasks) VALUES (1.0, 1), (2.0, 2);"
        )
    };
    // A generated column may allocate memory only up to a limit.
    let path = made(
        folder.path(),
        "bomb",
        &generated("hex(zeroblob(1000000000 / 4))"),
    );
    let (text, took) = timed_error(&path);
    assert!(text.contains("too big"), "{text}");
    assert!(took < Duration::from_secs(10), "{took:?}");
    // Nothing is written, so triggers do not run and the file stays unchanged.
    let trigger = "CREATE TRIGGER t AFTER INSERT ON task_stats BEGIN DELETE FROM task_stats; END;";
    let path = made(folder.path(), "trigger", &format!("{TASKS} {trigger}"));
    let before = std::fs::read(&path).expect("there");
    assert!(try_open(&path).is_ok());
    assert_eq!(std::fs::read(&path).expect("there"), before);
    let files = std::fs::read_dir(folder.path()).expect("there");
    assert_eq!(files.count(), 2, "no journal is left behind");
}

#[test]
fn extensions_are_not_loaded() {
    let folder = tempfile::tempdir().expect("a folder");
    let commands = "CREATE TABLE task_stats (timestamp, name, num_tasks, num_failures, ave_time AS (load_extension('x')));";
    let path = folder.path().join("extension");
    let file = Connection::open(&path).expect("a new file");
    // SQLite may refuse the generated column when the table is created.
    if file.execute_batch(commands).is_ok() {
        let _ = file.execute_batch("INSERT INTO task_stats (timestamp) VALUES (1.0);");
    } else {
        let plain = "CREATE TABLE task_stats (timestamp, name, num_tasks, num_failures, ave_time); PRAGMA writable_schema = ON; \
                     UPDATE sqlite_master SET sql = 'CREATE TABLE task_stats (timestamp, name, num_tasks, num_failures, ave_time AS (load_extension(''x'')))';";
        file.execute_batch(plain).expect("SQL");
    }
    drop(file);
    let (text, _) = timed_error(&path);
    assert!(
        text.contains("load_extension") || text.contains("empty") || text.contains("malformed"),
        "{text}"
    );
}
