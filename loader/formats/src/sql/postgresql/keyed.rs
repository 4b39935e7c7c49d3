//! Rows of a server by key.

use std::collections::HashMap;

use loadscope_words::say;
use tokio_postgres::Statement;
use tokio_postgres::types::Type;

use super::column::{ColumnRequest, FETCHED};
use super::connection::Connection;
use super::selection::Selection;
use super::value::Kind;
use crate::cell::Cell;
use crate::error::{Fault, FormatError, Place};
use crate::rows::Rows;
use crate::sql::address::Address;
use crate::sql::columns::Raw;
use crate::sql::keys::{Key, Keys, KeysBuilder, LoadedKeys};
use crate::sql::query::{Query, quoted};
use crate::sql::thread_cache::ThreadCache;
use crate::stages::{Stages, Untimed};

/// Rows of a query, whose keys are read once. Each thread has a connection and fetches all rows of a batch in one query.
pub(in crate::sql) struct KeyedRows {
    address: Address,
    query: Query,
    /// Query for the rows of several keys.
    by_keys: String,
    selection: Selection,
    /// SQL expression of the key.
    key: String,
    keys: Keys,
    labels: Option<Vec<u32>>,
    classes: Vec<String>,
    connections: ThreadCache,
}

/// Connection of a thread.
struct PreparedConnection {
    connection: Connection,
    statement: Statement,
}

impl KeyedRows {
    pub(in crate::sql) fn open(address: &Address, query: &Query) -> Result<Self, FormatError> {
        let connection = Connection::open(address, query, &mut Untimed)?;
        let selection = Selection::of(&connection, query, &mut Untimed)?;
        let index = query.index.as_deref().unwrap_or_default();
        let column = quoted(index);
        let (key, keys) = match selection.kind(index) {
            Some(Kind::Int2 | Kind::Int4 | Kind::Int8) => (format!("{column}::int8"), "$1::int8[]"),
            Some(Kind::Text) => (format!("{column}::text"), "$1::text[]"),
            // Other types are compared as text. Integers and texts are compared as the column itself, so that the server can use an index.
            _ => (format!("{column}::text"), "$1::text[]"),
        };
        let compared = match selection.kind(index) {
            Some(Kind::Int2 | Kind::Int4 | Kind::Int8 | Kind::Text) => &column,
            _ => &key,
        };
        let by_keys = format!(
            "SELECT {key}, {} FROM {} WHERE {compared} = ANY({keys})",
            selection.select_list,
            query.as_table()
        );
        let LoadedKeys {
            keys,
            labels,
            classes,
        } = read_keys(&connection, &selection, query, &key, index)?;
        let columns = selection.columns.clone().with_classes(&classes);
        Ok(Self {
            address: address.clone(),
            query: query.clone(),
            by_keys,
            selection: Selection {
                columns,
                ..selection
            },
            key,
            keys,
            labels,
            classes,
            connections: ThreadCache::default(),
        })
    }

    fn connect(&self, stages: &mut dyn Stages) -> Result<PreparedConnection, FormatError> {
        stages.enter("connect");
        let connection = Connection::open(&self.address, &self.query, stages)?;
        let keys = match self.keys {
            Keys::Ints(_) => Type::INT8_ARRAY,
            Keys::Texts(_) => Type::TEXT_ARRAY,
        };
        let text = &self.by_keys;
        let statement = connection.run(stages, async |client| {
            client.prepare_typed(text, &[keys]).await
        })?;
        Ok(PreparedConnection {
            connection,
            statement,
        })
    }

    /// Fetches the rows at `indices` in one query, and returns them in this order.
    fn query_rows(
        &self,
        prepared: &PreparedConnection,
        indices: &[usize],
        stages: &mut dyn Stages,
    ) -> Result<Vec<Cell>, FormatError> {
        stages.enter("query");
        let keys = indices.iter().map(|&index| {
            self.keys
                .get(index)
                .ok_or_else(|| self.fail(Fault::OutOfRange, index, say!("there is no such row")))
        });
        let keys: Vec<Key<'_>> = keys.collect::<Result<_, _>>()?;
        let statement = &prepared.statement;
        let rows = match self.keys {
            Keys::Ints(_) => {
                let keys: Vec<i64> = keys.iter().filter_map(|key| key.int()).collect();
                let ask =
                    async |client: &tokio_postgres::Client| client.query(statement, &[&keys]).await;
                prepared.connection.run(stages, ask)?
            }
            Keys::Texts(_) => {
                let keys: Vec<&str> = keys.iter().filter_map(|key| key.text()).collect();
                let ask =
                    async |client: &tokio_postgres::Client| client.query(statement, &[&keys]).await;
                prepared.connection.run(stages, ask)?
            }
        };
        stages.enter("read");
        let mut by_key = HashMap::with_capacity(rows.len());
        for row in &rows {
            let key = match self.keys {
                Keys::Ints(_) => row.try_get(0).ok().map(Key::Int),
                Keys::Texts(_) => row.try_get(0).ok().map(Key::Text),
            };
            by_key.extend(key.map(|key| (key, row)));
        }
        let cells = indices
            .iter()
            .zip(&keys)
            .map(|(&index, key)| match by_key.get(key) {
                Some(row) => self.selection.cell(row, index as u64, 1),
                None => Err(self.fail(Fault::NoSuchKey, index, say!("the row no longer exists"))),
            });
        cells.collect()
    }

    fn fail(&self, fault: Fault, index: usize, reason: &str) -> FormatError {
        let place = Place::named(self.address.to_string()).row(index as u64);
        FormatError::new(
            fault,
            place,
            reason,
            say!("Load again to read the keys again"),
        )
    }
}

impl Rows for KeyedRows {
    fn len(&self) -> usize {
        self.keys.len()
    }

    fn row(&self, index: usize, stages: &mut dyn Stages) -> Result<Cell, FormatError> {
        let rows = self
            .rows(&[index], stages)
            .unwrap_or_else(|| Ok(Vec::new()))?;
        let row = rows.into_iter().next();
        row.ok_or_else(|| self.fail(Fault::NoSuchKey, index, say!("the row no longer exists")))
    }

    fn rows(
        &self,
        indices: &[usize],
        stages: &mut dyn Stages,
    ) -> Option<Result<Vec<Cell>, FormatError>> {
        Some(self.connections.with(
            stages,
            |stages| self.connect(stages),
            |prepared, stages| self.query_rows(prepared, indices, stages),
        ))
    }

    fn has_rows(&self) -> bool {
        true
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn labels(&self) -> Option<Vec<u32>> {
        self.labels.clone()
    }

    /// Reads a column with one query over a separate connection.
    fn column(&self, name: &str) -> Option<Result<Vec<Cell>, FormatError>> {
        let kind = self.selection.kind(name)?;
        let read = || {
            let connection = Connection::open(&self.address, &self.query, &mut Untimed)?;
            ColumnRequest {
                connection: &connection,
                query: &self.query,
                selection: &self.selection,
                keys: &self.keys,
                key: &self.key,
                kind,
                name,
            }
            .values()
        };
        Some(read())
    }
}

/// Reads the keys of all rows, and the labels if a label column exists.
fn read_keys(
    connection: &Connection,
    selection: &Selection,
    query: &Query,
    key: &str,
    index: &str,
) -> Result<LoadedKeys, FormatError> {
    let label = query
        .label
        .as_deref()
        .filter(|l| selection.kind(l).is_some());
    let asked = match label.and_then(|label| Some((selection.kind(label)?, label))) {
        Some((kind, label)) => format!("{key}, {}", kind.select_expression(&quoted(label))),
        None => key.to_owned(),
    };
    let text = format!(
        "BEGIN READ ONLY; DECLARE loadscope_keys NO SCROLL CURSOR FOR SELECT {asked} FROM {}",
        query.as_table()
    );
    connection.run(&mut Untimed, async |client| {
        client.batch_execute(&text).await
    })?;
    let fetch = format!("FETCH FORWARD {FETCHED} FROM loadscope_keys");
    let mut builder = KeysBuilder::new(connection.shown(), index, label);
    loop {
        let rows = connection.run(&mut Untimed, async |client| {
            client.query_typed(&fetch, &[]).await
        })?;
        for row in &rows {
            let number = || {
                row.try_get::<_, Option<i64>>(0)
                    .ok()
                    .map(|n| n.map(Raw::Int))
            };
            let text = || {
                row.try_get::<_, Option<&str>>(0)
                    .ok()
                    .map(|t| t.map(Raw::Text))
            };
            let key = number().or_else(text).flatten();
            builder.key(&key.unwrap_or(Raw::Cell(Cell::Null)))?;
            if let Some(kind) = label.and_then(|label| selection.kind(label)) {
                let raw = kind.raw(row, 1);
                builder.label(&raw.unwrap_or(Raw::Cell(Cell::Null)));
            }
        }
        if rows.len() < FETCHED {
            break;
        }
    }
    builder.finish()
}
