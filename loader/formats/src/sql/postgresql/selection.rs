//! Columns of a query and conversion of its rows to cells.

use std::sync::Arc;

use loadscope_words::say;
use tokio_postgres::Row;

use super::connection::Connection;
use super::value::Kind;
use crate::cell::Cell;
use crate::error::FormatError;
use crate::sql::columns::Columns;
use crate::sql::query::{Query, quoted};
use crate::stages::Stages;

/// Columns of a query, with their types.
#[derive(Clone, Debug)]
pub(super) struct Selection {
    pub(super) columns: Columns,
    pub(super) kinds: Arc<[Kind]>,
    /// SQL expressions of the columns.
    pub(super) select_list: String,
}

impl Selection {
    /// Requests the columns of the query from the server.
    pub(super) fn of(
        connection: &Connection,
        query: &Query,
        stages: &mut dyn Stages,
    ) -> Result<Self, FormatError> {
        // Preparation as a subquery refuses a statement that returns no table.
        let text = format!("SELECT * FROM {}", query.as_table());
        let bare = query.bare();
        connection.run(stages, async |client| client.prepare(bare).await)?;
        let statement = connection.run(stages, async |client| client.prepare(&text).await)?;
        let found = statement.columns();
        let names: Vec<String> = found.iter().map(|c| c.name().to_owned()).collect();
        let kinds: Arc<[Kind]> = found.iter().map(|c| Kind::of(c.type_())).collect();
        let select_list = names.iter().zip(&*kinds);
        let select_list: Vec<String> = select_list
            .map(|(name, kind)| kind.select_expression(&quoted(name)))
            .collect();
        Ok(Self {
            columns: Columns::new(&names, query, connection.shown().into())?,
            kinds,
            select_list: select_list.join(", "),
        })
    }

    pub(super) fn kind(&self, column: &str) -> Option<Kind> {
        self.kinds.get(self.columns.position(column)?).copied()
    }

    /// Converts a row. Its first `skip` columns are not part of the query.
    pub(super) fn cell(&self, row: &Row, number: u64, skip: usize) -> Result<Cell, FormatError> {
        self.columns
            .row(number, |column| match self.kinds.get(column) {
                Some(kind) => kind.raw(row, column + skip),
                None => Err(say!("the query has fewer columns than before").to_owned()),
            })
    }
}
