//! Statistics of SPDL in an SQLite file, as SPDL's example logger writes them: totals of each task and queue per interval. They contain no
//! batches, so the values become gauges of the pipeline's parts.

use std::path::Path;
use std::time::Duration;

use loadscope_trace::{GaugeKind, brief, count};
use loadscope_words::say;
use rusqlite::{Connection, ErrorCode, OpenFlags, limits::Limit};

use crate::input::Sink;
use crate::{ImportError, Kind, Outcome};

mod emit;

use emit::{Row, emit};

/// Maximum number of rows in memory. Each takes about 512 bytes with its events.
const MOST_ROWS: usize = 1 << 20;
/// Number of rows between two progress reports.
const PROGRESS_INTERVAL: usize = 1 << 14;

/// Maximum number of reported notes.
const MOST_NOTES: usize = 100_000;
/// Number of SQLite instructions between two checks of their count.
const STEPS: u64 = 1 << 12;
/// Number of SQLite instructions that are allowed for a file of any size. SQLite needs far fewer to start.
const LEAST_STEPS: u64 = 1 << 20;
/// Number of additional SQLite instructions per byte of the file. Reading a row takes fewer than ten instructions per byte.
const STEPS_OF_BYTE: u64 = 16;

/// Expression for a time in seconds since 1970, stored as a number or as text.
const SECONDS: &str = "CASE typeof(timestamp) WHEN 'text' \
                       THEN (julianday(timestamp) - 2440587.5) * 86400.0 ELSE timestamp END";

fn broken(error: &rusqlite::Error) -> ImportError {
    let why = match error.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => say!("its tables are endless").to_owned(),
        _ => brief(error.to_string()),
    };
    ImportError::Damaged {
        kind: Kind::Spdl,
        place: "somewhere".to_owned(),
        why,
    }
}

fn open(path: &Path) -> Result<Connection, ImportError> {
    // The file is opened read-only. URI file names are disabled.
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let bytes = std::fs::metadata(path).map_or(0, |m| m.len());
    let most = STEPS_OF_BYTE
        .saturating_mul(bytes)
        .saturating_add(LEAST_STEPS);
    let mut steps = 0u64;
    // A small file can contain an endless table, which repeats the same pages.
    let is_enough = move || {
        steps += STEPS;
        steps > most
    };
    let open = || {
        let mut connection = Connection::open_with_flags(path, flags)?;
        connection.progress_handler(STEPS as i32, Some(is_enough))?;
        connection.busy_timeout(Duration::from_secs(2))?;
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, 1 << 20)?;
        // Expressions defined by the file do not run, and inconsistent cells are detected.
        connection.execute_batch(
            "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA cache_size = -16384;",
        )?;
        rusqlite::Result::Ok(connection)
    };
    open().map_err(|e| broken(&e))
}

/// Returns the existing statistics tables. Views do not count.
fn tables(connection: &Connection) -> Result<Vec<String>, ImportError> {
    // The query asks SQLite for the real type of each table, because the schema text in the file may be forged.
    let query = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' \
                 AND name IN ('task_stats', 'queue_stats', 'event_stats')";
    let names = || {
        let mut statement = connection.prepare(query)?;
        let names = statement.query_map([], |row| row.get::<_, String>(0))?;
        names.collect::<rusqlite::Result<Vec<String>>>()
    };
    let names = names().map_err(|e| broken(&e))?;
    if names.iter().any(|n| n != "event_stats") {
        return Ok(names);
    }
    Err(ImportError::Nothing {
        kind: Kind::Spdl,
        why: say!("contains no SPDL statistics: the tables task_stats and queue_stats are missing")
            .to_owned(),
    })
}

/// Fails unless the file contains statistics tables.
pub(crate) fn check(path: &Path) -> Result<(), ImportError> {
    tables(&open(path)?).map(|_| ())
}

pub(crate) fn read(path: &Path, sink: &mut Sink<'_>) -> Result<Outcome, ImportError> {
    let connection = open(path)?;
    let tables = tables(&connection)?;
    let has = |name: &str| tables.iter().any(|t| t == name);
    let mut rows = Vec::new();
    if has("queue_stats") {
        queues(&connection, &mut rows, sink)?;
    }
    if has("task_stats") {
        tasks(&connection, &mut rows, sink)?;
    }
    let notes = match has("event_stats") {
        true => events(&connection, sink)?,
        false => Vec::new(),
    };
    if !sink.is_open {
        return Ok(Outcome::default());
    }
    if rows.is_empty() {
        return Err(ImportError::Nothing {
            kind: Kind::Spdl,
            why: say!("contains no SPDL statistics yet, because its tables are empty: run the pipeline for at least one interval").to_owned(),
        });
    }
    emit(rows, notes, sink);
    Ok(Outcome::default())
}

/// Runs a query and passes its rows to `each`.
fn each_row(
    connection: &Connection,
    query: &str,
    sink: &mut Sink<'_>,
    mut each: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<()>,
) -> Result<(), ImportError> {
    let failed = |e: rusqlite::Error| broken(&e);
    let mut statement = connection.prepare(query).map_err(failed)?;
    let mut found = statement.query([]).map_err(failed)?;
    let mut count = 0;
    while let Some(row) = found.next().map_err(failed)? {
        each(row).map_err(failed)?;
        count += 1;
        if count > MOST_ROWS {
            return Err(ImportError::TooMuch {
                kind: Kind::Spdl,
                most: MOST_ROWS,
                what: "rows",
                remedy: say!("Log in longer intervals"),
            });
        }
        if count % PROGRESS_INTERVAL == 0 && !sink.report_progress(0) {
            break;
        }
    }
    Ok(())
}

/// Returns a number, or NaN for any other value.
fn number(row: &rusqlite::Row<'_>, column: usize) -> f64 {
    let value = row.get_ref(column).ok();
    let number = value.and_then(|v| v.as_f64().ok().or(v.as_i64().ok().map(|n| n as f64)));
    number.filter(|n| n.is_finite()).unwrap_or(f64::NAN)
}

fn name(row: &rusqlite::Row<'_>, column: usize) -> String {
    let value = row.get_ref(column).ok();
    let bytes = value.and_then(|v| v.as_bytes().ok()).unwrap_or_default();
    let name = String::from_utf8_lossy(bytes);
    name.chars().filter(|c| !c.is_control()).take(200).collect()
}

fn queues(
    connection: &Connection,
    rows: &mut Vec<Row>,
    sink: &mut Sink<'_>,
) -> Result<(), ImportError> {
    let query = format!(
        "SELECT {SECONDS}, name, elapsed, num_items, ave_put_time, ave_get_time, occupancy_rate FROM queue_stats"
    );
    each_row(connection, &query, sink, |row| {
        let (end, elapsed, items) = (number(row, 0), number(row, 2), number(row, 3));
        let waiting = |mean: f64| match items > 0.0 {
            true => mean * items / elapsed,
            false => 0.0,
        };
        // SPDL names a queue after the stage that fills it.
        let mut name = name(row, 1);
        if !name.to_ascii_lowercase().ends_with("queue") {
            name += " queue";
        }
        rows.push(Row {
            start: Some(end - elapsed).filter(|s| *s < end),
            end,
            name,
            values: vec![
                (GaugeKind::Occupancy, number(row, 6)),
                (GaugeKind::Throughput, items / elapsed),
                (GaugeKind::WaitingToPut, waiting(number(row, 4))),
                (GaugeKind::WaitingToGet, waiting(number(row, 5))),
            ],
        });
        Ok(())
    })
}

fn tasks(
    connection: &Connection,
    rows: &mut Vec<Row>,
    sink: &mut Sink<'_>,
) -> Result<(), ImportError> {
    let query =
        format!("SELECT {SECONDS}, name, num_tasks, num_failures, ave_time FROM task_stats");
    each_row(connection, &query, sink, |row| {
        rows.push(Row {
            start: None,
            end: number(row, 0),
            name: name(row, 1),
            values: vec![
                (GaugeKind::Throughput, number(row, 2)),
                (GaugeKind::TaskTime, number(row, 4)),
                (GaugeKind::Failures, number(row, 3)),
            ],
        });
        Ok(())
    })
}

/// Returns the times and names of events.
fn events(connection: &Connection, sink: &mut Sink<'_>) -> Result<Vec<(f64, String)>, ImportError> {
    let query = format!("SELECT {SECONDS}, event_name FROM event_stats");
    let mut events = Vec::new();
    each_row(connection, &query, sink, |row| {
        events.push((number(row, 0), name(row, 1)));
        Ok(())
    })?;
    events.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    if let Some(more) = events
        .len()
        .checked_sub(MOST_NOTES)
        .filter(|more| *more > 0)
    {
        events.truncate(MOST_NOTES);
        let at = events.last().map_or(f64::NAN, |(at, _)| *at);
        events.push((at, format!("{} more", count(more as u64))));
    }
    Ok(events)
}
