//! Subset of HTTP for the page.

use std::io::{self, Read, Write};

use tungstenite::handshake::derive_accept_key;

/// Maximum length of a request, bytes.
const LONGEST: usize = 16 << 10;

/// Maximum number of headers.
const LINES: usize = 64;

/// Request of a browser.
#[derive(Debug, Default)]
pub(super) struct Request {
    path: String,
    host: String,
    origin: Option<String>,
    upgrade: Option<String>,
}

impl Request {
    /// Reads a request. Returns `None` for an invalid or unsupported one.
    pub fn read(stream: &mut impl Read) -> io::Result<Option<Self>> {
        let mut text = Vec::new();
        let mut some = [0; 2048];
        loop {
            let read = stream.read(&mut some)?;
            text.extend_from_slice(some.get(..read).unwrap_or_default());
            if read == 0 || text.len() > LONGEST {
                return Ok(None);
            }
            if text.windows(4).any(|end| end == b"\r\n\r\n") {
                return Ok(Self::parse(&text));
            }
        }
    }

    fn parse(text: &[u8]) -> Option<Self> {
        let mut lines = [httparse::EMPTY_HEADER; LINES];
        let mut parsed = httparse::Request::new(&mut lines);
        if !parsed.parse(text).ok()?.is_complete() || parsed.method != Some("GET") {
            return None;
        }
        let line = |name: &str| {
            let mut lines = parsed.headers.iter();
            let line = lines.find(|line| line.name.eq_ignore_ascii_case(name))?;
            std::str::from_utf8(line.value).ok().map(str::to_owned)
        };
        let is_upgrade = line("upgrade").is_some_and(|to| to.eq_ignore_ascii_case("websocket"))
            && line("sec-websocket-version").as_deref() == Some("13");
        Some(Self {
            path: parsed.path?.to_owned(),
            host: line("host")?,
            origin: line("origin"),
            upgrade: line("sec-websocket-key").filter(|_| is_upgrade),
        })
    }

    /// Returns true if the `Host` header names this host. This check prevents DNS rebinding: a foreign page whose name resolves to this
    /// host sends its own name.
    pub fn is_local_host(&self) -> bool {
        let name = self.host.rsplit_once(':').map_or(&*self.host, |(n, _)| n);
        matches!(name, "localhost" | "127.0.0.1")
    }

    /// Returns true if the `Origin` header is this server, not another site.
    pub fn is_same_origin(&self) -> bool {
        let ours = format!("http://{}", self.host);
        self.origin.as_deref() == Some(&ours)
    }

    /// Returns the path after the token, or `None` without the token.
    pub fn path_below(&self, token: &str) -> Option<&str> {
        let path = self.path.split('?').next().unwrap_or_default();
        let (given, rest) = path.strip_prefix('/')?.split_once('/')?;
        is_same(given.as_bytes(), token.as_bytes()).then_some(rest)
    }

    /// Returns the offset up to which the page has the recording. Returns `None` for a new page.
    pub fn from(&self) -> Option<i64> {
        let (_, query) = self.path.split_once('?')?;
        query.strip_prefix("from=")?.parse().ok()
    }

    /// Returns the `Sec-WebSocket-Accept` value for a WebSocket request.
    pub fn upgrade(&self) -> Option<String> {
        let key = self.upgrade.as_ref()?;
        Some(derive_accept_key(key.as_bytes()))
    }
}

/// Compares in constant time.
fn is_same(a: &[u8], b: &[u8]) -> bool {
    let pairs = a.iter().zip(b);
    a.len() == b.len() && pairs.fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

/// Response to a browser.
pub(super) enum Response<'a> {
    Page(&'a [u8]),
    /// Page that another page may show in a frame.
    Framed(&'a [u8]),
    Bytes(&'a [u8]),
    Upgrade(String),
    Bad,
    Forbidden,
    NotFound,
}

impl Response<'_> {
    pub fn write(self, stream: &mut impl Write) -> io::Result<()> {
        let frames = match self {
            Self::Framed(_) => "",
            _ => "X-Frame-Options: DENY\r\n",
        };
        let (status, kind, body): (_, _, &[u8]) = match self {
            Self::Page(page) | Self::Framed(page) => ("200 OK", "text/html; charset=utf-8", page),
            Self::Bytes(bytes) => ("200 OK", "application/octet-stream", bytes),
            Self::Bad => ("400 Bad Request", "text/plain", b"Bad request\n"),
            Self::Forbidden => ("403 Forbidden", "text/plain", b"Forbidden\n"),
            Self::NotFound => (
                "404 Not Found",
                "text/plain",
                b"Not found: open the link that Loadscope has printed\n",
            ),
            Self::Upgrade(accept) => {
                return write!(
                    stream,
                    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
                );
            }
        };
        let length = body.len();
        write!(
            stream,
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\nCache-Control: no-store\r\n\
             X-Content-Type-Options: nosniff\r\n{frames}Referrer-Policy: no-referrer\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\n\r\n"
        )?;
        stream.write_all(body)?;
        stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(lines: &str) -> Option<Request> {
        let text = lines.replace('\n', "\r\n") + "\r\n\r\n";
        Request::read(&mut text.as_bytes()).expect("it is in memory")
    }

    #[test]
    fn requests_without_token_or_local_host_are_detected() {
        let asked = request("GET /abc/recording?from=12 HTTP/1.1\nHost: localhost:7777").unwrap();
        assert_eq!(asked.path_below("abc"), Some("recording"));
        assert_eq!((asked.path_below("abd"), asked.from()), (None, Some(12)));
        assert_eq!(asked.path_below("abcd"), None);
        assert!(asked.is_local_host() && !asked.is_same_origin());
        let other = request("GET /abc/ HTTP/1.1\nHost: evil.example:7777").unwrap();
        assert!(!other.is_local_host());
        assert!(request("POST /abc/ HTTP/1.1\nHost: localhost").is_none());
        assert!(request("nonsense").is_none());
        let long = format!("GET /{} HTTP/1.1\nHost: localhost", "a".repeat(LONGEST));
        assert!(request(&long).is_none());
    }

    #[test]
    fn a_page_of_another_origin_gets_no_socket() {
        let lines = "GET /t/live HTTP/1.1\nHost: localhost:1\nUpgrade: websocket\nSec-WebSocket-Version: 13\n\
                     Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\nOrigin: http://";
        let ours = request(&format!("{lines}localhost:1")).unwrap();
        assert!(ours.is_same_origin());
        // Example of RFC 6455.
        let accept = ours.upgrade();
        assert_eq!(accept.as_deref(), Some("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
        let theirs = request(&format!("{lines}evil.example")).unwrap();
        assert!(!theirs.is_same_origin());
    }
}
