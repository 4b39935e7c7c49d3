//! Sends a recording to a page as it grows. The page says how far it has come, and is not sent much more than that.

use std::io;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Error, Message, WebSocket};

use loadscope_words::say;

use super::spool::{Next, Spool};

/// How often it is looked whether there is more.
const EVERY: Duration = Duration::from_millis(10);

/// What may be under way to a page that has not said yet that it has come, bytes.
const AHEAD: i64 = 4 << 20;

/// A page that says nothing of what was sent for so long is dropped. It can come again, and gets the rest.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a page says is short.
const SHORT: usize = 1 << 10;

/// Sends the recording from a place on, until it has ended or the page is gone. A page without a place is new.
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
        // What is known of the end comes first: what was written before it is sent.
        let end = spool.end();
        if sent.saturating_sub(arrived) < AHEAD {
            match spool.read(sent)? {
                Next::Piece(piece) => {
                    if sent == arrived {
                        heard = Instant::now();
                    }
                    sent += piece.len() as i64;
                    socket.send(Message::Binary(piece.into())).map_err(of)?;
                    continue_reading(&mut socket, &mut arrived, &mut heard)?;
                    continue;
                }
                Next::Nothing => {}
                Next::Gone => {
                    let why = say!("The page missed too much of the program. Reload it.");
                    socket.send(Message::Text(why.into())).map_err(of)?;
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
            socket.send(Message::Text(why.into())).map_err(of)?;
        }
        if said_end && arrived >= sent {
            let _ = socket.close(None);
            let _ = socket.flush();
            return Ok(());
        }
        if arrived < sent && heard.elapsed() > patience {
            return Err(io::ErrorKind::TimedOut.into());
        }
        // Waits, if nothing comes.
        continue_reading(&mut socket, &mut arrived, &mut heard)?;
    }
}

/// Sends a summary of the removed parts, after the place of its first byte: `@-120`. Returns the place after the summary, and the place
/// that the page has reached.
fn begin(socket: &mut WebSocket<TcpStream>, spool: &Spool) -> io::Result<(i64, i64)> {
    let (start, head) = spool.beginning();
    let place = start - head.len() as i64;
    if !head.is_empty() {
        socket
            .send(Message::Text(format!("@{place}").into()))
            .map_err(of)?;
        socket
            .send(Message::Binary(head.to_vec().into()))
            .map_err(of)?;
    }
    Ok((start, place))
}

/// Takes in what the page says: how far it has come.
fn continue_reading(
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
        Err(e) => Err(of(e)),
    }
}

fn of(error: Error) -> io::Error {
    match error {
        Error::Io(e) => e,
        other => io::Error::other(other),
    }
}

/// True for what a socket says when nothing came in time.
fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}
