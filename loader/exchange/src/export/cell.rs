//! Columns and values of a table, and errors of writing it.

use std::io;
use std::path::Path;

use loadscope_trace::{Nanos, WorkerId};

use crate::ExportError;

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Int,
    Unsigned,
    Float,
    Bool,
    Text,
}

/// Column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub name: String,
    pub kind: Kind,
}

impl Column {
    /// Creates columns from constant names.
    pub fn all(columns: &[(&str, Kind)]) -> Vec<Self> {
        let column = |(name, kind): &(&str, Kind)| Self {
            name: (*name).to_owned(),
            kind: *kind,
        };
        columns.iter().map(column).collect()
    }
}

/// Value of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell<'a> {
    None,
    Int(i64),
    Unsigned(u64),
    Float(f64),
    Bool(bool),
    Text(&'a str),
}

impl From<Option<Nanos>> for Cell<'_> {
    fn from(time: Option<Nanos>) -> Self {
        time.map_or(Self::None, |t| Self::Int(t.0))
    }
}

impl<'a> Cell<'a> {
    /// Returns a text, or an empty value if it is unknown.
    pub fn text(text: &'a str) -> Self {
        match text {
            "" => Self::None,
            text => Self::Text(text),
        }
    }

    /// Returns the number of the worker that fetched a batch, or an empty value for the main process.
    pub fn worker(worker: Option<WorkerId>) -> Self {
        worker.map_or(Self::None, |w| Self::Int(i64::from(w)))
    }

    /// Returns a number, or an empty value if it is unknown or too large for the column.
    pub fn count(number: Option<impl TryInto<i64>>) -> Self {
        let number = number.and_then(|n| n.try_into().ok());
        number.map_or(Self::None, Self::Int)
    }
}

/// Error of writing a table or a trace, without the path.
pub(super) enum Failure {
    Io(io::Error),
    Other(String),
    Cancelled,
}

impl Failure {
    pub fn at(self, path: &Path) -> ExportError {
        let path = path.to_owned();
        match self {
            Self::Io(cause) => ExportError::Write { path, cause },
            Self::Other(why) => ExportError::Table { path, why },
            Self::Cancelled => ExportError::Cancelled,
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
