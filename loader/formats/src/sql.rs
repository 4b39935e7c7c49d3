//! Rows of a query to an SQLite file or a PostgreSQL server, by key or through a cursor.
//!
//! A sample is a `dict` of the query's columns, as `sqlite3.Row` and psycopg's `dict_row` have it: whole numbers, numbers, texts, bytes
//! and `None`. With a column of keys ([`Query::index`]) the rows are asked for by key, each worker over its own connection; without,
//! each worker runs the query and yields every `workers`-th row, as an `IterableDataset` does that shards by worker.
//!
//! Every connection is made in the thread that uses it, reads only, and gives up after [`Query::timeout`].

mod address;
mod columns;
mod kept;
mod keys;
mod postgresql;
mod query;
mod sqlite;

use std::path::PathBuf;

use loadscope_words::say;

use crate::error::{Fault, FormatError, Place};
use crate::rows::Rows;
use crate::stream::StreamSource;

pub use address::{Address, Password, keep_password};
pub use query::Query;

/// Where a database is.
#[derive(Clone, Debug)]
pub enum Source {
    /// An SQLite file.
    Sqlite(PathBuf),
    /// A PostgreSQL server.
    Postgresql(Address),
}

impl Source {
    /// Reads `sqlite:FILE` or `postgresql://user:password@host:port/db`.
    ///
    /// # Errors
    /// If it is neither; without the password.
    pub fn parse(text: &str) -> Result<Self, FormatError> {
        match text.split_once(':') {
            Some(("sqlite", path)) if !path.is_empty() => Ok(Self::Sqlite(path.into())),
            Some(("postgresql" | "postgres", _)) => Ok(Self::Postgresql(Address::parse(text)?)),
            _ => {
                let kind = text.split(':').next().unwrap_or_default();
                let shown: String = kind.chars().take(40).collect();
                Err(FormatError::new(
                    Fault::Asked,
                    Place::named(say!("the URL of the database")),
                    say!("'{}' is not a supported database", shown.escape_debug()),
                    say!("Write sqlite:FILE or postgresql://user@host:port/database"),
                ))
            }
        }
    }
}

/// A query that is open.
pub enum Opened {
    /// By key.
    Rows(Box<dyn Rows>),
    /// Through a cursor.
    Stream(Box<dyn StreamSource>),
}

/// Opens a query: looks at the database once, so that what is wrong is known at once.
///
/// # Errors
/// If the database is missing, locked or away, if the query is wrong, or if one of the named columns is not in it.
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
