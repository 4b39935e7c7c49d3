//! Tests of the listener: accepted and rejected connections, and their cost.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use loadscope_live::{Join, Listener, Warning};

pub const TOKEN: &str = "0123456789abcdef0123456789abcdef";

pub fn introduction(token: &str) -> String {
    format!(
        "{{\"loadscope_stream\":1,\"token\":\"{token}\",\"pid\":7,\"monotonic\":1,\"realtime\":2}}\n"
    )
}

/// Calls `poll` until `enough` returns true, or fails after a timeout.
pub fn until(
    listener: &mut Listener,
    join: &mut Join,
    enough: impl Fn(&Listener, &Join) -> bool,
) -> Vec<Warning> {
    let start = Instant::now();
    let mut said = Vec::new();
    while !enough(listener, join) {
        assert!(start.elapsed() < Duration::from_secs(120), "{said:?}");
        said.extend(listener.poll(join));
        std::thread::sleep(Duration::from_millis(1));
    }
    said
}

/// Returns a listener on a port of this host, and a function that connects to it.
pub fn tcp() -> (Listener, impl Fn() -> TcpStream) {
    let listener = Listener::tcp(TOKEN.to_owned()).expect("a port");
    let address = listener.address().expect("it has one");
    let place = address.strip_prefix("tcp:").expect("TCP").to_owned();
    let connect = move || TcpStream::connect(&place).expect("a connection");
    (listener, connect)
}

#[test]
fn a_client_with_the_token_is_accepted_on_both_sockets() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("socket");
    let mut unix = Listener::unix(&path, TOKEN.to_owned()).expect("a socket");
    let (mut tcp, connect) = tcp();
    let lines = introduction(TOKEN) + "[\"loader\",5,0,{\"dataset\":\"D\"}]\n[\"epoch\",6,0,0,0]\n";
    let mut a = UnixStream::connect(&path).expect("a connection");
    let mut b = connect();
    a.write_all(lines.as_bytes()).expect("written");
    // The lines arrive in small pieces, as from a network.
    for piece in lines.as_bytes().chunks(3) {
        b.write_all(piece).expect("written");
    }
    for listener in [&mut unix, &mut tcp] {
        let mut join = Join::default();
        let said = until(listener, &mut join, |_, join| join.loaders() == 1);
        assert_eq!(
            (said, listener.refused(), listener.authenticated_count()),
            (Vec::new(), 0, 1)
        );
    }
}

#[test]
fn a_process_with_another_clock_does_not_change_the_time() {
    let (mut listener, connect) = tcp();
    let mut join = Join::default();
    let elsewhere = introduction(TOKEN).replace("monotonic\":1", "monotonic\":9000000000000000");
    let mut sockets = Vec::new();
    for (number, line) in [introduction(TOKEN), elsewhere].iter().enumerate() {
        let mut socket = connect();
        socket.write_all(line.as_bytes()).expect("written");
        sockets.push(socket);
        until(&mut listener, &mut join, |l, _| {
            l.authenticated_count() == number + 1
        });
    }
    let now = listener.now().expect("two processes");
    assert!(now < 1_000_000_000_000, "{now}");
}

#[test]
fn clients_without_the_token_are_refused_and_reported() {
    let (mut listener, connect) = tcp();
    let mut join = Join::default();
    let longer = format!("{TOKEN}0");
    let strangers: Vec<Vec<u8>> = vec![
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec(),
        introduction("").into_bytes(),
        introduction(&TOKEN.to_uppercase()).into_bytes(),
        introduction(&longer).into_bytes(),
        introduction(TOKEN)
            .replace("stream\":1", "stream\":2")
            .into_bytes(),
        [b"[".repeat(60_000), b"\n".to_vec()].concat(),
        // The first line has no end.
        b"a".repeat(1 << 20),
        vec![0xff, 0xfe, b'\n'],
    ];
    let mut said = Vec::new();
    for (number, bytes) in strangers.iter().enumerate() {
        let mut socket = connect();
        let _ = socket.write_all(bytes);
        let refused = number as u64 + 1;
        said.extend(until(&mut listener, &mut join, |l, _| {
            l.refused() == refused
        }));
        // The connection is closed without an answer.
        let _ = socket.set_read_timeout(Some(Duration::from_secs(5)));
        let mut answer = Vec::new();
        let _ = socket.read_to_end(&mut answer);
        assert_eq!(answer, b"");
    }
    assert_eq!((listener.authenticated_count(), join.loaders()), (0, 0));
    assert_eq!(said.len(), strangers.len());
    assert!(said.iter().all(|s| !s.0.contains(TOKEN)), "{said:?}");
}

#[test]
fn damaged_lines_are_counted_and_the_rest_is_read() {
    let (mut listener, connect) = tcp();
    let mut join = Join::default();
    let mut socket = connect();
    let lines = introduction(TOKEN)
        + "[\"loader\",5,0,{\"dataset\":\"D\"}]\nnonsense\n[\"epoch\",6,9,0,0]\n[\"epoch\",6,0,0,0]\n[\"wait\",7,0]\n";
    socket.write_all(lines.as_bytes()).expect("written");
    drop(socket);
    until(&mut listener, &mut join, |l, join| {
        join.loaders() == 1 && l.authenticated_count() == 0
    });
    join.finish();
    let text = format!("{:?}", join.events().collect::<Vec<_>>());
    assert!(
        text.contains("Dropped { count: 1 }") && text.contains("waiting: true"),
        "{text}"
    );
}

#[test]
fn simultaneous_workers_are_all_accepted() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("socket");
    let mut listener = Listener::unix(&path, TOKEN.to_owned()).expect("a socket");
    let mut join = Join::default();
    // These workers are connected, but have not sent their introduction yet.
    let mut workers: Vec<UnixStream> = (0..100)
        .map(|_| UnixStream::connect(&path).expect("a connection"))
        .collect();
    let mut said = listener.poll(&mut join);
    for worker in &mut workers {
        worker
            .write_all(introduction(TOKEN).as_bytes())
            .expect("written");
    }
    said.extend(until(&mut listener, &mut join, |l, _| {
        l.authenticated_count() == 100
    }));
    assert_eq!((said, listener.refused()), (Vec::new(), 0));
}
