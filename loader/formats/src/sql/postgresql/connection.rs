//! Connection to a server with a timeout for each answer.

use std::error::Error as _;
use std::time::Duration;

use loadscope_words::say;
use tokio::runtime::{Builder, Runtime};
use tokio::time::{sleep, timeout};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error, NoTls};

use crate::error::{Fault, FormatError, Place};
use crate::sql::address::Address;
use crate::sql::query::Query;
use crate::stages::Stages;

/// Interval at which a waiting thread checks for cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A read-only connection.
pub(super) struct Connection {
    // The client's tasks end with the runtime, so the client is dropped first.
    client: Client,
    runtime: Runtime,
    shown: String,
    timeout: Duration,
}

impl Connection {
    pub(super) fn open(
        address: &Address,
        query: &Query,
        stages: &mut dyn Stages,
    ) -> Result<Self, FormatError> {
        let shown = address.to_string();
        let runtime = Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build();
        let runtime = runtime.map_err(|e| {
            let reason = say!("the system has no network poller ({e})");
            let remedy = say!("Check the limit of open files");
            FormatError::new(Fault::Unreadable, Place::named(&shown), reason, remedy)
        })?;
        let connect = async {
            let (client, driver) = address.config().connect(NoTls).await?;
            // The next request returns an error of the connection.
            tokio::spawn(async move { drop(driver.await) });
            Ok(client)
        };
        let client = wait(&runtime, &shown, query.timeout, stages, connect)?;
        let connection = Self {
            client,
            runtime,
            shown,
            timeout: query.timeout,
        };
        let limit = query.timeout.as_millis().min(i32::MAX as u128);
        let settings =
            format!("SET default_transaction_read_only = on; SET statement_timeout = {limit}");
        connection.run(stages, async |client| client.batch_execute(&settings).await)?;
        Ok(connection)
    }

    /// Returns the name of the server for messages.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    /// Runs `query` and waits for its answer.
    pub(super) fn run<T>(
        &self,
        stages: &mut dyn Stages,
        query: impl AsyncFnOnce(&Client) -> Result<T, Error>,
    ) -> Result<T, FormatError> {
        wait(
            &self.runtime,
            &self.shown,
            self.timeout,
            stages,
            query(&self.client),
        )
    }
}

/// Waits for an answer until a timeout or cancellation.
fn wait<T>(
    runtime: &Runtime,
    shown: &str,
    limit: Duration,
    stages: &mut dyn Stages,
    answer: impl Future<Output = Result<T, Error>>,
) -> Result<T, FormatError> {
    let cancelled = async {
        while !stages.is_cancelled() {
            sleep(POLL_INTERVAL).await;
        }
    };
    let place = || Place::named(shown);
    runtime.block_on(async {
        let answer = std::pin::pin!(timeout(limit, answer));
        let cancelled = std::pin::pin!(cancelled);
        match first(answer, cancelled).await {
            Some(Ok(Ok(answer))) => Ok(answer),
            Some(Ok(Err(error))) => Err(server_error(place(), &error)),
            Some(Err(_)) => Err(fault!(Locked, place(), say!("the server has not answered for {} s", limit.as_secs_f64());
                say!("Check the server and the query, or set a longer timeout"))),
            None => Err(fault!(Disconnected, place(), say!("the query was canceled, because the loader ends");
                say!("Load again"))),
        }
    })
}

/// Returns the output of `answer`, or `None` if `end` is ready first.
async fn first<T>(
    mut answer: impl Future<Output = T> + Unpin,
    mut end: impl Future<Output = ()> + Unpin,
) -> Option<T> {
    use std::pin::Pin;
    use std::task::Poll;
    std::future::poll_fn(|context| {
        if let Poll::Ready(answer) = Pin::new(&mut answer).poll(context) {
            return Poll::Ready(Some(answer));
        }
        Pin::new(&mut end).poll(context).map(|()| None)
    })
    .await
}

/// Converts an error of the server or the library.
fn server_error(place: Place, error: &Error) -> FormatError {
    let Some(refusal) = error.as_db_error() else {
        let cause = error
            .source()
            .map(|e| format!(" ({e})"))
            .unwrap_or_default();
        return FormatError::new(
            Fault::Disconnected,
            place,
            match error.is_closed() {
                true => say!("the server closed the connection").to_owned(),
                false => say!("the server cannot be reached: {error}{cause}"),
            },
            say!("Check that the server runs and that host, port, user and password are right"),
        );
    };
    let hint = refusal
        .hint()
        .map(|hint| format!(" ({hint})"))
        .unwrap_or_default();
    let said = format!("{}{hint}", refusal.message());
    let code = refusal.code();
    let (fault, reason, remedy) = match code {
        &SqlState::QUERY_CANCELED => (
            Fault::Locked,
            say!("the server canceled the query: {said}"),
            say!("Create an index for the key column, or set a longer timeout"),
        ),
        &SqlState::LOCK_NOT_AVAILABLE => (
            Fault::Locked,
            say!("a table is locked: {said}"),
            say!("Close the program that holds the lock"),
        ),
        &SqlState::READ_ONLY_SQL_TRANSACTION => (
            Fault::InvalidOption,
            say!("the query writes: {said}"),
            say!("Write a SELECT for query="),
        ),
        // The first two characters of an SQLSTATE are its class. 28: invalid authorization. 3D: invalid catalog name. 42: syntax error or
        // access rule violation. 57: operator intervention. 08: connection exception.
        code if code.code().starts_with("28") || code.code().starts_with("3D") => (
            Fault::Disconnected,
            say!("the server refused the connection: {said}"),
            say!("Check user, password and database"),
        ),
        code if code.code().starts_with("57") || code.code().starts_with("08") => (
            Fault::Disconnected,
            say!("the server closed the connection: {said}"),
            say!("Start the server, and load again"),
        ),
        code if code.code().starts_with("42") => (
            Fault::InvalidOption,
            say!("the query is wrong: {said}"),
            say!("Correct the SELECT in query="),
        ),
        _ => (
            Fault::Unreadable,
            say!("the server failed: {said}"),
            say!("Correct the data, or the query in query="),
        ),
    };
    FormatError::new(fault, place, reason, remedy)
}
