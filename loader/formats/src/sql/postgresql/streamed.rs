//! Rows of a server in sequence, through a server-side cursor.

use std::collections::VecDeque;

use tokio_postgres::Row;

use super::connection::Connection;
use super::selection::Selection;
use crate::cell::Cell;
use crate::error::{Fault, FormatError};
use crate::sql::address::Address;
use crate::sql::query::Query;
use crate::stages::{Stages, Untimed};
use crate::stream::{Share, Stream, StreamSource};

/// Rows of the first fetch. Later fetches adapt to about [`CHUNK`] bytes.
const FIRST: usize = 64;
/// Maximum number of rows per fetch.
const MOST: usize = 10_000;
/// Target size of a fetch, bytes.
const CHUNK: usize = 1 << 20;

/// A query with streamed rows.
pub(in crate::sql) struct QueryStream {
    address: Address,
    query: Query,
    selection: Selection,
}

impl QueryStream {
    pub(in crate::sql) fn open(address: &Address, query: &Query) -> Result<Self, FormatError> {
        let connection = Connection::open(address, query, &mut Untimed)?;
        let selection = Selection::of(&connection, query, &mut Untimed)?;
        Ok(Self {
            address: address.clone(),
            query: query.clone(),
            selection,
        })
    }
}

impl StreamSource for QueryStream {
    fn open(&self, share: &Share) -> Result<Box<dyn Stream>, FormatError> {
        Ok(Box::new(Part {
            address: self.address.clone(),
            query: self.query.clone(),
            selection: self.selection.clone(),
            share: *share,
            connection: None,
            rows: VecDeque::new(),
            fetch: FIRST,
            next: 0,
            is_over: false,
        }))
    }
}

/// Rows of one worker.
struct Part {
    address: Address,
    query: Query,
    selection: Selection,
    share: Share,
    /// Connection, or `None` before the first row.
    connection: Option<Connection>,
    /// Fetched rows that were not yet returned.
    rows: VecDeque<Row>,
    /// Number of rows of the next fetch.
    fetch: usize,
    /// Position of the next row in the query.
    next: u64,
    is_over: bool,
}

impl Part {
    fn connect(&mut self, stages: &mut dyn Stages) -> Result<Connection, FormatError> {
        stages.enter("connect");
        let connection = Connection::open(&self.address, &self.query, stages)?;
        stages.enter("query");
        let text = format!(
            "BEGIN READ ONLY; DECLARE loadscope_rows NO SCROLL CURSOR FOR SELECT {} FROM {}",
            self.selection.select_list,
            self.query.as_table()
        );
        connection.run(stages, async |client| client.batch_execute(&text).await)?;
        Ok(connection)
    }

    /// Fetches the next rows. Adds none at the end.
    fn fetch(&mut self, stages: &mut dyn Stages) -> Result<(), FormatError> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.connect(stages)?,
        };
        stages.enter("query");
        let text = format!("FETCH FORWARD {} FROM loadscope_rows", self.fetch);
        let rows = connection.run(stages, async |client| client.query_typed(&text, &[]).await)?;
        self.connection = Some(connection);
        self.is_over = rows.len() < self.fetch;
        let bytes: usize = rows.iter().map(Row::raw_size_bytes).sum();
        let of_a_row = (bytes / rows.len().max(1)).max(1);
        self.fetch = (CHUNK / of_a_row).clamp(1, (self.fetch * 4).min(MOST));
        self.rows.extend(rows);
        Ok(())
    }

    fn advance(&mut self, stages: &mut dyn Stages) -> Result<Option<Cell>, FormatError> {
        let workers = self.share.workers.max(1);
        let parts = (workers * self.share.world_size.max(1)) as u64;
        let part = (self.share.rank * workers + self.share.worker) as u64;
        loop {
            if self.rows.is_empty() && !self.is_over {
                self.fetch(stages)?;
            }
            let Some(row) = self.rows.pop_front() else {
                return Ok(None);
            };
            let number = self.next;
            self.next += 1;
            if number % parts == part {
                stages.enter("read");
                return self.selection.cell(&row, number, 0).map(Some);
            }
        }
    }
}

impl Stream for Part {
    fn next(&mut self, stages: &mut dyn Stages) -> Option<Result<Cell, FormatError>> {
        let answer = self.advance(stages);
        // After an invalid row, the cursor is already past it. After any other error, there is no cursor.
        let goes_on = match &answer {
            Ok(row) => row.is_some(),
            Err(error) => error.fault == Fault::WrongType,
        };
        if !goes_on {
            self.is_over = true;
            self.rows.clear();
            self.connection = None;
        }
        answer.transpose()
    }
}
