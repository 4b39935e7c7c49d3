//! Rows of an SQLite file by key.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use loadscope_words::say;
use rusqlite::types::{ToSqlOutput, ValueRef};

use super::connection::{Database, raw};
use crate::cell::Cell;
use crate::error::{FormatError, Place};
use crate::rows::Rows;
use crate::sql::columns::Columns;
use crate::sql::keys::{Key, Keys, KeysBuilder, LoadedKeys};
use crate::sql::query::{Query, quoted};
use crate::sql::thread_cache::ThreadCache;
use crate::stages::{Stages, Untimed};

/// Rows of a query, whose keys are read once. Each thread has its own connection.
pub(in crate::sql) struct KeyedRows {
    path: PathBuf,
    query: Query,
    /// Query for one row.
    by_key: String,
    columns: Columns,
    keys: Keys,
    labels: Option<Vec<u32>>,
    classes: Vec<String>,
    shown: Arc<str>,
    connections: ThreadCache,
}

impl KeyedRows {
    pub(in crate::sql) fn open(path: &Path, query: &Query) -> Result<Self, FormatError> {
        let database = Database::open(path, query)?;
        let names = database.columns(query)?;
        let columns = Columns::new(&names, query, database.query_timeout().shown())?;
        let index = query.index.as_deref().unwrap_or_default();
        let LoadedKeys {
            keys,
            labels,
            classes,
        } = read_keys(&database, query, index)?;
        Ok(Self {
            path: path.to_owned(),
            query: query.clone(),
            by_key: format!(
                "SELECT * FROM {} WHERE {} = ?1",
                query.as_table(),
                quoted(index)
            ),
            columns: columns.with_classes(&classes),
            keys,
            labels,
            classes,
            shown: database.query_timeout().shown(),
            connections: ThreadCache::default(),
        })
    }

    fn query_row(
        &self,
        database: &Database,
        index: usize,
        stages: &mut dyn Stages,
    ) -> Result<Cell, FormatError> {
        let Some(key) = self.keys.get(index) else {
            return Err(self.out_of_range(index));
        };
        stages.enter("query");
        let mut statement = database.prepare(&self.by_key)?;
        let key = match key {
            Key::Int(key) => ToSqlOutput::Borrowed(ValueRef::Integer(key)),
            Key::Text(key) => ToSqlOutput::Borrowed(ValueRef::Text(key.as_bytes())),
        };
        let failed = |e: rusqlite::Error| at_row(database.query_timeout().error(&e), index);
        let mut rows = statement.query([key]).map_err(failed)?;
        match rows.next().map_err(failed)? {
            Some(row) => {
                stages.enter("read");
                self.columns.row(index as u64, |column| raw(row, column))
            }
            None => {
                bail!(NoSuchKey, Place::named(&*self.shown).row(index as u64), say!("the row no longer exists");
                    say!("Load again to read the keys again"))
            }
        }
    }

    fn out_of_range(&self, index: usize) -> FormatError {
        fault!(OutOfRange, Place::named(&*self.shown).row(index as u64), say!("the query has {} rows", self.keys.len());
            say!("Choose an index below this number"))
    }
}

impl KeyedRows {
    /// Calls `work` with the connection of this thread.
    fn with_database<T>(
        &self,
        stages: &mut dyn Stages,
        work: impl FnOnce(&Database, &mut dyn Stages) -> Result<T, FormatError>,
    ) -> Result<T, FormatError> {
        self.connections.with(
            stages,
            |stages| {
                stages.enter("connect");
                Database::open(&self.path, &self.query)
            },
            |database, stages| work(database, stages),
        )
    }
}

impl Rows for KeyedRows {
    fn len(&self) -> usize {
        self.keys.len()
    }

    fn row(&self, index: usize, stages: &mut dyn Stages) -> Result<Cell, FormatError> {
        self.with_database(stages, |database, stages| {
            self.query_row(database, index, stages)
        })
    }

    /// Reads several rows in one transaction, which locks the file only once.
    fn rows(
        &self,
        indices: &[usize],
        stages: &mut dyn Stages,
    ) -> Option<Result<Vec<Cell>, FormatError>> {
        Some(self.with_database(stages, |database, stages| {
            stages.enter("query");
            let transaction = database.transaction()?;
            let cells = indices
                .iter()
                .map(|&index| self.query_row(database, index, stages));
            let cells: Vec<Cell> = cells.collect::<Result<_, _>>()?;
            drop(transaction);
            Ok(cells)
        }))
    }

    fn has_rows(&self) -> bool {
        true
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    /// Reads a column with one query. A write to the file may have changed the rows.
    fn column(&self, name: &str) -> Option<Result<Vec<Cell>, FormatError>> {
        self.columns.has(name).then(|| {
            let values = self.with_database(&mut Untimed, |database, _| {
                read_column(database, &self.query, &self.columns, name)
            })?;
            match values.len() == self.keys.len() {
                true => Ok(values),
                false => Err(fault!(Damaged, Place::named(&*self.shown).key(name), say!("the query has more or fewer rows than before");
                    say!("Load again to read the keys again"))),
            }
        })
    }

    fn labels(&self) -> Option<Vec<u32>> {
        self.labels.clone()
    }
}

/// Reads the keys of all rows, and the labels if a label column is set.
fn read_keys(database: &Database, query: &Query, index: &str) -> Result<LoadedKeys, FormatError> {
    let label = query.label.as_deref();
    let wanted = match label {
        Some(label) => format!("{}, {}", quoted(index), quoted(label)),
        None => quoted(index),
    };
    let mut statement = database.prepare(&format!("SELECT {wanted} FROM {}", query.as_table()))?;
    let mut builder = KeysBuilder::new(&database.query_timeout().shown(), index, label);
    let failed = |e: rusqlite::Error| database.query_timeout().error(&e);
    let mut rows = statement.query([]).map_err(failed)?;
    let broken = |column: &str, reason| {
        let place = Place::named(&*database.query_timeout().shown()).key(column);
        fault!(WrongType, place, reason; say!("Correct the row, or choose another column"))
    };
    while let Some(row) = rows.next().map_err(failed)? {
        builder.key(&raw(row, 0).map_err(|reason| broken(index, reason))?)?;
        if let Some(label) = label {
            builder.label(&raw(row, 1).map_err(|reason| broken(label, reason))?);
        }
    }
    builder.finish()
}

/// Reads the values of a column in the order of the keys.
fn read_column(
    database: &Database,
    query: &Query,
    columns: &Columns,
    name: &str,
) -> Result<Vec<Cell>, FormatError> {
    let text = format!("SELECT {} FROM {}", quoted(name), query.as_table());
    let mut statement = database.prepare(&text)?;
    let failed = |e: rusqlite::Error| database.query_timeout().error(&e);
    let mut rows = statement.query([]).map_err(failed)?;
    let mut values = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        values.push(columns.value(name, values.len() as u64, raw(row, 0))?);
    }
    Ok(values)
}

fn at_row(error: FormatError, row: usize) -> FormatError {
    let place = Box::new((*error.place).row(row as u64));
    FormatError { place, ..error }
}
