//! All writes to standard output and standard error. Names and sentences come from untrusted recordings and programs, so control
//! characters are escaped. Both streams may be closed, full, or a pipe without a reader. None of that may end or delay a recorded
//! program.

use serde_json::Value;
use std::fmt::Display;
use std::io::{self, BufWriter, ErrorKind, IsTerminal as _, Write, stderr, stdout};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossbeam_channel::{Sender, bounded};

use loadscope_insight::format::printable;
use loadscope_words::{explain, say, without_numbers};

/// So long a message may take to be written. After the first that takes longer, no other is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// Messages that may wait to be written.
const WAITING: usize = 256;

/// Prints, and takes a reader that has seen enough (`| head`) for a success.
///
/// # Errors
/// If standard output cannot be written.
pub(super) fn say(text: &str) -> anyhow::Result<()> {
    print(format!("{}\n", printable(text)).as_bytes())
}

/// Prints a report. In a log or a pipe it has plain spaces, because people search for `8.56 s`.
///
/// # Errors
/// If standard output cannot be written.
pub(super) fn say_report(text: &str) -> anyhow::Result<()> {
    match stdout().is_terminal() {
        true => say(text),
        false => say(&text.replace(SPACES, " ")),
    }
}

/// Spaces between a number and its unit, for people.
const SPACES: [char; 3] = ['\u{2009}', '\u{202f}', '\u{a0}'];

/// Prints a JSON value on one line. Sentences in it have plain spaces: thin ones are for people.
///
/// # Errors
/// If standard output cannot be written.
pub(super) fn say_json(mut value: Value) -> anyhow::Result<()> {
    plain_spaces(&mut value, false);
    say(&value.to_string())
}

/// Puts plain spaces into sentences: a file may have a thin space in its name.
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

/// Prints bytes as they are.
///
/// # Errors
/// If standard output cannot be written.
pub(super) fn print(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(anyhow::anyhow!(say!(
            "cannot write to standard output: {e}",
            e = explain(&e)
        ))),
        _ => Ok(()),
    }
}

/// Prints what `write` writes, as it is made; a reader that has seen enough ends it, and is a success. It holds no text of
/// strangers.
///
/// # Errors
/// If `write` fails, or standard output cannot be written.
pub(super) fn say_as_made(
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, stdout().lock());
    let written = write(&mut out).and_then(|()| Ok(out.flush()?));
    // The buffer of a failed write is discarded.
    let _ = out.into_parts();
    match written.map_err(|e| e.downcast::<io::Error>()) {
        Ok(()) => Ok(()),
        Err(Ok(e)) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(Ok(e)) => Err(anyhow::anyhow!(say!(
            "cannot write to standard output: {e}",
            e = explain(&e)
        ))),
        Err(Err(other)) => Err(other),
    }
}

/// An error with its causes, in plain words.
pub fn sentence(error: &anyhow::Error) -> String {
    let said = error
        .chain()
        .map(|cause| match cause.downcast_ref::<io::Error>() {
            Some(error) => explain(error),
            None => without_numbers(&cause.to_string()),
        });
    said.collect::<Vec<_>>().join(": ")
}

/// Writes a message to standard error. Waits for it to be written, but not for a reader that has stopped reading; an error
/// changes nothing.
pub fn complain(what: impl Display) {
    send(format!("loadscope: {}\n", printable(&what.to_string())));
}

/// The same for what is wrong with the arguments, which has lines and a layout of its own.
pub(super) fn refuse(text: &str) {
    send(printable(text).into_owned());
}

/// Has a message written.
fn send(text: String) {
    /// True once a message has taken too long.
    static STUCK: AtomicBool = AtomicBool::new(false);
    let Some(writer) = writer() else {
        return write(&text);
    };
    let (done, written) = bounded(1);
    // A message that there is no room for is dropped: its reader does not read.
    if writer.try_send((text, done)).is_ok()
        && !STUCK.load(Ordering::Relaxed)
        && let Err(crossbeam_channel::RecvTimeoutError::Timeout) = written.recv_timeout(PATIENCE)
    {
        STUCK.store(true, Ordering::Relaxed);
    }
}

/// A message, and what is closed once it has been written.
type Message = (String, Sender<()>);

/// The thread that writes to standard error; `None` if the system has none.
fn writer() -> Option<&'static Sender<Message>> {
    static WRITER: OnceLock<Option<Sender<Message>>> = OnceLock::new();
    let start = || {
        let (sender, messages) = bounded::<Message>(WAITING);
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
    // There is no place left to report an error to.
    let _ = stderr().write_all(text.as_bytes());
}
