//! Tests of hostile or faulty connections: many, silent, incomplete, or with guessed tokens.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use loadscope_live::{Join, Warning};

use crate::listen::{TOKEN, introduction, tcp, until};

#[test]
fn token_guesses_are_refused_with_bounded_reports() {
    let (mut listener, connect) = tcp();
    let mut join = Join::default();
    let mut said = Vec::new();
    // The guesses are every prefix of the token, the token with each character changed, and other spellings.
    let mut guesses: Vec<String> = (0..TOKEN.len()).map(|n| TOKEN[..n].to_owned()).collect();
    for at in 0..TOKEN.len() {
        let mut guess = TOKEN.as_bytes().to_vec();
        guess[at] ^= 1;
        guesses.push(String::from_utf8(guess).expect("letters"));
    }
    guesses.extend([
        TOKEN.to_uppercase(),
        format!(" {TOKEN}"),
        format!("{TOKEN}\\u0000"),
        "\\u001b[31m".repeat(1_000),
    ]);
    for (number, guess) in guesses.iter().enumerate() {
        let mut socket = connect();
        let _ = socket.write_all(introduction(guess).as_bytes());
        // Data after a wrong token is not read.
        let _ = socket.write_all(b"[\"loader\",5,0,{\"dataset\":\"D\"}]\n");
        let refused = number as u64 + 1;
        said.extend(until(&mut listener, &mut join, |l, _| {
            l.refused() == refused
        }));
    }
    assert_eq!((listener.connection_count(), join.loaders()), (0, 0));
    assert!((1..=10).contains(&said.len()), "{said:?}");
    for Warning(text) in &said {
        assert!(
            text.starts_with("Rejected a connection: ") && text.len() < 600,
            "{text}"
        );
        assert!(!text.contains(TOKEN) && !text.contains('\u{1b}'), "{text}");
    }
}

#[test]
fn silent_and_slow_clients_do_not_block_others() {
    let (mut listener, connect) = tcp();
    let mut join = Join::default();
    let mut half: Vec<TcpStream> = (0..100).map(|_| connect()).collect();
    for (k, socket) in half.iter_mut().enumerate() {
        let _ = socket.write_all(&introduction(TOKEN).as_bytes()[..k % 40]);
    }
    let mut honest = connect();
    honest
        .write_all(introduction(TOKEN).as_bytes())
        .expect("written");
    // The timeout of the handshake has passed. A client that sends a byte now and then gets no extension.
    let start = Instant::now();
    while listener.authenticated_count() == 0 || listener.connection_count() > 1 {
        assert!(start.elapsed() < Duration::from_secs(120));
        listener.poll(&mut join);
        for socket in &mut half {
            let _ = socket.write_all(b" ");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(
        (listener.authenticated_count(), listener.refused()),
        (1, 100)
    );
    honest
        .write_all(b"[\"loader\",5,0,{\"dataset\":\"D\"}]\n")
        .expect("written");
    while join.loaders() == 0 {
        assert!(start.elapsed() < Duration::from_secs(120));
        listener.poll(&mut join);
    }
}

#[test]
fn thousands_of_short_connections_leave_no_state() {
    let (mut listener, connect) = tcp();
    let mut join = Join::default();
    let lines: [&[u8]; 4] = [b"", b"\n", b"{\"loadscope_stream\":1", b"\xff\xfe\n\n\n"];
    for round in 0..60 {
        let sockets: Vec<TcpStream> = (0..50)
            .map(|k| {
                let mut socket = connect();
                let _ = socket.write_all(lines[k % lines.len()]);
                socket
            })
            .collect();
        // Some connections close before the listener accepts them.
        if round % 2 == 0 {
            listener.poll(&mut join);
        }
        drop(sockets);
        until(&mut listener, &mut join, |l, _| l.connection_count() == 0);
    }
    assert_eq!(
        (listener.connection_count(), listener.authenticated_count()),
        (0, 0)
    );
    let mut honest = connect();
    honest
        .write_all(introduction(TOKEN).as_bytes())
        .expect("written");
    until(&mut listener, &mut join, |l, _| {
        l.authenticated_count() == 1
    });
}

/// The system's tables show that the port is open on 127.0.0.1 only.
#[cfg(target_os = "linux")]
#[test]
fn the_port_is_open_on_localhost_only() {
    let (listener, _) = tcp();
    let address = listener.address().expect("it has one");
    let port = address
        .rsplit_once(':')
        .and_then(|(_, port)| port.parse::<u16>().ok());
    let open_at = |table: &str| -> Vec<String> {
        let table = std::fs::read_to_string(table).unwrap_or_default();
        let lines = table.lines().skip(1).filter_map(|line| {
            let mut words = line.split_whitespace().skip(1);
            let (local, _, state) = (words.next()?, words.next()?, words.next()?);
            let (address, number) = local.split_once(':')?;
            let is_ours = u16::from_str_radix(number, 16).ok() == port && state == "0A";
            is_ours.then(|| address.to_owned())
        });
        lines.collect()
    };
    assert_eq!(open_at("/proc/net/tcp"), ["0100007F"]);
    assert!(open_at("/proc/net/tcp6").is_empty());
}
