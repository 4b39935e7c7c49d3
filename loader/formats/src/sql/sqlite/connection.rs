//! Connection to an SQLite file, and its errors.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use loadscope_files::open_regular;
use loadscope_words::say;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{
    CachedStatement, Connection, Error, ErrorCode, OpenFlags, Row, Statement, Transaction,
};

use crate::cell::Cell;
use crate::error::{Fault, FormatError, Place};
use crate::sql::columns::Raw;
use crate::sql::query::Query;

/// SQLite instructions between two timeout checks.
const STEPS: i32 = 1 << 14;
/// Maximum size of a value, bytes.
const MOST_BYTES: i32 = 1 << 30;
/// Size of a connection's page cache. SQLite expects KiB as a negative number.
const CACHE: i32 = -65_536;

/// A read-only connection with a timeout.
pub(super) struct Database {
    connection: Connection,
    query_timeout: QueryTimeout,
}

impl Database {
    pub(super) fn open(path: &Path, query: &Query) -> Result<Self, FormatError> {
        // SQLite's own error does not name the actual file type.
        open_regular(path).map_err(|e| FormatError::reading(path, &e))?;
        let query_timeout = QueryTimeout::new(path, query.timeout);
        let late = {
            let query_timeout = query_timeout.clone();
            move || query_timeout.has_expired()
        };
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connect = || {
            let mut connection = Connection::open_with_flags(path, flags)?;
            connection.busy_timeout(query.timeout)?;
            connection.progress_handler(STEPS, Some(late))?;
            connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MOST_BYTES)?;
            connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
            // Functions in the schema are not trusted, and damaged cells are detected.
            connection.execute_batch(&format!(
                "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA cache_size = {CACHE};"
            ))?;
            rusqlite::Result::Ok(connection)
        };
        Ok(Self {
            connection: connect().map_err(|e| query_timeout.error(&e))?,
            query_timeout,
        })
    }

    pub(super) fn query_timeout(&self) -> &QueryTimeout {
        &self.query_timeout
    }

    /// Prepares a read-only statement with columns, and caches it.
    pub(super) fn prepare(&self, text: &str) -> Result<CachedStatement<'_>, FormatError> {
        self.query_timeout.restart();
        let statement = self.connection.prepare_cached(text);
        let statement = statement.map_err(|e| self.query_timeout.error(&e))?;
        self.check(&statement)?;
        Ok(statement)
    }

    /// Works like [`prepare`](Self::prepare), but without the cache.
    pub(super) fn prepare_once(&self, text: &str) -> Result<Statement<'_>, FormatError> {
        self.query_timeout.restart();
        let statement = self.connection.prepare(text);
        let statement = statement.map_err(|e| self.query_timeout.error(&e))?;
        self.check(&statement)?;
        Ok(statement)
    }

    /// Starts a transaction. The rows stay unchanged until it is dropped, and the file is locked only once.
    pub(super) fn transaction(&self) -> Result<Transaction<'_>, FormatError> {
        self.query_timeout.restart();
        let transaction = self.connection.unchecked_transaction();
        transaction.map_err(|e| self.query_timeout.error(&e))
    }

    fn check(&self, statement: &Statement<'_>) -> Result<(), FormatError> {
        if statement.column_count() > 0 && statement.readonly() {
            return Ok(());
        }
        bail!(InvalidOption, self.query_timeout.place(), say!("the query returns no rows, or it writes");
            say!("Write a SELECT for query="))
    }

    /// Returns the column names of the query.
    pub(super) fn columns(&self, query: &Query) -> Result<Vec<String>, FormatError> {
        let statement = self.prepare_once(query.bare())?;
        let names = statement.column_names();
        Ok(names.into_iter().map(str::to_owned).collect())
    }
}

/// Returns a value of a row. Text that is not UTF-8 is an error, as in Python.
pub(super) fn raw<'r>(row: &'r Row<'_>, column: usize) -> Result<Raw<'r>, String> {
    Ok(match row.get_ref(column).map_err(|e| e.to_string())? {
        ValueRef::Null => Raw::Cell(Cell::Null),
        ValueRef::Integer(number) => Raw::Int(number),
        ValueRef::Real(number) => Raw::Float(number),
        ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Raw::Text(text),
            Err(_) => return Err(say!("this text is not in UTF-8").to_owned()),
        },
        ValueRef::Blob(bytes) => Raw::Bytes(bytes),
    })
}

/// Timeout of a connection's answers, and the name for its errors.
#[derive(Clone)]
pub(super) struct QueryTimeout {
    shown: Arc<str>,
    timeout: Duration,
    opened: Instant,
    /// Deadline of the current answer, milliseconds after `opened`.
    until: Arc<AtomicU64>,
}

impl QueryTimeout {
    fn new(path: &Path, timeout: Duration) -> Self {
        Self {
            shown: path.display().to_string().into(),
            timeout,
            opened: Instant::now(),
            until: Arc::new(AtomicU64::new(u64::MAX)),
        }
    }

    /// Starts the timeout of the next answer.
    pub(super) fn restart(&self) {
        let until = self.opened.elapsed().saturating_add(self.timeout);
        self.until
            .store(until.as_millis() as u64, Ordering::Relaxed);
    }

    fn has_expired(&self) -> bool {
        self.opened.elapsed().as_millis() as u64 > self.until.load(Ordering::Relaxed)
    }

    /// Returns the name of the file.
    pub(super) fn shown(&self) -> Arc<str> {
        Arc::clone(&self.shown)
    }

    pub(super) fn place(&self) -> Place {
        Place::named(&*self.shown)
    }

    /// Converts an SQLite error.
    pub(super) fn error(&self, error: &Error) -> FormatError {
        let place = self.place();
        let seconds = self.timeout.as_secs_f64();
        let new =
            |fault, reason: String, remedy: &str| FormatError::new(fault, place, reason, remedy);
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => new(
                Fault::Locked,
                say!("another program has kept it locked for {seconds} s"),
                say!("End that program, or set a longer timeout"),
            ),
            Some(ErrorCode::OperationInterrupted) => new(
                Fault::Locked,
                say!("the query has not answered for {seconds} s"),
                say!("Create an index for the key column, or set a longer timeout"),
            ),
            Some(ErrorCode::NotADatabase) => new(
                Fault::Damaged,
                say!("it is not an SQLite file, or it is encrypted").to_owned(),
                say!("Choose another file"),
            ),
            Some(ErrorCode::DatabaseCorrupt) => new(
                Fault::Damaged,
                say!("it is damaged ({error})"),
                say!("Copy it again, or restore it with sqlite3's .recover"),
            ),
            Some(ErrorCode::TooBig | ErrorCode::OutOfMemory) => new(
                Fault::TooLarge,
                say!("a value exceeds the size limit ({error})"),
                say!("Remove the column from the query"),
            ),
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => new(
                Fault::Unreadable,
                say!("it cannot be opened ({error})"),
                say!("Check the permissions of the file, FILE-wal and FILE-journal"),
            ),
            Some(ErrorCode::Unknown) => new(
                Fault::InvalidOption,
                say!("the query is wrong: {error}"),
                say!("Correct the SELECT in query="),
            ),
            None => new(
                Fault::InvalidOption,
                say!("the query cannot be run: {error}"),
                say!("Set query= to one SELECT"),
            ),
            _ => new(
                Fault::Unreadable,
                say!("SQLite failed: {error}"),
                say!("Check the query and the file"),
            ),
        }
    }
}
