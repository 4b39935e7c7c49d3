//! Recovery of the intact lines of a damaged recording. Repair needs files, which a browser does not have.
//!
//! A plain recording is read line by line. In a compressed one, frames that cannot be decompressed are skipped. The checksums after a
//! damaged frame show which of its lines are intact.

use std::io::{Read, Seek};

use crate::LogError;
use loadscope_words::say;

mod compressed_reader;
mod damage;
mod line_filter;
mod source;
mod splitter;

pub use damage::{Damage, Gap};
pub use line_filter::KeptLine;

use compressed_reader::CompressedReader;
use line_filter::{LineFilter, Trust};
use source::{Found, Source};
use splitter::{LinePart, Splitter};

/// Number of bytes that are searched for a frame if a file does not begin with one.
const HEAD: u64 = 1 << 20;

/// Reads a damaged recording and passes every intact line to `keep`, the header first. A lost header is replaced. The kept lines form a
/// valid recording.
///
/// Some damage is not detectable: a changed digit in a plain recording, or in compressed data without a matching checksum
/// ([`KeptLine::is_certain`]).
///
/// # Errors
/// The input contains no line of a recording or has another version, or reading or `keep` fails.
pub fn repair<R: Read + Seek>(
    input: R,
    mut keep: impl FnMut(&KeptLine<'_>) -> Result<(), LogError>,
) -> Result<Damage, LogError> {
    let mut source = Source::new(input)?;
    // Only compressed recordings have checksums, which identify them even if the first frame is damaged.
    let may_be_packed = source.is_frame(0)?
        || matches!(
            source.find(0, HEAD)?,
            Found::Frame(_) | Found::Checksums(..)
        );
    for packed in [may_be_packed, !may_be_packed] {
        let mut line_filter = LineFilter::new(&mut keep, packed);
        if may_be_packed && !packed {
            // Uncompressed lines in a compressed recording are not trusted, because no checksum covers them.
            line_filter.trust = Trust::Damaged;
        }
        match packed {
            true => CompressedReader::new(&mut source, &mut line_filter).read()?,
            false => plain(&mut source, &mut line_filter)?,
        }
        if line_filter.has_any() {
            return Ok(line_filter.finish());
        }
    }
    Err(LogError::NotALog {
        why: say!("it contains no line of a recording").to_owned(),
    })
}

/// Reads an uncompressed recording.
fn plain<R: Read + Seek>(
    source: &mut Source<R>,
    line_filter: &mut LineFilter<'_>,
) -> Result<(), LogError> {
    let mut splitter = Splitter::default();
    let mut each = |piece: LinePart<'_>| line_filter.filter_line(piece, None);
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
