//! Connections to the listener. A line that starts with `=` starts another connection. Each connection is sent in pieces.

use std::cell::RefCell;
use std::io::Write as _;
use std::net::{Ipv4Addr, TcpStream};
use std::time::{Duration, Instant};

use loadscope_live::{Join, Listener};

use super::{lotus::split, wire};

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
        let path = crate::scratch::with(|folder| folder.join("door"));
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

pub fn run(bytes: &[u8], thoroughly: bool) {
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
        wire::check_events(&events, thoroughly);
    });
}
