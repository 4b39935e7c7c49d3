//! Comparison of a real PostgreSQL server with psycopg: values, workers, passwords.
#![cfg(target_os = "linux")]
#![allow(
    clippy::disallowed_methods,
    clippy::too_many_lines,
    reason = "threads and lists of tests"
)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use loadscope_formats::Opened;
use loadscope_formats::sql::{Query, Source, open, store_password};
use loadscope_formats::{Share, Stages};

mod peers;

use peers::server::{PASSWORD, QUOTED, Server};
use peers::sql::{all, compare, compare_by_key, keyed, streamed};

const LIMIT: Duration = Duration::from_secs(300);

#[test]
fn rows_equal_those_of_psycopg() {
    peers::within(LIMIT, || {
        let Some(python) = peers::python(&["psycopg"]) else {
            return;
        };
        let Some(server) = Server::start() else {
            return;
        };
        let run = |arguments: &[&str]| {
            peers::run_with(
                &python,
                "postgresql_rows.py",
                arguments,
                &server.environment(),
            )
        };
        run(&["make"]);
        let url = server.url();
        for (query, index) in [
            ("SELECT * FROM items ORDER BY id", "id"),
            (
                "SELECT word, large, exact FROM items WHERE flag ORDER BY word COLLATE \"C\"",
                "word",
            ),
            (
                "SELECT large + id AS \"a \"\"b\", id::int8 AS key, facts FROM items WHERE id < 900 AND large < 99999 ORDER BY double, id",
                "key",
            ),
        ] {
            let expected = run(&["rows", query]);
            assert!(expected.len() >= 70, "{}", expected.len());
            compare(&url, query, &expected);
            let expected = run(&["rows", query, index]);
            compare_by_key(&url, query, index, &expected);
        }
    });
}

#[test]
fn each_worker_uses_its_own_connection() {
    peers::within(LIMIT, || {
        let Some(server) = Server::start() else {
            return;
        };
        server.run(&["CREATE TABLE t AS SELECT i AS id, 'class ' || 9 - i % 3 AS class FROM generate_series(0, 4999) i"]);
        let url = server.url();
        let stream = streamed(&url, Query::new("SELECT id FROM t ORDER BY id")).unwrap();
        let whole = all(&*stream, Share::default()).unwrap();
        assert_eq!(whole.len(), 5000);
        std::thread::scope(|scope| {
            for p in 0..4 {
                let (stream, whole) = (&stream, &whole);
                scope.spawn(move || {
                    let share = Share {
                        worker: p % 2,
                        workers: 2,
                        rank: p / 2,
                        world_size: 2,
                        seed: 1,
                    };
                    let expected: Vec<_> = whole.iter().skip(p).step_by(4).cloned().collect();
                    assert_eq!(all(&**stream, share).unwrap(), expected);
                });
            }
        });
        let query = Query {
            index: Some("id".into()),
            label: Some("class".into()),
            ..Query::new("SELECT * FROM t")
        };
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
        assert_eq!(
            connections.load(Ordering::Relaxed),
            3,
            "one for each thread"
        );
    });
}

struct Connects(usize);

impl Stages for Connects {
    fn enter(&mut self, name: &'static str) {
        self.0 += usize::from(name == "connect");
    }
}

#[test]
fn a_cancelled_query_does_not_wait_for_its_answer() {
    peers::within(LIMIT, || {
        struct Cancelled(Instant);
        impl Stages for Cancelled {
            fn enter(&mut self, _: &'static str) {}
            fn is_cancelled(&self) -> bool {
                self.0.elapsed() > Duration::from_millis(300)
            }
        }
        let Some(server) = Server::start() else {
            return;
        };
        let stream = streamed(&server.url(), Query::new("SELECT pg_sleep(60)::text AS x")).unwrap();
        let mut part = stream.open(&Share::default()).unwrap();
        let begin = Instant::now();
        assert!(part.next(&mut Cancelled(begin)).unwrap().is_err());
        assert!(begin.elapsed() < Duration::from_secs(10));
    });
}

#[test]
fn stored_passwords_connect_but_are_not_shown() {
    peers::within(LIMIT, || {
        let Some(server) = Server::start() else {
            return;
        };
        let bare = store_password(&server.url()).unwrap();
        assert!(!bare.contains(QUOTED));
        let source = Source::parse(&bare).unwrap();
        assert!(!format!("{source:?}").contains(PASSWORD));
        let Opened::Stream(stream) = open(&source, &Query::new("SELECT 1 AS one")).unwrap() else {
            panic!()
        };
        assert_eq!(all(&*stream, Share::default()).unwrap().len(), 1);
    });
}
