//! One column of all rows of a server, in key order.

use std::collections::HashMap;

use loadscope_words::say;
use tokio_postgres::Row;

use super::connection::Connection;
use super::selection::Selection;
use super::value::Kind;
use crate::cell::Cell;
use crate::error::{FormatError, Place};
use crate::sql::keys::{Key, Keys};
use crate::sql::query::{Query, quoted};
use crate::stages::Untimed;

/// Rows per fetch of a single column.
pub(super) const FETCHED: usize = 100_000;

/// Request for a column.
pub(super) struct ColumnRequest<'a> {
    pub(super) connection: &'a Connection,
    pub(super) query: &'a Query,
    pub(super) selection: &'a Selection,
    pub(super) keys: &'a Keys,
    /// SQL expression of the key.
    pub(super) key: &'a str,
    pub(super) kind: Kind,
    pub(super) name: &'a str,
}

impl ColumnRequest<'_> {
    /// Reads the values of the column.
    ///
    /// # Errors
    /// If the server is unreachable, a value has no cell type, or the rows have changed.
    pub(super) fn values(&self) -> Result<Vec<Cell>, FormatError> {
        let positions: HashMap<Key<'_>, usize> = (0..self.keys.len())
            .filter_map(|at| Some((self.keys.get(at)?, at)))
            .collect();
        let mut values: Vec<Option<Cell>> = vec![None; self.keys.len()];
        self.connection.run(&mut Untimed, async |client| {
            client.batch_execute(&self.declare()).await
        })?;
        loop {
            let fetch = format!("FETCH FORWARD {FETCHED} FROM loadscope_column");
            let rows = self.connection.run(&mut Untimed, async |client| {
                client.query_typed(&fetch, &[]).await
            })?;
            for row in &rows {
                let at = self
                    .key_of(row)
                    .and_then(|key| positions.get(&key).copied());
                if let Some(place) = at.and_then(|at| values.get_mut(at)) {
                    let number = at.unwrap_or_default() as u64;
                    let raw = self.kind.raw(row, 1);
                    *place = Some(self.selection.columns.value(self.name, number, raw)?);
                }
            }
            if rows.len() < FETCHED {
                break;
            }
        }
        let values: Option<Vec<Cell>> = values.into_iter().collect();
        values.ok_or_else(|| {
            fault!(NoSuchKey, Place::named(self.connection.shown()).key(self.name), say!("a row no longer exists");
                say!("Load again to read the keys again"))
        })
    }

    fn declare(&self) -> String {
        format!(
            "BEGIN READ ONLY; DECLARE loadscope_column NO SCROLL CURSOR FOR SELECT {}, {} FROM {}",
            self.key,
            self.kind.select_expression(&quoted(self.name)),
            self.query.as_table()
        )
    }

    fn key_of<'r>(&self, row: &'r Row) -> Option<Key<'r>> {
        match self.keys {
            Keys::Ints(_) => row.try_get(0).ok().map(Key::Int),
            Keys::Texts(_) => row.try_get(0).ok().map(Key::Text),
        }
    }
}
