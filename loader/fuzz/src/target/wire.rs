//! Streams of the probe, and connections to the listener. The first byte of a line selects the stream. The first line introduces it, and
//! `!` ends it.

use std::cell::RefCell;
use std::fs;
use std::io::Write as _;
use std::net::{Ipv4Addr, TcpStream};
use std::time::{Duration, Instant};

use loadscope_live::{Introduction, Join, Listener, Record, StreamId, folder};
use loadscope_trace::{Event, Fleet};

use super::import::split;
use super::recording;
use crate::{examine, scratch};

/// Number of processes of the program.
const STREAMS: usize = 4;
/// Number of lines between two reads of events.
const LINES_PER_POLL: usize = 7;

pub fn run(bytes: &[u8], thoroughly: bool) {
    let mut join = Join::default();
    let mut speaks = [false; STREAMS];
    let mut events: Vec<Event> = Vec::new();
    for (number, line) in bytes.split(|b| *b == b'\n').enumerate() {
        let Some((stream, line)) = line.split_first() else {
            continue;
        };
        let place = usize::from(*stream) % STREAMS;
        let id = StreamId(place as u32);
        match line {
            b"!" => join.close(id),
            _ if !speaks[place] => {
                if let Ok(introduction) = Introduction::parse(line) {
                    speaks[place] = true;
                    join.open(id, introduction);
                }
            }
            _ => match Record::parse(line) {
                Ok(record) => join.push(id, record),
                Err(e) => {
                    assert!(e.to_string().len() < 1_000, "{e}");
                    join.count_invalid_line(id);
                }
            },
        }
        if number % LINES_PER_POLL == 0 {
            events.extend(join.events());
            let _ = join.processes();
        }
    }
    join.finish();
    events.extend(join.events());
    check_events(&events, thoroughly);
    if thoroughly {
        check_stream_files(bytes);
    }
}

/// Checks the events of a join.
pub fn check_events(events: &[Event], thoroughly: bool) {
    assert!(events.iter().all(|e| e.at.0 >= 0), "after the beginning");
    let events = recording::sorted(events);
    // The events are also recorded.
    if thoroughly {
        let again = recording::by_line(&recording::written(&events)).expect("our own header");
        assert_eq!(
            (again.1, again.2, again.0.len()),
            (false, None, events.len())
        );
    }
    recording::fold(&events, thoroughly);
}

/// Tests the same streams as files, without a listener.
fn check_stream_files(bytes: &[u8]) {
    let mut files: [Vec<u8>; STREAMS] = Default::default();
    for line in bytes.split_inclusive(|b| *b == b'\n') {
        if let Some((stream, line)) = line.split_first() {
            files[usize::from(*stream) % STREAMS].extend_from_slice(line);
        }
    }
    scratch::with(|scratch| {
        let path = scratch.join("streams");
        let _ = fs::create_dir(&path);
        for (k, text) in files.iter().enumerate() {
            let path = path.join(format!("{k}.stream.jsonl"));
            match text.is_empty() {
                true => _ = fs::remove_file(path),
                false => fs::write(path, text).expect("there is room"),
            }
        }
        let mut fleet = Fleet::default();
        let read = folder::read(&path, |event| {
            assert!(event.at.0 >= 0, "after the beginning");
            fleet.apply(&event);
            true
        });
        if read.is_ok() {
            examine::fleet(&fleet, true);
        }
    });
}

/// Token in the corpus.
const TOKEN: &str = "0123456789abcdef";
/// Maximum number of connections.
const MAX_CONNECTIONS: usize = 4;
/// Timeout. A poll takes almost no time.
const TIMEOUT: Duration = Duration::from_secs(30);

thread_local! {
    static SOCKET: RefCell<ProbeSocket> = RefCell::new(ProbeSocket::open());
}

struct ProbeSocket {
    listener: Listener,
    #[cfg(unix)]
    path: std::path::PathBuf,
}

impl ProbeSocket {
    #[cfg(unix)]
    fn open() -> Self {
        let path = scratch::with(|folder| folder.join("door"));
        let listener = Listener::unix(&path, TOKEN.to_owned()).expect("a socket");
        Self { listener, path }
    }

    #[cfg(not(unix))]
    fn open() -> Self {
        let listener = Listener::tcp(TOKEN.to_owned()).expect("a port");
        Self { listener }
    }

    #[cfg(unix)]
    fn connect(&self) -> impl std::io::Write + use<> {
        std::os::unix::net::UnixStream::connect(&self.path).expect("a connection")
    }

    #[cfg(not(unix))]
    fn connect(&self) -> impl std::io::Write + use<> {
        connect_tcp(&self.listener)
    }
}

#[allow(dead_code, reason = "where there are no Unix sockets")]
fn connect_tcp(listener: &Listener) -> TcpStream {
    let address = listener.address().expect("it has one");
    let port = address.rsplit(':').next().and_then(|p| p.parse().ok());
    TcpStream::connect((Ipv4Addr::LOCALHOST, port.expect("a port"))).expect("a connection")
}

/// Sends connections to the listener. A line that starts with `=` starts another connection.
pub fn listen(bytes: &[u8], thoroughly: bool) {
    SOCKET.with_borrow_mut(|probe_socket| {
        let mut join = Join::default();
        let mut events = Vec::new();
        let refused = probe_socket.listener.refused();
        let parts = split(bytes, MAX_CONNECTIONS);
        let (mut sockets, mut said) = (Vec::new(), Vec::new());
        for part in &parts {
            let mut socket = probe_socket.connect();
            // Two pieces, so that a line is split.
            let (first, second) = part.split_at(part.len() / 2);
            let _ = socket.write_all(first);
            said.extend(probe_socket.listener.poll(&mut join));
            let _ = socket.write_all(second);
            sockets.push(socket);
            events.extend(join.events());
        }
        drop(sockets);
        let start = Instant::now();
        // All connections have sent all their data.
        while probe_socket.listener.connection_count() > 0 {
            said.extend(probe_socket.listener.poll(&mut join));
            assert!(start.elapsed() < TIMEOUT, "a connection stays");
        }
        let refused = probe_socket.listener.refused() - refused;
        assert!(refused <= parts.len() as u64);
        assert!(said.iter().all(|s| !s.0.contains(TOKEN)), "{said:?}");
        join.finish();
        events.extend(join.events());
        check_events(&events, thoroughly);
    });
}
