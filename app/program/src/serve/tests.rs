use std::io::{ErrorKind, Read as _, Write as _};
use std::time::Instant;

use loadscope_trace::{Event, EventKind, Nanos, RunId};
use tungstenite::client::IntoClientRequest as _;
use tungstenite::{Message, WebSocket};

use super::*;

const DEADLINE: Duration = Duration::from_secs(30);

fn events(count: i64) -> Vec<Event> {
    let event = |at| Event {
        at: Nanos(at),
        run: RunId(0),
        kind: EventKind::Dropped { count: 1 },
    };
    (0..count).map(event).collect()
}

fn growing() -> (Server, Writer) {
    growing_in(false)
}

fn growing_in(in_frame: bool) -> (Server, Writer) {
    growing_to(USUAL_SIZE, in_frame)
}

fn growing_to(most: u64, in_frame: bool) -> (Server, Writer) {
    let (spool, writer) = Spool::new(most).expect("a place");
    let site = Site {
        page: b"<p>page".to_vec(),
        data: Data::Growing(spool),
        in_frame,
    };
    (Server::start(site, Some(0)).expect("a port"), writer)
}

fn asked(server: &Server, path: &str, host: &str) -> String {
    let mut stream = TcpStream::connect(server.address).expect("it listens");
    stream.set_read_timeout(Some(DEADLINE)).expect("a socket");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").expect("it reads");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("it answers");
    text
}

fn socket(
    server: &Server,
    from: impl Into<Option<i64>>,
    origin: Option<&str>,
) -> tungstenite::Result<WebSocket<TcpStream>> {
    let at = format!("localhost:{}", server.port());
    let from = from.into().map(|from| format!("?from={from}"));
    let url = format!(
        "ws://{at}/{}/live{}",
        server.token,
        from.unwrap_or_default()
    );
    let mut request = url.into_client_request()?;
    let origin = origin.map_or(format!("http://{at}"), str::to_owned);
    let origin = origin.parse().expect("a value");
    request.headers_mut().insert("Origin", origin);
    let stream = TcpStream::connect(server.address)?;
    stream.set_read_timeout(Some(DEADLINE))?;
    match tungstenite::client(request, stream) {
        Ok((socket, _)) => Ok(socket),
        Err(tungstenite::HandshakeError::Failure(e)) => Err(e),
        Err(tungstenite::HandshakeError::Interrupted(_)) => {
            Err(tungstenite::Error::Io(ErrorKind::TimedOut.into()))
        }
    }
}

/// Reads to the end, or until `most` bytes have arrived.
fn received(socket: &mut WebSocket<TcpStream>, most: usize, before: usize) -> Vec<u8> {
    let mut all = Vec::new();
    while all.len() < most {
        match socket.read().expect("it sends") {
            Message::Binary(piece) => {
                all.extend_from_slice(&piece);
                let so_far = (before + all.len()).to_string();
                socket.send(Message::Text(so_far.into())).expect("it reads");
            }
            Message::Text(why) => {
                assert_eq!(why.as_str(), "");
                break;
            }
            Message::Close(_) => break,
            _ => {}
        }
    }
    all
}

#[test]
fn requests_without_token_or_local_host_are_refused() {
    let (server, _writer) = growing();
    let own = format!("/{}/", server.token);
    assert!(server.address.ip().is_loopback());
    assert!(server.link().contains(&own));
    assert!(asked(&server, &own, "localhost").ends_with("<p>page"));
    for (path, host, status) in [
        ("/", "localhost", "404"),
        ("/00000000000000000000000000000000/", "localhost", "404"),
        (&*own, "evil.example", "403"),
        (&format!("{own}recording"), "localhost", "404"),
        (&format!("{own}live"), "localhost", "400"),
    ] {
        let answer = asked(&server, path, host);
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{path}: {answer}"
        );
        assert!(!answer.contains("<p>page"));
    }
    let refused = socket(&server, None, Some("http://evil.example"));
    assert!(matches!(refused, Err(tungstenite::Error::Http(r)) if r.status() == 403));
}

#[test]
fn only_a_notebook_page_may_be_framed() {
    for in_frame in [false, true] {
        let (server, _writer) = growing_in(in_frame);
        let page = asked(&server, &format!("/{}/", server.token), "localhost");
        assert!(page.ends_with("<p>page"), "{page}");
        assert_eq!(page.contains("X-Frame-Options: DENY"), !in_frame, "{page}");
        assert!(asked(&server, "/", "localhost").contains("X-Frame-Options: DENY"));
    }
}

#[test]
fn a_reconnected_page_gets_every_line() {
    let (server, mut writer) = growing();
    let mut first = socket(&server, None, None).expect("a page");
    writer.write(&events(5_000));
    let some = received(&mut first, 100_000, 0);
    drop(first);
    writer.write(&events(20_000));
    let mut again = socket(&server, some.len() as i64, None).expect("a page");
    let writing = Builder::new().spawn(move || {
        for _ in 0..20 {
            writer.write(&events(100));
            std::thread::sleep(Duration::from_millis(5));
        }
        writer.end("");
    });
    let rest = received(&mut again, usize::MAX, some.len());
    writing.expect("a thread").join().expect("it has written");
    let lines = [some, rest].concat();
    let count = lines.iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(count, 1 + 5_000 + 20_000 + 2_000);
}

/// The page receives at most the limit of unacknowledged bytes. The recording is not slowed down.
#[test]
fn a_page_that_stops_reading_is_dropped_without_delay() {
    let (spool, mut writer) = Spool::new(USUAL_SIZE).expect("a place");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let page = TcpStream::connect(listener.local_addr().expect("an address")).expect("a page");
    let (stream, _) = listener.accept().expect("it came");
    let sent = Builder::new()
        .spawn(move || live::send_within(stream, &spool, None, Duration::from_millis(300)))
        .expect("a thread");
    let began = Instant::now();
    let mut written = 0;
    while !sent.is_finished() {
        assert!(began.elapsed() < DEADLINE, "it is not dropped");
        let one = Instant::now();
        writer.write(&events(10_000));
        written += 1;
        assert!(one.elapsed() < Duration::from_secs(5), "it is held up");
        if written > 40 {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    assert!(sent.join().expect("it has not panicked").is_err());
    drop(page);
}

#[test]
fn a_viewer_is_counted_while_connected() {
    let (server, mut writer) = growing();
    assert_eq!((server.viewers(), server.total_viewers()), (0, 0));
    let mut page = socket(&server, None, None).expect("a page");
    writer.end("");
    received(&mut page, usize::MAX, 0);
    let until = Instant::now() + DEADLINE;
    while server.viewers() > 0 || server.total_viewers() == 0 {
        assert!(Instant::now() < until, "it is counted for ever");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Returns the first offset of a late page, and the summary.
fn late(server: &Server) -> (i64, Vec<u8>) {
    let mut page = socket(server, None, None).expect("a page");
    let Message::Text(place) = page.read().expect("it sends") else {
        panic!("a late page receives no beginning");
    };
    let place = place.strip_prefix('@').expect("a place").parse::<i64>();
    let place = place.expect("a number");
    let Message::Binary(head) = page.read().expect("it sends") else {
        panic!("a late page gets nothing of what was before");
    };
    assert!(head.starts_with(b"{\"loadscope\":3,"));
    (place, head.to_vec())
}

#[test]
fn a_late_page_resumes_and_an_outdated_one_reloads() {
    let (server, mut writer) = growing_to(200_000, false);
    writer.write(&events(50_000));
    let (place, head) = late(&server);
    let mut again = socket(&server, place + head.len() as i64, None).expect("a page");
    writer.end("");
    let rest = received(&mut again, usize::MAX, head.len());
    let lines = rest.iter().filter(|byte| **byte == b'\n').count();
    assert!((1_000..50_000).contains(&lines), "{lines}");
    let mut asleep = socket(&server, 10, None).expect("a page");
    let told = asleep.read().expect("it sends");
    assert!(
        matches!(&told, Message::Text(why) if why.contains("Reload")),
        "{told:?}"
    );
}
