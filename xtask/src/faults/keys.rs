//! Presses keys in a window, through a minimal client of the X protocol. Therefore xtask needs no X library.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

/// Core protocol requests, by opcode.
const GET_WINDOW_ATTRIBUTES: u8 = 3;
const GET_GEOMETRY: u8 = 14;
const QUERY_TREE: u8 = 15;
const SET_INPUT_FOCUS: u8 = 42;
const QUERY_EXTENSION: u8 = 98;

/// Request of the extension XTEST that simulates input, and its two kinds of input.
const FAKE_INPUT: u8 = 2;
const KEY_PRESS: u8 = 2;
const KEY_RELEASE: u8 = 3;

/// Keycodes of the usual keyboard.
pub const CONTROL: u8 = 37;
pub const R: u8 = 27;

/// Timeout for an answer of the server.
const PATIENCE: Duration = Duration::from_secs(20);

/// Connection to an X server.
pub struct Keys {
    stream: UnixStream,
    root: u32,
    /// Opcode of the extension XTEST.
    xtest: u8,
}

impl Keys {
    /// Connects to the display `:number`.
    pub fn of(display: &str) -> Result<Self> {
        let path = format!("/tmp/.X11-unix/X{}", display.trim_start_matches(':'));
        let stream = UnixStream::connect(&path).context(path)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut keys = Self {
            stream,
            root: 0,
            xtest: 0,
        };
        keys.begin()?;
        let mut request = vec![QUERY_EXTENSION, 0, 4, 0, 5, 0, 0, 0];
        request.extend(b"XTEST\0\0\0");
        let answer = keys.request_reply(&request)?;
        ensure!(answer[8] == 1, "the X server has no XTEST");
        keys.xtest = answer[9];
        Ok(keys)
    }

    /// Sends the setup request. The answer describes the screens.
    fn begin(&mut self) -> Result<()> {
        // The request is little-endian, for version 11.0, without authorization.
        self.stream
            .write_all(&[b'l', 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0])?;
        let mut head = [0; 8];
        self.stream.read_exact(&mut head)?;
        let mut rest = vec![0; usize::from(u16::from_le_bytes([head[6], head[7]])) * 4];
        self.stream.read_exact(&mut rest)?;
        ensure!(head[0] == 1, "the X server refuses every client");
        let vendor = usize::from(u16::from_le_bytes([rest[16], rest[17]]));
        let formats = usize::from(rest[21]);
        // The description of the first screen begins with its root window.
        self.root = number(&rest, 32 + vendor.next_multiple_of(4) + formats * 8)?;
        Ok(())
    }

    /// Sends a request and reads its reply.
    fn request_reply(&mut self, request: &[u8]) -> Result<Vec<u8>> {
        self.stream.write_all(request)?;
        loop {
            let mut answer = vec![0; 32];
            self.stream.read_exact(&mut answer)?;
            match answer[0] {
                0 => bail!("the X server refused request {}: {answer:?}", request[0]),
                1 => {
                    let more = number(&answer, 4)? as usize * 4;
                    answer.resize(32 + more, 0);
                    self.stream.read_exact(&mut answer[32..])?;
                    return Ok(answer);
                }
                // Events are ignored.
                _ => {}
            }
        }
    }

    /// Sends a request about a window.
    fn about(&mut self, request: u8, window: u32) -> Result<Vec<u8>> {
        let mut bytes = vec![request, 0, 2, 0];
        bytes.extend(window.to_le_bytes());
        self.request_reply(&bytes)
    }

    /// Waits for a visible window and returns the largest one.
    fn window(&mut self) -> Result<u32> {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            let tree = self.about(QUERY_TREE, self.root)?;
            let windows = (32..tree.len()).step_by(4).map(|at| number(&tree, at));
            let mut largest = None;
            for window in windows.collect::<Result<Vec<u32>>>()? {
                // The window may be gone.
                let Ok(attributes) = self.about(GET_WINDOW_ATTRIBUTES, window) else {
                    continue;
                };
                let Ok(geometry) = self.about(GET_GEOMETRY, window) else {
                    continue;
                };
                let side =
                    |at: usize| u32::from(u16::from_le_bytes([geometry[at], geometry[at + 1]]));
                const VIEWABLE: u8 = 2;
                if attributes[26] == VIEWABLE {
                    largest = largest.max(Some((side(16) * side(18), window)));
                }
            }
            if let Some((_, window)) = largest {
                return Ok(window);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        bail!("there is no window to type into")
    }

    /// Presses keys together in the window.
    pub fn press(&mut self, keys: &[u8]) -> Result<()> {
        let window = self.window()?;
        // When the window closes, the focus reverts to none. Time 0 means the server's current time.
        let mut focus = vec![SET_INPUT_FOCUS, 0, 3, 0];
        focus.extend(window.to_le_bytes());
        focus.extend(0u32.to_le_bytes());
        self.stream.write_all(&focus)?;
        let down = keys.iter().map(|key| (KEY_PRESS, *key));
        let up = keys.iter().rev().map(|key| (KEY_RELEASE, *key));
        for (what, key) in down.chain(up) {
            let mut request = vec![self.xtest, FAKE_INPUT, 9, 0, what, key];
            request.resize(36, 0);
            self.stream.write_all(&request)?;
            std::thread::sleep(Duration::from_millis(20));
        }
        // The server processes requests in order, so after this reply all keys are pressed.
        self.about(QUERY_TREE, self.root).map(drop)
    }
}

fn number(bytes: &[u8], at: usize) -> Result<u32> {
    let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
    four.map(u32::from_le_bytes)
        .context("the X server said less than it announced")
}
