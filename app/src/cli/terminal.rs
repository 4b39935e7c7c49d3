//! What is said on a terminal. Names and sentences come from recordings and programs of others: they may say anything, and do nothing.

use std::fmt::Display;
use std::io::{ErrorKind, Write as _, stdout};

use crate::format::printable;

/// Prints, and takes a reader that has seen enough (`| head`) for a success.
pub(super) fn say(text: &str) -> anyhow::Result<()> {
    match writeln!(stdout(), "{}", printable(text)) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(e.into()),
        _ => Ok(()),
    }
}

/// Tells on standard error what is wrong.
pub fn complain(what: impl Display) {
    eprintln!("loadscope: {}", printable(&what.to_string()));
}
