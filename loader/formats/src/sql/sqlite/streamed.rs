//! Rows of an SQLite file in sequence.

use std::path::{Path, PathBuf};

use loadscope_words::say;
use rusqlite::{Rows, Statement};
use self_cell::{MutBorrow, self_cell};

use super::connection::{Database, QueryTimeout, raw};
use crate::cell::Cell;
use crate::error::{Fault, FormatError, Place};
use crate::sql::columns::Columns;
use crate::sql::query::Query;
use crate::sql::thread_cache::ThreadCache;
use crate::stages::Stages;
use crate::stream::{Share, Stream, StreamSource};

/// A query with streamed rows.
pub(in crate::sql) struct QueryStream {
    path: PathBuf,
    query: Query,
    columns: Columns,
}

impl QueryStream {
    pub(in crate::sql) fn open(path: &Path, query: &Query) -> Result<Self, FormatError> {
        let database = Database::open(path, query)?;
        let names = database.columns(query)?;
        Ok(Self {
            path: path.to_owned(),
            query: query.clone(),
            columns: Columns::new(&names, query, database.query_timeout().shown())?,
        })
    }
}

impl StreamSource for QueryStream {
    fn open(&self, share: &Share) -> Result<Box<dyn Stream>, FormatError> {
        Ok(Box::new(Part {
            path: self.path.clone(),
            query: self.query.clone(),
            columns: self.columns.clone(),
            share: *share,
            next: 0,
            state: State::NotStarted,
            cache: ThreadCache::default(),
        }))
    }
}

self_cell! {
    struct Prepared {
        owner: Database,
        #[not_covariant]
        dependent: Statement,
    }
}

self_cell! {
    /// A running query with its connection.
    struct Cursor {
        owner: MutBorrow<Prepared>,
        #[not_covariant]
        dependent: Rows,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    NotStarted,
    Running,
    Finished,
}

/// Rows of one worker. The cursor stays in the thread that created it.
struct Part {
    path: PathBuf,
    query: Query,
    columns: Columns,
    share: Share,
    /// Position of the next row in the query.
    next: u64,
    state: State,
    cache: ThreadCache,
}

/// A cursor, with the timeout and the name for its errors.
struct RunningQuery {
    cursor: Cursor,
    query_timeout: QueryTimeout,
}

impl Part {
    fn connect(&mut self, stages: &mut dyn Stages) -> Result<RunningQuery, FormatError> {
        if self.state != State::NotStarted {
            bail!(Unreadable, Place::file(&self.path), say!("another thread began the query");
                say!("Load again, and read all rows of a worker from one thread"));
        }
        self.state = State::Running;
        stages.enter("connect");
        let database = Database::open(&self.path, &self.query)?;
        let query_timeout = database.query_timeout().clone();
        stages.enter("query");
        let prepared = Prepared::try_new(database, |database| {
            database.prepare_once(self.query.bare())
        })?;
        let cursor = Cursor::try_new(MutBorrow::new(prepared), |prepared| {
            prepared
                .borrow_mut()
                .with_dependent_mut(|_, statement| statement.query([]))
        });
        Ok(RunningQuery {
            cursor: cursor.map_err(|e| query_timeout.error(&e))?,
            query_timeout,
        })
    }

    /// Returns the next row of this worker.
    fn advance(
        &mut self,
        running: &mut RunningQuery,
        stages: &mut dyn Stages,
    ) -> Result<Option<Cell>, FormatError> {
        let share = self.share;
        let parts = (share.workers.max(1) * share.world_size.max(1)) as u64;
        let part = (share.rank * share.workers.max(1) + share.worker) as u64;
        let (columns, next) = (&self.columns, &mut self.next);
        running.cursor.with_dependent_mut(|_, rows| {
            loop {
                if stages.is_cancelled() {
                    return Ok(None);
                }
                stages.enter("query");
                running.query_timeout.restart();
                let row = rows.next().map_err(|e| {
                    let error = running.query_timeout.error(&e);
                    let place = Box::new((*error.place).row(*next));
                    FormatError { place, ..error }
                })?;
                let Some(row) = row else {
                    return Ok(None);
                };
                let number = *next;
                *next += 1;
                if number % parts == part {
                    stages.enter("read");
                    return columns.row(number, |column| raw(row, column)).map(Some);
                }
            }
        })
    }
}

impl Stream for Part {
    fn next(&mut self, stages: &mut dyn Stages) -> Option<Result<Cell, FormatError>> {
        if self.state == State::Finished {
            return None;
        }
        let cache = self.cache.clone();
        // The cursor survives an invalid row. The next call continues after it.
        let answer = cache.with(
            &mut (&mut *self, stages),
            |(part, stages)| part.connect(*stages),
            |running, (part, stages)| Ok::<_, FormatError>(part.advance(running, *stages)),
        );
        let answer = answer.and_then(|answer| answer);
        let goes_on = match &answer {
            Ok(row) => row.is_some(),
            Err(error) => error.fault == Fault::WrongType,
        };
        if !goes_on {
            self.state = State::Finished;
            self.cache.remove::<RunningQuery>();
        }
        answer.transpose()
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.cache.remove::<RunningQuery>();
    }
}
