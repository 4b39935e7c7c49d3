//! Rows of a query to an SQLite file or a PostgreSQL server, by key or through a cursor.
//!
//! A sample is a `dict` of the query's columns, as in `sqlite3.Row` and psycopg's `dict_row`: integers, floats, texts, bytes and `None`.
//! With a key column ([`Query::index`]), each worker fetches rows by key over its own connection. Without one, each worker runs the query
//! and returns every `workers`-th row, like an `IterableDataset` with a shard per worker.
//!
//! Every connection is opened in the thread that uses it, is read-only, and has the timeout [`Query::timeout`].

mod address;
mod columns;
mod keys;
mod postgresql;
mod query;
mod sqlite;
mod thread_cache;

use std::path::PathBuf;

use loadscope_words::say;

use crate::error::{FormatError, Place};
use crate::stream::Opened;

pub use address::{Address, Password, store_password};
pub use query::Query;

/// Address of a database.
#[derive(Clone, Debug)]
pub enum Source {
    /// Path of an SQLite file.
    Sqlite(PathBuf),
    /// Address of a PostgreSQL server.
    Postgresql(Address),
}

impl Source {
    /// Parses `sqlite:FILE` or `postgresql://user:password@host:port/db`.
    ///
    /// # Errors
    /// If the text is neither. The error does not contain the password.
    pub fn parse(text: &str) -> Result<Self, FormatError> {
        match text.split_once(':') {
            Some(("sqlite", path)) if !path.is_empty() => Ok(Self::Sqlite(path.into())),
            Some(("postgresql" | "postgres", _)) => Ok(Self::Postgresql(Address::parse(text)?)),
            _ => {
                let kind = text.split(':').next().unwrap_or_default();
                let shown: String = kind.chars().take(40).collect();
                bail!(InvalidOption, Place::named(say!("the URL of the database")),
                    say!("'{}' is not a supported database", shown.escape_debug());
                    say!("Write sqlite:FILE or postgresql://user@host:port/database"))
            }
        }
    }
}

/// Opens a query, and accesses the database immediately to detect errors.
///
/// # Errors
/// If the database is missing, locked or unreachable, if the query is invalid, or if it lacks a column in the options.
pub fn open(source: &Source, query: &Query) -> Result<Opened, FormatError> {
    Ok(match (source, query.index.is_some()) {
        (Source::Sqlite(path), true) => {
            Opened::Rows(Box::new(sqlite::KeyedRows::open(path, query)?))
        }
        (Source::Sqlite(path), false) => {
            Opened::Stream(Box::new(sqlite::QueryStream::open(path, query)?))
        }
        (Source::Postgresql(address), true) => {
            Opened::Rows(Box::new(postgresql::KeyedRows::open(address, query)?))
        }
        (Source::Postgresql(address), false) => {
            Opened::Stream(Box::new(postgresql::QueryStream::open(address, query)?))
        }
    })
}
