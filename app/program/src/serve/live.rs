//! Sends a growing recording to a page. The page acknowledges the received offset, and at most [`AHEAD`] bytes are unacknowledged.

use std::io;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Error, Message, WebSocket};

use loadscope_words::say;

use super::spool::{Next, Spool};

/// Polling interval for new data.
const EVERY: Duration = Duration::from_millis(10);

/// Limit of unacknowledged bytes.
const AHEAD: i64 = 4 << 20;

/// Timeout for an acknowledgement. A disconnected page can reconnect, and receives the rest.
const PATIENCE: Duration = Duration::from_secs(30);

/// Maximum size of a message from a page, bytes.
const SHORT: usize = 1 << 10;

/// Sends the recording from an offset until it has ended or the page is gone. A page without an offset is new.
pub(super) fn send(stream: TcpStream, spool: &Spool, from: Option<i64>) -> io::Result<()> {
    send_within(stream, spool, from, PATIENCE)
}

pub(super) fn send_within(
    stream: TcpStream,
    spool: &Spool,
    from: Option<i64>,
    patience: Duration,
) -> io::Result<()> {
    stream.set_read_timeout(Some(EVERY))?;
    stream.set_write_timeout(Some(patience))?;
    let config = WebSocketConfig::default()
        .max_message_size(Some(SHORT))
        .max_frame_size(Some(SHORT));
    let mut socket = WebSocket::from_raw_socket(stream, Role::Server, Some(config));
    let (mut sent, mut arrived) = match from {
        Some(from) => (from, from),
        None => begin(&mut socket, spool)?,
    };
    let mut heard = Instant::now();
    let mut said_end = false;
    loop {
        // The end is read first, so that everything written before it is sent.
        let end = spool.end();
        if sent.saturating_sub(arrived) < AHEAD {
            match spool.read(sent)? {
                Next::Piece(piece) => {
                    if sent == arrived {
                        heard = Instant::now();
                    }
                    sent += piece.len() as i64;
                    socket
                        .send(Message::Binary(piece.into()))
                        .map_err(to_io_error)?;
                    read_offset(&mut socket, &mut arrived, &mut heard)?;
                    continue;
                }
                Next::Nothing => {}
                Next::Gone => {
                    let why = say!("The page missed too much of the program. Reload it.");
                    socket
                        .send(Message::Text(why.into()))
                        .map_err(to_io_error)?;
                    let _ = socket.close(None);
                    let _ = socket.flush();
                    return Ok(());
                }
            }
        }
        if let Some((length, why)) = end
            && sent >= length
            && !said_end
        {
            said_end = true;
            heard = Instant::now();
            socket
                .send(Message::Text(why.into()))
                .map_err(to_io_error)?;
        }
        if said_end && arrived >= sent {
            let _ = socket.close(None);
            let _ = socket.flush();
            return Ok(());
        }
        if arrived < sent && heard.elapsed() > patience {
            return Err(io::ErrorKind::TimedOut.into());
        }
        // This read blocks for up to [`EVERY`].
        read_offset(&mut socket, &mut arrived, &mut heard)?;
    }
}

/// Sends a summary of the removed parts, after the offset of its first byte: `@-120`. Returns the offset after the summary, and the offset
/// that the page has reached.
fn begin(socket: &mut WebSocket<TcpStream>, spool: &Spool) -> io::Result<(i64, i64)> {
    let (start, head) = spool.beginning();
    let place = start - head.len() as i64;
    if !head.is_empty() {
        socket
            .send(Message::Text(format!("@{place}").into()))
            .map_err(to_io_error)?;
        socket
            .send(Message::Binary(head.to_vec().into()))
            .map_err(to_io_error)?;
    }
    Ok((start, place))
}

/// Reads a message from the page: the offset that it has reached.
fn read_offset(
    socket: &mut WebSocket<TcpStream>,
    arrived: &mut i64,
    heard: &mut Instant,
) -> io::Result<()> {
    match socket.read() {
        Ok(Message::Text(text)) => {
            if let Ok(so_far) = text.as_str().parse::<i64>() {
                *arrived = so_far.max(*arrived);
                *heard = Instant::now();
            }
            Ok(())
        }
        Ok(Message::Close(_)) => Err(io::ErrorKind::ConnectionReset.into()),
        Ok(_) => Ok(()),
        Err(Error::Io(e)) if is_timeout(&e) => Ok(()),
        Err(e) => Err(to_io_error(e)),
    }
}

fn to_io_error(error: Error) -> io::Error {
    match error {
        Error::Io(e) => e,
        other => io::Error::other(other),
    }
}

/// Returns true for the errors of a read that timed out.
fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}
