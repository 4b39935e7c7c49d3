//! A real PostgreSQL server against psycopg, and everything that can be wrong with a server.
#![cfg(all(feature = "sql", target_os = "linux"))]
#![allow(clippy::disallowed_methods, reason = "files of tests")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use loadscope_formats::sql::{Opened, Query, Source, keep_password, open};
use loadscope_formats::{Cell, Fault, FormatError, Rows, Share, Stages, StreamSource, Untimed};

#[path = "peers/mod.rs"]
mod peers;
#[path = "peers/server.rs"]
mod server;

use server::{PASSWORD, QUOTED, Server};

const LIMIT: Duration = Duration::from_secs(300);

fn keyed(url: &str, query: Query) -> Result<Box<dyn Rows>, FormatError> {
    match open(&Source::parse(url)?, &query)? {
        Opened::Rows(rows) => Ok(rows),
        Opened::Stream(_) => panic!("it has an index"),
    }
}

fn by_id(url: &str, text: &str, index: &str) -> Result<Box<dyn Rows>, FormatError> {
    keyed(url, Query { index: Some(index.to_owned()), ..Query::new(text) })
}

fn streamed(url: &str, query: Query) -> Result<Box<dyn StreamSource>, FormatError> {
    match open(&Source::parse(url)?, &query)? {
        Opened::Stream(stream) => Ok(stream),
        Opened::Rows(_) => panic!("it has no index"),
    }
}

fn all(stream: &dyn StreamSource, share: Share) -> Result<Vec<Cell>, FormatError> {
    let mut part = stream.open(&share)?;
    std::iter::from_fn(|| part.next(&mut Untimed)).collect()
}

fn short(text: &str) -> Query {
    Query { timeout: Duration::from_millis(1500), ..Query::new(text) }
}

fn fault(error: &FormatError, fault: Fault, says: &[&str]) {
    let text = error.to_string();
    assert_eq!(error.fault, fault, "{text}");
    for part in says {
        assert!(text.contains(part), "{text:?} does not say {part:?}");
    }
    for secret in [PASSWORD, QUOTED] {
        assert!(!text.contains(secret) && !format!("{error:?}").contains(secret), "{text}");
    }
}

#[test]
fn rows_are_those_of_psycopg() {
    peers::within(LIMIT, || {
        let Some(python) = peers::python(&["psycopg"]) else { return };
        let Some(server) = Server::start() else { return };
        let run = |arguments: &[&str]| peers::run_with(&python, "postgresql_rows.py", arguments, &server.environment());
        run(&["make"]);
        let url = server.url();
        for (query, index) in [
            ("SELECT * FROM items ORDER BY id", "id"),
            ("SELECT word, large, exact FROM items WHERE flag ORDER BY word COLLATE \"C\"", "word"),
            ("SELECT large + id AS \"a \"\"b\", id::int8 AS key, facts FROM items WHERE id < 900 AND large < 99999 ORDER BY double, id", "key"),
        ] {
            let expected = run(&["rows", query]);
            assert!(expected.len() >= 70, "{}", expected.len());
            let cells = all(&*streamed(&url, Query::new(query)).unwrap(), Share::default()).unwrap();
            let got: Vec<_> = cells.iter().map(peers::shown).collect();
            assert_eq!(got.len(), expected.len());
            for (got, expected) in got.iter().zip(&expected) {
                assert_eq!(got, expected, "streamed: {query}");
            }
            let expected = run(&["rows", query, index]);
            let rows = by_id(&url, query, index).unwrap();
            let got: Vec<_> = (0..rows.len()).map(|i| peers::shown(&rows.row(i, &mut Untimed).unwrap())).collect();
            assert!(got == expected, "by key: {query}");
            let backwards: Vec<usize> = (0..rows.len()).rev().collect();
            let together = rows.rows(&backwards, &mut Untimed).unwrap().unwrap();
            let got: Vec<_> = together.iter().rev().map(peers::shown).collect();
            assert!(got == expected, "by keys: {query}");
        }
    });
}

#[test]
fn workers_have_connections_of_their_own() {
    peers::within(LIMIT, || {
        let Some(server) = Server::start() else { return };
        server.run(&["CREATE TABLE t AS SELECT i AS id, 'class ' || 9 - i % 3 AS class FROM generate_series(0, 4999) i"]);
        let url = server.url();
        let stream = streamed(&url, Query::new("SELECT id FROM t ORDER BY id")).unwrap();
        let whole = all(&*stream, Share::default()).unwrap();
        assert_eq!(whole.len(), 5000);
        std::thread::scope(|scope| {
            for p in 0..4 {
                let (stream, whole) = (&stream, &whole);
                scope.spawn(move || {
                    let share = Share { worker: p % 2, workers: 2, rank: p / 2, world_size: 2, seed: 1 };
                    let expected: Vec<_> = whole.iter().skip(p).step_by(4).cloned().collect();
                    assert_eq!(all(&**stream, share).unwrap(), expected);
                });
            }
        });
        let query = Query { index: Some("id".into()), label: Some("class".into()), ..Query::new("SELECT * FROM t") };
        let rows = keyed(&url, query).unwrap();
        assert_eq!(rows.classes(), ["class 7", "class 8", "class 9"]);
        assert_eq!(rows.labels().unwrap()[..4], [2, 1, 0, 2]);
        let connections = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for t in 0..3 {
                let (rows, connections) = (&rows, &connections);
                scope.spawn(move || {
                    let mut count = Connects(0);
                    for i in (t..600).step_by(3) {
                        rows.row(i, &mut count).unwrap();
                    }
                    connections.fetch_add(count.0, Ordering::Relaxed);
                });
            }
        });
        assert_eq!(connections.load(Ordering::Relaxed), 3, "one for each thread");
    });
}

struct Connects(usize);

impl Stages for Connects {
    fn enter(&mut self, name: &'static str) {
        self.0 += usize::from(name == "connect");
    }
}

#[test]
fn what_is_asked_wrongly_is_a_sentence() {
    peers::within(LIMIT, || {
        let Some(server) = Server::start() else { return };
        server.run(&["CREATE TABLE t AS SELECT i AS id, i % 3 AS class, 'x' AS name FROM generate_series(0, 99) i"]);
        let url = server.url();
        let stream = |text: &str| streamed(&url, short(text)).and_then(|s| all(&*s, Share::default())).err().unwrap();
        let key = |text: &str, index: &str| by_id(&url, text, index).err().unwrap();
        fault(&stream("SELECT * FROM tt"), Fault::Asked, &["\"tt\" does not exist", "ann@127.0.0.1"]);
        fault(&stream("SELECT nme FROM t"), Fault::Asked, &["\"nme\" does not exist"]);
        fault(&stream("SELEC 1"), Fault::Asked, &["syntax error"]);
        fault(&stream(""), Fault::Asked, &["query"]);
        fault(&stream("SELECT 1; DROP TABLE t"), Fault::Asked, &["query"]);
        fault(&stream("DELETE FROM t RETURNING id"), Fault::Asked, &["query"]);
        fault(&stream("SELECT 1) x; DROP TABLE t; --"), Fault::Asked, &["query"]);
        fault(&stream("SELECT nextval('s') FROM (SELECT 1) x"), Fault::Asked, &["query"]);
        fault(&stream("SELECT id, id FROM t"), Fault::Asked, &["two columns"]);
        fault(&stream("SELECT 1 / (id - 50) AS x FROM t"), Fault::Unreadable, &["division by zero"]);
        fault(&stream("SELECT pg_sleep(60) AS x"), Fault::Locked, &["server"]);
        fault(&key("SELECT * FROM t", "key"), Fault::NoSuchKey, &["'key'", "id, class, name"]);
        fault(&key("SELECT * FROM t", "class"), Fault::Asked, &["two rows have the key 0"]);
        fault(&key("SELECT * FROM t WHERE id < 0", "id"), Fault::Damaged, &["no rows"]);
        fault(&key("SELECT nullif(id, 4) AS k FROM t", "k"), Fault::WrongType, &["a key is a null", "row 4"]);
        let rows = by_id(&url, "SELECT * FROM t", "id").unwrap();
        fault(&rows.row(100, &mut Untimed).err().unwrap(), Fault::OutOfRange, &["row 100"]);
        server.run(&["DELETE FROM t WHERE id = 7"]);
        fault(&rows.row(7, &mut Untimed).err().unwrap(), Fault::NoSuchKey, &["row 7", "not there any more"]);
        assert!(rows.row(8, &mut Untimed).is_ok());
        let image = Query { image: Some("name".into()), ..Query::new("SELECT * FROM t") };
        let error = streamed(&url, image).and_then(|s| all(&*s, Share::default())).err().unwrap();
        fault(&error, Fault::WrongType, &["row 0", "'name'"]);
    });
}

#[test]
fn a_server_that_is_away_refuses_or_is_locked_is_a_sentence() {
    peers::within(LIMIT, || {
        let away = |url: &str| streamed(url, short("SELECT 1")).err().unwrap();
        fault(&away(&format!("postgresql://ann:{QUOTED}@127.0.0.1:1/db")), Fault::Away, &["127.0.0.1:1", "refused"]);
        fault(&away(&format!("postgresql://ann:{QUOTED}@no.such.host.invalid/db")), Fault::Away, &["no.such.host"]);
        // An address that no packet comes back from.
        let begin = Instant::now();
        assert!(away(&format!("postgresql://ann:{QUOTED}@192.0.2.1/db")).fault != Fault::Asked);
        // Something that listens and never answers, and something that is no such server.
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = silent.local_addr().unwrap().port();
        fault(&away(&format!("postgresql://ann:{QUOTED}@127.0.0.1:{port}/db")), Fault::Locked, &["not answered"]);
        drop(silent);
        for says in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], b"R\xff\xff\xff\xff", b"", b"E\0\0\0\x04", b"S\x7f\xff\xff\xff12", &[0; 64]] {
            let odd = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let port = odd.local_addr().unwrap().port();
            let thread = std::thread::spawn(move || {
                use std::io::Write as _;
                let (mut stream, _) = odd.accept().unwrap();
                let _ = stream.write_all(says);
            });
            let error = away(&format!("postgresql://ann:{QUOTED}@127.0.0.1:{port}/db"));
            assert!(matches!(error.fault, Fault::Away | Fault::Locked), "{says:?}: {error}");
            thread.join().unwrap();
        }
        assert!(begin.elapsed() < Duration::from_secs(30));
        let Some(server) = Server::start() else { return };
        let wrong = server.url().replace(QUOTED, "wrong-secret");
        let error = away(&wrong);
        fault(&error, Fault::Away, &["password authentication failed", "user"]);
        assert!(!error.to_string().contains("wrong-secret"));
        fault(&away(&server.url().replace("/postgres", "/nowhere")), Fault::Away, &["nowhere"]);
        fault(&away(&server.url().replace("ann:", "bob:")), Fault::Away, &["refuses", "bob"]);
        server.run(&["CREATE TABLE t AS SELECT 1 AS id"]);
        let mut lock = server.begin("BEGIN; LOCK TABLE t; SELECT pg_sleep(60)");
        std::thread::sleep(Duration::from_millis(700));
        let error = streamed(&server.url(), short("SELECT * FROM t")).and_then(|s| all(&*s, Share::default()));
        fault(&error.err().unwrap(), Fault::Locked, &[]);
        lock.kill().unwrap();
        lock.wait().unwrap();
    });
}

#[test]
fn a_server_that_goes_away_in_the_middle_is_a_sentence() {
    for (signal, expected) in [("STOP", Fault::Locked), ("KILL", Fault::Away), ("INT", Fault::Away)] {
        peers::within(LIMIT, move || {
            let Some(server) = Server::start() else { return };
            server.run(&["CREATE TABLE t AS SELECT i AS id, repeat('x', 2000) AS text FROM generate_series(0, 9999) i"]);
            let url = server.url();
            let mut part = streamed(&url, short("SELECT * FROM t")).unwrap().open(&Share::default()).unwrap();
            let rows = keyed(&url, Query { index: Some("id".into()), ..short("SELECT * FROM t") }).unwrap();
            assert!(part.next(&mut Untimed).unwrap().is_ok());
            assert!(rows.row(3, &mut Untimed).is_ok());
            server.signal(signal);
            let begin = Instant::now();
            let answers: Vec<_> = std::iter::from_fn(|| part.next(&mut Untimed)).collect();
            assert!(answers.len() < 10_000);
            fault(answers.last().unwrap().as_ref().err().unwrap(), expected, &["127.0.0.1"]);
            assert_eq!(answers.iter().filter(|a| a.is_err()).count(), 1);
            fault(&rows.row(4, &mut Untimed).err().unwrap(), expected, &["127.0.0.1"]);
            assert!(rows.row(5, &mut Untimed).is_err());
            assert!(begin.elapsed() < Duration::from_secs(20));
            if signal == "STOP" {
                server.signal("CONT");
                assert!(rows.row(5, &mut Untimed).is_ok(), "connected anew");
            }
        });
    }
}

#[test]
fn who_does_not_want_the_answer_does_not_wait() {
    peers::within(LIMIT, || {
        struct Cancelled(Instant);
        impl Stages for Cancelled {
            fn enter(&mut self, _: &'static str) {}
            fn is_cancelled(&self) -> bool {
                self.0.elapsed() > Duration::from_millis(300)
            }
        }
        let Some(server) = Server::start() else { return };
        let stream = streamed(&server.url(), Query::new("SELECT pg_sleep(60)::text AS x")).unwrap();
        let mut part = stream.open(&Share::default()).unwrap();
        let begin = Instant::now();
        assert!(part.next(&mut Cancelled(begin)).unwrap().is_err());
        assert!(begin.elapsed() < Duration::from_secs(10));
    });
}

#[test]
fn passwords_stay_in_the_process() {
    peers::within(LIMIT, || {
        let Some(server) = Server::start() else { return };
        let bare = keep_password(&server.url()).unwrap();
        assert!(!bare.contains(QUOTED));
        let source = Source::parse(&bare).unwrap();
        assert!(!format!("{source:?}").contains(PASSWORD));
        let Opened::Stream(stream) = open(&source, &Query::new("SELECT 1 AS one")).unwrap() else { panic!() };
        assert_eq!(all(&*stream, Share::default()).unwrap().len(), 1);
    });
}
