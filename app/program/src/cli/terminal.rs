//! All writes to standard output and standard error. Names and sentences come from untrusted recordings and programs, so control characters
//! are escaped. Either stream may be closed, full, or a pipe without a reader. The state of a stream must not end or delay a recorded
//! program.

use serde_json::Value;
use std::fmt::Display;
use std::io::{self, BufWriter, ErrorKind, IsTerminal as _, Write, stderr, stdout};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossbeam_channel::{Sender, bounded};

use loadscope_insight::format::printable;
use loadscope_words::{cause, explain, say, strip_os_error_codes};

/// Timeout for writing a message. After the first timeout, no message is waited for.
const WRITE_TIMEOUT: Duration = Duration::from_secs(1);

/// Capacity of the message queue.
const QUEUE_CAPACITY: usize = 256;

/// Prints a line. A reader that closes the pipe, such as `| head`, is not an error.
///
/// # Errors
/// If standard output cannot be written.
pub(super) fn print_line(text: &str) -> anyhow::Result<()> {
    print_bytes(format!("{}\n", printable(text)).as_bytes())
}

/// Prints a report. A log or a pipe gets plain spaces, because people search for `8.56 s`.
///
/// # Errors
/// If standard output cannot be written.
pub(super) fn print_report(text: &str) -> anyhow::Result<()> {
    match stdout().is_terminal() {
        true => print_line(text),
        false => print_line(&text.replace(SPACES, " ")),
    }
}

/// Typographic spaces between a number and its unit.
const SPACES: [char; 3] = ['\u{2009}', '\u{202f}', '\u{a0}'];

/// Prints a JSON value on one line. Sentences in it have plain spaces instead of typographic ones.
///
/// # Errors
/// If standard output cannot be written.
pub(super) fn print_json_line(mut value: Value) -> anyhow::Result<()> {
    plain_spaces(&mut value, false);
    print_line(&value.to_string())
}

/// Replaces typographic spaces in sentences only, because a file name can contain such a space.
fn plain_spaces(value: &mut Value, is_sentence: bool) {
    const SENTENCES: [&str; 11] = [
        "text",
        "verdict",
        "verdicts",
        "consequences",
        "notes",
        "straggler",
        "remedy",
        "outlook",
        "assumptions",
        "headline",
        "doubt",
    ];
    match value {
        Value::String(text) if is_sentence => {
            *text = text.replace(SPACES, " ");
        }
        Value::Array(all) => all.iter_mut().for_each(|v| plain_spaces(v, is_sentence)),
        Value::Object(map) => map
            .iter_mut()
            .for_each(|(key, v)| plain_spaces(v, SENTENCES.contains(&key.as_str()))),
        _ => {}
    }
}

/// Prints bytes unchanged.
///
/// # Errors
/// If standard output cannot be written.
pub(super) fn print_bytes(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(unwritable(&e)),
        _ => Ok(()),
    }
}

/// Returns the error of a failed write to standard output.
pub(super) fn unwritable(error: &io::Error) -> anyhow::Error {
    anyhow::anyhow!(say!(
        "cannot write to standard output: {}. Redirect it to another file.",
        cause(error)
    ))
}

/// Streams the output of `write`. A reader that closes the pipe ends it without an error. The output must not contain untrusted text.
///
/// # Errors
/// If `write` fails, or standard output cannot be written.
pub(super) fn print_streaming(
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, stdout().lock());
    let written = write(&mut out).and_then(|()| Ok(out.flush()?));
    // The buffer of a failed write is discarded.
    let _ = out.into_parts();
    match written.map_err(|e| e.downcast::<io::Error>()) {
        Ok(()) => Ok(()),
        Err(Ok(e)) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(Ok(e)) => Err(unwritable(&e)),
        Err(Err(other)) => Err(other),
    }
}

/// Returns an error with its causes in plain words.
pub fn error_sentence(error: &anyhow::Error) -> String {
    let said = error
        .chain()
        .map(|cause| match cause.downcast_ref::<io::Error>() {
            Some(error) => explain(error),
            None => strip_os_error_codes(&cause.to_string()),
        });
    said.collect::<Vec<_>>().join(": ")
}

/// Writes a message to standard error. Waits until it is written, but not for a reader that has stopped reading. Errors are ignored.
pub fn print_message(what: impl Display) {
    send(format!("loadscope: {}\n", printable(&what.to_string())));
}

/// Writes an error about the arguments to standard error. Its text has its own lines and layout.
pub(super) fn print_usage_error(text: &str) {
    send(printable(text).into_owned());
}

/// Sends a message to the writer thread.
fn send(text: String) {
    /// True after a message has timed out.
    static IS_BLOCKED: AtomicBool = AtomicBool::new(false);
    let Some(writer) = writer() else {
        return write(&text);
    };
    let (done, written) = bounded(1);
    // A full queue drops the message, because its reader has stopped reading.
    if writer.try_send((text, done)).is_ok()
        && !IS_BLOCKED.load(Ordering::Relaxed)
        && let Err(crossbeam_channel::RecvTimeoutError::Timeout) =
            written.recv_timeout(WRITE_TIMEOUT)
    {
        IS_BLOCKED.store(true, Ordering::Relaxed);
    }
}

/// Message, and a sender that is dropped after the message is written.
type Message = (String, Sender<()>);

/// Returns the queue of the thread that writes to standard error, or `None` if the thread could not start.
fn writer() -> Option<&'static Sender<Message>> {
    static WRITER: OnceLock<Option<Sender<Message>>> = OnceLock::new();
    let start = || {
        let (sender, messages) = bounded::<Message>(QUEUE_CAPACITY);
        let thread = std::thread::Builder::new().name("messages".to_owned());
        let started = thread.spawn(move || {
            for (text, done) in messages {
                write(&text);
                drop(done);
            }
        });
        started.is_ok().then_some(sender)
    };
    WRITER.get_or_init(start).as_ref()
}

fn write(text: &str) {
    // There is no stream left for reporting this error.
    let _ = stderr().write_all(text.as_bytes());
}
