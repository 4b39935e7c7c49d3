//! Keeping the sound lines of a damaged recording.
//!
//! A plain recording is read line by line. In a compressed one, frames that cannot be decompressed are left out, and reading goes
//! on with the next one; the checksums behind a frame say which lines of a damaged one are still those that were written.

use std::io::{Read, Seek};

use crate::LogError;
use loadscope_words::say;

mod damage;
mod judge;
mod packed;
mod source;
mod splitter;

pub use damage::{Damage, Gap};
pub use judge::KeptLine;

use judge::{Judge, Trust};
use packed::Packed;
use source::{Found, Source};
use splitter::{Piece, Splitter};

/// Of a file that does not begin as a recording, so much is looked at to find out whether it is a compressed one.
const HEAD: u64 = 1 << 20;

/// Reads a recording, whatever happened to it, and hands every sound line over, the header first: its own or, if that is lost, a
/// new one. What they make is a sound recording.
///
/// Only what cannot be told from a sound line is kept wrongly: a changed digit in a plain recording, or in compressed data that
/// no checksum confirms ([`KeptLine::is_certain`]).
///
/// # Errors
/// If there is no line of a recording in it, if it is of another version, or if reading fails or `keep` does.
pub fn repair<R: Read + Seek>(
    input: R,
    mut keep: impl FnMut(&KeptLine<'_>) -> Result<(), LogError>,
) -> Result<Damage, LogError> {
    let mut source = Source::new(input)?;
    // Checksums stand behind compressed frames only, also where the first frame cannot be known any more.
    let may_be_packed = source.is_frame(0)?
        || matches!(
            source.find(0, HEAD)?,
            Found::Frame(_) | Found::Checksums(..)
        );
    for packed in [may_be_packed, !may_be_packed] {
        let mut judge = Judge::new(&mut keep, packed);
        if may_be_packed && !packed {
            // What lies uncompressed in a compressed recording looks like a line, and nothing confirms it.
            judge.trust = Trust::Damaged;
        }
        match packed {
            true => Packed::new(&mut source, &mut judge).read()?,
            false => plain(&mut source, &mut judge)?,
        }
        if judge.has_any() {
            return Ok(judge.finish());
        }
    }
    Err(LogError::NotALog {
        why: say!("it contains no line of a recording").to_owned(),
    })
}

/// Reads a recording that is not compressed.
fn plain<R: Read + Seek>(source: &mut Source<R>, judge: &mut Judge<'_>) -> Result<(), LogError> {
    let mut splitter = Splitter::default();
    let mut each = |piece: Piece<'_>| judge.piece(piece, None);
    source.rewind(0)?;
    loop {
        let bytes = source.next_bytes(u64::MAX)?;
        if bytes.is_empty() {
            return splitter.finish(&mut each);
        }
        splitter.feed(bytes, &mut each)?;
    }
}

#[cfg(test)]
mod tests;
