//! Server for browsers on this host. It sends the page with a recording, or with the growing recording of a program. A request without the
//! token of the link gets 404. A client that stops reading is disconnected. The recorded program is never delayed.

mod http;
mod live;
mod spool;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;
use std::time::Duration;

pub use spool::{Spool, USUAL_SIZE, Writer};

use http::{Request, Response};

/// Default port, used if it is free. A fixed number keeps `ssh -L 7777:localhost:7777` the same.
pub const PORT: u16 = 7777;

/// Maximum number of connections.
const MOST: usize = 32;

/// Timeout for reading a request or writing a response.
const PATIENCE: Duration = Duration::from_secs(10);

/// URL of the recording, relative to the page.
pub const RECORDING: &str = "recording";
/// URL of the recording to compare with, relative to the page.
pub const OTHER: &str = "other";
/// URL of the WebSocket with a growing recording, relative to the page.
pub const LIVE: &str = "live";

/// Content of the server.
pub struct Site {
    /// HTML page.
    pub page: Vec<u8>,
    /// Recordings of the page.
    pub data: Data,
    /// True if a page that knows the link, such as a notebook, may show the page in a frame.
    pub in_frame: bool,
}

/// Recordings for the page.
pub enum Data {
    /// Packed recording, and one to compare with.
    Recording(Vec<u8>, Option<Vec<u8>>),
    /// Growing recording.
    Growing(Arc<Spool>),
}

/// Server that runs until the process ends.
pub struct Server {
    address: SocketAddr,
    token: String,
    viewers: Arc<Viewers>,
}

/// Counts of connections.
#[derive(Default)]
struct Viewers {
    /// Open connections.
    connections: AtomicUsize,
    /// Open WebSockets with a growing recording.
    now: AtomicUsize,
    /// Number of such WebSockets since the start.
    ever: AtomicUsize,
}

impl Server {
    /// Starts to listen on this host only. Without `port`, it uses [`PORT`] or any free port.
    ///
    /// # Errors
    /// If the port is taken, or the system has no thread or no random numbers.
    pub fn start(site: Site, port: Option<u16>) -> io::Result<Self> {
        let bind = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        let listener = match port {
            Some(port) => bind(port)?,
            None => bind(PORT).or_else(|_| bind(0))?,
        };
        let address = listener.local_addr()?;
        let token = token()?;
        let viewers = Arc::<Viewers>::default();
        let shared = Arc::new((site, token.clone()));
        let counted = Arc::clone(&viewers);
        let listen = move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else {
                    // The process has too many open files. Some will be closed.
                    std::thread::sleep(Duration::from_millis(100));
                    continue;
                };
                if counted.connections.load(Ordering::Acquire) >= MOST {
                    continue;
                }
                let one = ConnectionGuard::of(&counted.connections, Arc::clone(&counted));
                let shared = Arc::clone(&shared);
                // Without a thread, the browser gets no answer, and asks again.
                let _ = Builder::new().name("browser".to_owned()).spawn(move || {
                    let (site, token) = &*shared;
                    // A client that disconnects gets no answer.
                    let _ = respond(stream, site, token, &one.0);
                    drop(one);
                });
            }
        };
        Builder::new().name("server".to_owned()).spawn(listen)?;
        Ok(Self {
            address,
            token,
            viewers,
        })
    }

    /// Returns the link for a browser.
    pub fn link(&self) -> String {
        format!("http://localhost:{}/{}/", self.address.port(), self.token)
    }

    /// Returns the port of the server.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Returns the number of pages that receive a growing recording.
    pub fn viewers(&self) -> usize {
        self.viewers.now.load(Ordering::Acquire)
    }

    /// Returns the number of such pages since the start.
    pub fn total_viewers(&self) -> usize {
        self.viewers.ever.load(Ordering::Acquire)
    }
}

/// Guard that counts a connection until it is dropped.
struct ConnectionGuard(Arc<Viewers>);

impl ConnectionGuard {
    fn of(count: &AtomicUsize, viewers: Arc<Viewers>) -> Self {
        count.fetch_add(1, Ordering::AcqRel);
        Self(viewers)
    }
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Creates a random token that cannot be guessed.
fn token() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Answers one request.
fn respond(mut stream: TcpStream, site: &Site, token: &str, viewers: &Viewers) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.set_nodelay(true)?;
    let Some(request) = Request::read(&mut stream)? else {
        return Response::Bad.write(&mut stream);
    };
    if !request.is_local_host() {
        return Response::Forbidden.write(&mut stream);
    }
    // Without the token, all paths get the same answer.
    let Some(asked) = request.path_below(token) else {
        return Response::NotFound.write(&mut stream);
    };
    match (asked, &site.data) {
        ("", _) if site.in_frame => Response::Framed(&site.page).write(&mut stream),
        ("", _) => Response::Page(&site.page).write(&mut stream),
        (RECORDING, Data::Recording(bytes, _)) | (OTHER, Data::Recording(_, Some(bytes))) => {
            Response::Bytes(bytes).write(&mut stream)
        }
        (LIVE, Data::Growing(spool)) => match request.upgrade() {
            Some(accept) if request.is_same_origin() => {
                Response::Upgrade(accept).write(&mut stream)?;
                viewers.now.fetch_add(1, Ordering::AcqRel);
                viewers.ever.fetch_add(1, Ordering::AcqRel);
                let sent = live::send(stream, spool, request.from());
                viewers.now.fetch_sub(1, Ordering::AcqRel);
                sent
            }
            Some(_) => Response::Forbidden.write(&mut stream),
            None => Response::Bad.write(&mut stream),
        },
        _ => Response::NotFound.write(&mut stream),
    }
}

#[cfg(test)]
mod tests;
