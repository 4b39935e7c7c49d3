//! Foreign connections to the socket of a recorder.

use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::faults::case::Case;
use crate::faults::place::Place;
use crate::faults::speak::{Speech, notes};

/// Returns the socket of this case's recorder.
fn socket(place: &Place) -> Result<PathBuf> {
    let folders = std::fs::read_dir(place.tmp())?.flatten();
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

fn attempt(place: &Place, count: usize, visit: Visit) -> Result<()> {
    let speech = Speech {
        batches: 0,
        heeds: true,
        ..place.speech()
    };
    let mut record = place.record(&["-o", "run.jsonl"], &speech).start()?;
    record.until("the program yields batches", || {
        notes(&place.notes()).len() >= 20
    })?;
    let path = socket(place)?;
    // The backlog of the socket is limited. The system refuses further connections.
    let mut guests = Vec::new();
    for _ in 0..count {
        let guest = UnixStream::connect(&path).ok().and_then(visit);
        guests.extend(guest);
        std::thread::sleep(Duration::from_millis(if count > 1 { 1 } else { 50 }));
    }
    let before = notes(&place.notes()).len();
    record.until("the program goes on", || {
        notes(&place.notes()).len() >= before + 20
    })?;
    record.signal(libc::SIGINT);
    let ended = record.wait()?;
    drop(guests);
    ended.code(7)?;
    ended.must(
        !ended.err.contains("not all of them"),
        "everything is in the file, but it says that something is missing",
    )?;
    place.whole(&place.at("run.jsonl"), notes(&place.notes()).len() as u64)?;
    place.clean()
}

pub fn cases() -> Vec<Case> {
    let holds = "the program is recorded whole, and nothing else is printed";
    let visits = VISITS.iter().map(|(name, count, visit)| {
        let injected = format!("connections to the socket: {name}");
        let check = move |place: &Place| attempt(place, *count, *visit);
        let case = Case::new("strangers", *name, injected, holds, check);
        case.fast_if(name.contains("token") || name.contains("no end"))
    });
    visits.collect()
}
