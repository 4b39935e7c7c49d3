//! Socket listener for the streams of a program. It rejects connections without the token.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::time::{Duration, Instant};

use loadscope_words::say;

use crate::wire::{Introduction, Record};
use crate::{Join, StreamId};

/// Maximum length of a line, bytes.
const MAX_LINE: usize = 48 << 20;

/// Maximum length of the first line, bytes.
const MAX_HANDSHAKE: usize = 64 << 10;

/// Maximum number of bytes to read from one connection per poll, so that no process starves the others.
const MAX_BYTES_PER_POLL: usize = 1 << 20;

/// Maximum number of open connections.
const MAX_CONNECTIONS: usize = 4096;

/// Maximum number of connections without a handshake.
const MAX_UNAUTHENTICATED: usize = 64;

/// Timeout of the handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);

/// A warning for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning(pub String);

/// Non-blocking socket server that receives the streams of a program's processes.
pub struct Listener {
    socket: ListeningSocket,
    token: String,
    connections: BTreeMap<StreamId, Connection>,
    next: u32,
    refused: u64,
    /// True after the message that connections have to wait.
    is_full: bool,
    /// Time of the first handshake, and the monotonic clock of its process at that time, ns.
    clock: Option<(Instant, i64)>,
    buffer: Vec<u8>,
}

enum ListeningSocket {
    #[cfg(unix)]
    Unix(std::os::unix::net::UnixListener, std::path::PathBuf),
    Tcp(std::net::TcpListener),
}

enum Socket {
    #[cfg(unix)]
    Unix(std::os::unix::net::UnixStream),
    Tcp(std::net::TcpStream),
}

impl Socket {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            #[cfg(unix)]
            Self::Unix(socket) => socket.read(into),
            Self::Tcp(socket) => socket.read(into),
        }
    }
}

struct Connection {
    socket: Socket,
    since: Instant,
    is_authenticated: bool,
    line: Vec<u8>,
    invalid_lines: u64,
}

/// Result of one read from a connection.
enum ReadResult {
    /// No data is available now.
    NoData,
    /// More data can be available.
    More,
    /// The connection has ended.
    Ended,
    /// The connection is rejected, with the reason.
    Refused(String),
}

impl Listener {
    /// Listens on a Unix socket at `path`. Callers pass a path in a private folder, so other users cannot connect.
    ///
    /// # Errors
    /// Returns an error if the socket cannot be created.
    #[cfg(unix)]
    pub fn unix(path: &std::path::Path, token: String) -> io::Result<Self> {
        let listener = std::os::unix::net::UnixListener::bind(path)?;
        listener.set_nonblocking(true)?;
        Ok(Self::new(
            ListeningSocket::Unix(listener, path.to_owned()),
            token,
        ))
    }

    /// Listens on a free port of 127.0.0.1, which other hosts cannot reach.
    ///
    /// # Errors
    /// Returns an error if no port is available.
    pub fn tcp(token: String) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        Ok(Self::new(ListeningSocket::Tcp(listener), token))
    }

    fn new(socket: ListeningSocket, token: String) -> Self {
        Self {
            socket,
            token,
            connections: BTreeMap::new(),
            next: 0,
            refused: 0,
            is_full: false,
            clock: None,
            buffer: vec![0; 1 << 18],
        }
    }

    /// Returns the address in the format of `LOADSCOPE_PROBE_TO`.
    ///
    /// # Errors
    /// Returns an error if the system does not report the port.
    pub fn address(&self) -> io::Result<String> {
        Ok(match &self.socket {
            #[cfg(unix)]
            ListeningSocket::Unix(_, path) => format!("unix:{}", path.display()),
            ListeningSocket::Tcp(listener) => {
                format!("tcp:127.0.0.1:{}", listener.local_addr()?.port())
            }
        })
    }

    /// Reads all available data into `join` without blocking. Returns warnings for the user.
    pub fn poll(&mut self, join: &mut Join) -> Vec<Warning> {
        let mut warnings = Vec::new();
        self.accept(&mut warnings);
        let mut buffer = std::mem::take(&mut self.buffer);
        let ids: Vec<StreamId> = self.connections.keys().copied().collect();
        for id in ids {
            let mut budget = MAX_BYTES_PER_POLL;
            loop {
                let result = self.read(id, &mut buffer, join);
                match result {
                    ReadResult::More if budget > 0 => budget = budget.saturating_sub(buffer.len()),
                    ReadResult::More | ReadResult::NoData => break,
                    ReadResult::Ended => {
                        self.connections.remove(&id);
                        join.disconnect(id, self.now());
                        break;
                    }
                    ReadResult::Refused(why) => {
                        self.connections.remove(&id);
                        self.refused += 1;
                        // After 10 messages, further rejections are only counted: a foreign process cannot flood the terminal.
                        if self.refused <= 10 {
                            warnings.push(Warning(say!("Rejected a connection: {why}")));
                        }
                        join.close(id);
                        break;
                    }
                }
            }
        }
        self.buffer = buffer;
        warnings
    }

    /// Returns the number of rejected connections.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Returns the number of connections that completed the handshake.
    pub fn authenticated_count(&self) -> usize {
        self.connections
            .values()
            .filter(|c| c.is_authenticated)
            .count()
    }

    /// Returns the number of connections, including those before the handshake.
    pub fn connection_count(&self) -> usize {
        self.connections.len()
    }

    /// Returns the current time on the monotonic clock of the first process, ns. Returns `None` before the first handshake.
    pub fn now(&self) -> Option<i64> {
        let (when, time) = self.clock?;
        let passed = i64::try_from(when.elapsed().as_nanos()).unwrap_or(i64::MAX);
        Some(time.saturating_add(passed))
    }

    fn accept(&mut self, warnings: &mut Vec<Warning>) {
        loop {
            let strangers = self
                .connections
                .values()
                .filter(|c| !c.is_authenticated)
                .count();
            if self.connections.len() >= MAX_CONNECTIONS {
                self.warn_full(warnings, say!("there are too many connections"));
                return;
            }
            // Further connections and their data wait in the socket's backlog.
            if strangers >= MAX_UNAUTHENTICATED {
                return;
            }
            let socket = match &self.socket {
                #[cfg(unix)]
                ListeningSocket::Unix(listener, _) => listener.accept().and_then(|(socket, _)| {
                    socket.set_nonblocking(true)?;
                    Ok(Socket::Unix(socket))
                }),
                ListeningSocket::Tcp(listener) => listener.accept().and_then(|(socket, _)| {
                    socket.set_nonblocking(true)?;
                    Ok(Socket::Tcp(socket))
                }),
            };
            let socket = match socket {
                Ok(socket) => socket,
                Err(e) if is_transient(&e) => continue,
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return,
                Err(e) => {
                    self.warn_full(warnings, &e.to_string());
                    return;
                }
            };
            let connection = Connection {
                socket,
                since: Instant::now(),
                is_authenticated: false,
                line: Vec::new(),
                invalid_lines: 0,
            };
            self.connections.insert(StreamId(self.next), connection);
            self.next += 1;
        }
    }

    /// Reports, once only, that no further connection can be accepted for now.
    fn warn_full(&mut self, warnings: &mut Vec<Warning>, why: &str) {
        if !std::mem::replace(&mut self.is_full, true) {
            let text = say!("Some processes are recorded only later: {why}");
            warnings.push(Warning(text));
        }
    }

    fn read(&mut self, id: StreamId, buffer: &mut [u8], join: &mut Join) -> ReadResult {
        let Some(connection) = self.connections.get_mut(&id) else {
            return ReadResult::NoData;
        };
        let read = match connection.socket.read(buffer) {
            Ok(0) => return ReadResult::Ended,
            Ok(read) => read,
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                if !connection.is_authenticated && connection.since.elapsed() > HANDSHAKE_TIMEOUT {
                    return ReadResult::Refused(say!("it sent nothing").to_owned());
                }
                return ReadResult::NoData;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => return ReadResult::More,
            Err(_) => return ReadResult::Ended,
        };
        let mut rest = &buffer[..read];
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            connection.line.extend_from_slice(&rest[..end]);
            rest = &rest[end + 1..];
            let line = std::mem::take(&mut connection.line);
            if connection.is_authenticated {
                connection.receive_line(id, &line, join);
            } else {
                match parse_handshake(&line, &self.token) {
                    Ok(introduction) => {
                        connection.is_authenticated = true;
                        // `Join` shifts the times of processes with another clock to the first clock.
                        let clock = (Instant::now(), introduction.monotonic);
                        self.clock.get_or_insert(clock);
                        join.open(id, introduction);
                    }
                    Err(why) => return ReadResult::Refused(why),
                }
            }
        }
        connection.line.extend_from_slice(rest);
        let most = if connection.is_authenticated {
            MAX_LINE
        } else {
            MAX_HANDSHAKE
        };
        if connection.line.len() > most {
            return ReadResult::Refused(say!("it sent a line without an end").to_owned());
        }
        ReadResult::More
    }
}

/// Returns true for errors of one connection attempt. The listening socket still works after them.
fn is_transient(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    matches!(
        error.kind(),
        Interrupted | ConnectionAborted | ConnectionReset
    )
}

impl Connection {
    fn receive_line(&mut self, id: StreamId, line: &[u8], join: &mut Join) {
        match Record::parse(line) {
            Ok(record) => join.push(id, record),
            Err(_) => {
                self.invalid_lines += 1;
                join.count_invalid_line(id);
            }
        }
    }
}

/// Parses the handshake. Returns an error if the line is invalid or the token is wrong.
fn parse_handshake(line: &[u8], token: &str) -> Result<Introduction, String> {
    let introduction = Introduction::parse(line).map_err(|e| e.to_string())?;
    // The comparison takes constant time, so its duration reveals nothing about the token.
    let given = introduction.token.as_bytes();
    let differs = given
        .iter()
        .zip(token.as_bytes())
        .fold(0, |all, (a, b)| all | (a ^ b));
    if given.len() != token.len() || differs != 0 {
        return Err(say!("its token is missing or wrong").to_owned());
    }
    Ok(introduction)
}
