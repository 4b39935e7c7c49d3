//! A small server on this host alone: it gives a browser the page and a recording, or the recording of a program as it grows. Who
//! has no link with its token gets nothing, and who stops reading is dropped; nothing of it touches the program that is recorded.

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

/// The port that is taken if it is free, so that `ssh -L 7777:localhost:7777` is always the same.
pub const PORT: u16 = 7777;

/// Connections at a time, at most.
const MOST: usize = 32;

/// A browser that asks for something is waited for so long.
const PATIENCE: Duration = Duration::from_secs(10);

/// URL of the recording, relative to the page.
pub const RECORDING: &str = "recording";
/// URL of the recording to compare with, relative to the page.
pub const OTHER: &str = "other";
/// URL of the WebSocket with a growing recording, relative to the page.
pub const LIVE: &str = "live";

/// What is given.
pub struct Site {
    /// The page.
    pub page: Vec<u8>,
    /// Recordings of the page.
    pub data: Data,
    /// It may stand in a frame of a page that knows its link: in a notebook.
    pub in_frame: bool,
}

/// Recordings for the page.
pub enum Data {
    /// A packed recording, and one to compare with.
    Recording(Vec<u8>, Option<Vec<u8>>),
    /// A recording that grows.
    Growing(Arc<Spool>),
}

/// A server that runs until the process ends.
pub struct Server {
    address: SocketAddr,
    token: String,
    viewers: Arc<Viewers>,
}

/// Who looks on.
#[derive(Default)]
struct Viewers {
    /// Connections under way.
    connections: AtomicUsize,
    /// Those that get a recording as it grows.
    now: AtomicUsize,
    /// Of them, how many there ever were.
    ever: AtomicUsize,
}

impl Server {
    /// Begins to listen, on this host alone: on `port`, or, where none is asked for, on [`PORT`] or any that is free.
    ///
    /// # Errors
    /// If the port is taken, or the system gives no thread or no random numbers.
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
                    // Too many files are open: some will be closed.
                    std::thread::sleep(Duration::from_millis(100));
                    continue;
                };
                if counted.connections.load(Ordering::Acquire) >= MOST {
                    continue;
                }
                let one = One::of(&counted.connections, Arc::clone(&counted));
                let shared = Arc::clone(&shared);
                // Without a thread the browser is not answered, and asks again.
                let _ = Builder::new().name("browser".to_owned()).spawn(move || {
                    let (site, token) = &*shared;
                    // Who goes away in the middle is not answered.
                    let _ = answer(stream, site, token, &one.0);
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

    /// What is to be opened in a browser.
    pub fn link(&self) -> String {
        format!("http://localhost:{}/{}/", self.address.port(), self.token)
    }

    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// How many pages get a recording as it grows.
    pub fn viewers(&self) -> usize {
        self.viewers.now.load(Ordering::Acquire)
    }

    /// How many there ever were.
    pub fn viewers_ever(&self) -> usize {
        self.viewers.ever.load(Ordering::Acquire)
    }
}

/// A connection that is counted as long as it is there.
struct One(Arc<Viewers>);

impl One {
    fn of(count: &AtomicUsize, viewers: Arc<Viewers>) -> Self {
        count.fetch_add(1, Ordering::AcqRel);
        Self(viewers)
    }
}

impl Drop for One {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::AcqRel);
    }
}

/// What cannot be guessed.
fn token() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Answers one request.
fn answer(mut stream: TcpStream, site: &Site, token: &str, viewers: &Viewers) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.set_nodelay(true)?;
    let Some(request) = Request::read(&mut stream)? else {
        return Response::Bad.write(&mut stream);
    };
    if !request.is_of_this_host() {
        return Response::Forbidden.write(&mut stream);
    }
    // Without the token one does not learn what there is.
    let Some(asked) = request.below(token) else {
        return Response::NotFound.write(&mut stream);
    };
    match (asked, &site.data) {
        ("", _) if site.in_frame => Response::Framed(&site.page).write(&mut stream),
        ("", _) => Response::Page(&site.page).write(&mut stream),
        (RECORDING, Data::Recording(bytes, _)) | (OTHER, Data::Recording(_, Some(bytes))) => {
            Response::Bytes(bytes).write(&mut stream)
        }
        (LIVE, Data::Growing(spool)) => match request.upgrade() {
            Some(accept) if request.is_of_our_page() => {
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
