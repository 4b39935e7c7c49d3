//! Foreign connections to the socket of a recorder.

use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::faults::case::Case;
use crate::faults::sandbox::Sandbox;

/// Returns the socket of this case's recorder.
fn socket(sandbox: &Sandbox) -> Result<PathBuf> {
    let folders = std::fs::read_dir(sandbox.tmp())?.flatten();
    let mut sockets = folders.map(|entry| entry.path().join("socket"));
    sockets.find(|path| path.exists()).context("a socket")
}

type Visit = fn(UnixStream) -> Option<UnixStream>;

const VISITS: &[(&str, usize, Visit)] = &[
    ("one without the token", 1, |mut socket| {
        let _ = socket.write_all(b"{\"loadscope_stream\":1,\"token\":\"guessed\",\"pid\":1,\"monotonic\":1,\"realtime\":1}\n");
        Some(socket)
    }),
    ("one that speaks something else", 1, |mut socket| {
        let _ = socket.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
        Some(socket)
    }),
    ("one that comes and goes", 1, |_| None),
    ("one whose line has no end", 1, |mut socket| {
        let _ = socket.set_nonblocking(true);
        let _ = socket.write_all(&vec![b'x'; 200_000]);
        Some(socket)
    }),
    ("300 that are silent", 300, Some),
];

fn attempt(sandbox: &Sandbox, count: usize, visit: Visit) -> Result<()> {
    let fake_program = sandbox.endless();
    let mut record = sandbox
        .record(&["-o", "run.jsonl"], &fake_program)
        .start()?;
    record.until_sent(20)?;
    let path = socket(sandbox)?;
    // The backlog of the socket is limited. The system refuses further connections.
    let mut guests = Vec::new();
    for _ in 0..count {
        let guest = UnixStream::connect(&path).ok().and_then(visit);
        guests.extend(guest);
        std::thread::sleep(Duration::from_millis(if count > 1 { 1 } else { 50 }));
    }
    let before = sandbox.sent();
    record.until_sent(before + 20)?;
    record.signal(libc::SIGINT);
    let ended = record.wait()?;
    drop(guests);
    ended.code(7)?;
    ended.require(
        !ended.err.contains("not all of them"),
        "everything is in the file, but it says that something is missing",
    )?;
    sandbox.check_whole(&sandbox.at("run.jsonl"), sandbox.sent())?;
    sandbox.check_no_leftovers()
}

pub fn cases() -> Vec<Case> {
    let holds = "the program is recorded whole, and nothing else is printed";
    let visits = VISITS.iter().map(|(name, count, visit)| {
        let injected = format!("connections to the socket: {name}");
        let check = move |sandbox: &Sandbox| attempt(sandbox, *count, *visit);
        let case = Case::new("strangers", *name, injected, holds, check);
        case.fast_if(name.contains("token") || name.contains("no end"))
    });
    visits.collect()
}
