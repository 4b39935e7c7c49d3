//! Errors of queries to a PostgreSQL server and of the server itself.
#![cfg(target_os = "linux")]
#![allow(
    clippy::disallowed_methods,
    clippy::too_many_lines,
    reason = "threads and lists of tests"
)]

use std::time::{Duration, Instant};

use loadscope_formats::sql::Query;
use loadscope_formats::{Fault, Share, Untimed};

mod peers;

use peers::server::{QUOTED, Server};
use peers::sql::{all, by_key, keyed, short, streamed};
use peers::{fault, faults};

const LIMIT: Duration = Duration::from_secs(300);

#[test]
fn invalid_queries_give_clear_errors() {
    peers::within(LIMIT, || {
        let Some(server) = Server::start() else {
            return;
        };
        server.run(&["CREATE TABLE t AS SELECT i AS id, i % 3 AS class, 'x' AS name FROM generate_series(0, 99) i"]);
        let url = server.url();
        let stream = |text: &str| {
            streamed(&url, short(text))
                .and_then(|s| all(&*s, Share::default()))
                .err()
                .unwrap()
        };
        let key = |text: &str, index: &str| by_key(&url, text, index).err().unwrap();
        faults! {
            stream("SELECT * FROM tt") => InvalidOption, "\"tt\" does not exist", "ann@127.0.0.1";
            stream("SELECT nme FROM t") => InvalidOption, "\"nme\" does not exist";
            stream("SELEC 1") => InvalidOption, "syntax error";
            stream("") => InvalidOption, "query";
            stream("SELECT 1; DROP TABLE t") => InvalidOption, "query";
            stream("DELETE FROM t RETURNING id") => InvalidOption, "query";
            stream("SELECT 1) x; DROP TABLE t; --") => InvalidOption, "query";
            stream("SELECT nextval('s') FROM (SELECT 1) x") => InvalidOption, "query";
            stream("SELECT id, id FROM t") => InvalidOption, "two columns";
            stream("SELECT 1 / (id - 50) AS x FROM t") => Unreadable, "division by zero";
            stream("SELECT pg_sleep(60) AS x") => Locked, "server";
            key("SELECT * FROM t", "key") => NoSuchKey, "'key'", "id, class, name";
            key("SELECT * FROM t", "class") => InvalidOption, "two rows have the key 0";
            key("SELECT * FROM t WHERE id < 0", "id") => Damaged, "no rows";
            key("SELECT nullif(id, 4) AS k FROM t", "k") => WrongType, "a key is null", "row 4";
        }
        let rows = by_key(&url, "SELECT * FROM t", "id").unwrap();
        faults! { rows.row(100, &mut Untimed).err().unwrap() => OutOfRange, "row 100"; }
        server.run(&["DELETE FROM t WHERE id = 7"]);
        faults! {
            rows.row(7, &mut Untimed).err().unwrap() => NoSuchKey, "row 7", "no longer exists";
        }
        assert!(rows.row(8, &mut Untimed).is_ok());
        let image = Query {
            image: Some("name".into()),
            ..Query::new("SELECT * FROM t")
        };
        let error = streamed(&url, image)
            .and_then(|s| all(&*s, Share::default()))
            .err()
            .unwrap();
        fault(&error, Fault::WrongType, &["row 0", "'name'"]);
    });
}

#[test]
fn an_unreachable_or_locked_server_gives_a_clear_error() {
    peers::within(LIMIT, || {
        let away = |url: &str| streamed(url, short("SELECT 1")).err().unwrap();
        faults! {
            away(&format!("postgresql://ann:{QUOTED}@127.0.0.1:1/db")) => Disconnected, "127.0.0.1:1", "refused";
            away(&format!("postgresql://ann:{QUOTED}@no.such.host.invalid/db")) => Disconnected, "no.such.host";
        }
        // The address 192.0.2.1 of a documentation network never responds.
        let begin = Instant::now();
        assert!(
            away(&format!("postgresql://ann:{QUOTED}@192.0.2.1/db")).fault != Fault::InvalidOption
        );
        // The other servers never answer, or use another protocol.
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = silent.local_addr().unwrap().port();
        faults! {
            away(&format!("postgresql://ann:{QUOTED}@127.0.0.1:{port}/db")) => Locked, "not answered";
        }
        drop(silent);
        for says in [
            &b"HTTP/1.1 400 Bad Request\r\n\r\n"[..],
            b"R\xff\xff\xff\xff",
            b"",
            b"E\0\0\0\x04",
            b"S\x7f\xff\xff\xff12",
            &[0; 64],
        ] {
            let odd = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let port = odd.local_addr().unwrap().port();
            let thread = std::thread::spawn(move || {
                use std::io::Write as _;
                let (mut stream, _) = odd.accept().unwrap();
                let _ = stream.write_all(says);
            });
            let error = away(&format!("postgresql://ann:{QUOTED}@127.0.0.1:{port}/db"));
            assert!(
                matches!(error.fault, Fault::Disconnected | Fault::Locked),
                "{says:?}: {error}"
            );
            thread.join().unwrap();
        }
        assert!(begin.elapsed() < Duration::from_secs(30));
        let Some(server) = Server::start() else {
            return;
        };
        let wrong = server.url().replace(QUOTED, "wrong-secret");
        let error = away(&wrong);
        faults! { error => Disconnected, "password authentication failed", "user"; }
        assert!(!error.to_string().contains("wrong-secret"));
        faults! {
            away(&server.url().replace("/postgres", "/nowhere")) => Disconnected, "nowhere";
            away(&server.url().replace("ann:", "bob:")) => Disconnected, "refused", "bob";
        }
        server.run(&["CREATE TABLE t AS SELECT 1 AS id"]);
        let mut lock = server.begin("BEGIN; LOCK TABLE t; SELECT pg_sleep(60)");
        std::thread::sleep(Duration::from_millis(700));
        let error = streamed(&server.url(), short("SELECT * FROM t"))
            .and_then(|s| all(&*s, Share::default()));
        fault(&error.err().unwrap(), Fault::Locked, &[]);
        lock.kill().unwrap();
        lock.wait().unwrap();
    });
}

#[test]
fn a_server_lost_during_a_query_gives_a_clear_error() {
    for (signal, expected) in [
        ("STOP", Fault::Locked),
        ("KILL", Fault::Disconnected),
        ("INT", Fault::Disconnected),
    ] {
        peers::within(LIMIT, move || {
            let Some(server) = Server::start() else {
                return;
            };
            server.run(&["CREATE TABLE t AS SELECT i AS id, repeat('x', 2000) AS text FROM generate_series(0, 9999) i"]);
            let url = server.url();
            let mut part = streamed(&url, short("SELECT * FROM t"))
                .unwrap()
                .open(&Share::default())
                .unwrap();
            let rows = keyed(
                &url,
                Query {
                    index: Some("id".into()),
                    ..short("SELECT * FROM t")
                },
            )
            .unwrap();
            assert!(part.next(&mut Untimed).unwrap().is_ok());
            assert!(rows.row(3, &mut Untimed).is_ok());
            server.signal(signal);
            let begin = Instant::now();
            let answers: Vec<_> = std::iter::from_fn(|| part.next(&mut Untimed)).collect();
            assert!(answers.len() < 10_000);
            fault(
                answers.last().unwrap().as_ref().err().unwrap(),
                expected,
                &["127.0.0.1"],
            );
            assert_eq!(answers.iter().filter(|a| a.is_err()).count(), 1);
            fault(
                &rows.row(4, &mut Untimed).err().unwrap(),
                expected,
                &["127.0.0.1"],
            );
            assert!(rows.row(5, &mut Untimed).is_err());
            assert!(begin.elapsed() < Duration::from_secs(20));
            if signal == "STOP" {
                server.signal("CONT");
                assert!(rows.row(5, &mut Untimed).is_ok(), "connected anew");
            }
        });
    }
}
