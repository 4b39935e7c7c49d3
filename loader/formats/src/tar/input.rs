//! Bytes of an archive, plain or decompressed on the fly.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use loadscope_files::open_regular;
use loadscope_words::{cause, say};

use crate::error::{Fault, FormatError};

/// Size of a read, bytes.
const BUFFER: usize = 1 << 18;
/// Maximum initial buffer for a file of a compressed archive, bytes.
const MAX_PREALLOCATED: u64 = 1 << 20;

enum Source {
    Plain(BufReader<File>),
    Gzip(Box<BufReader<MultiGzDecoder<BufReader<File>>>>),
}

/// Sequential reader of an archive's bytes.
pub(super) struct Input {
    source: Source,
    position: u64,
    /// Size of the archive if it is not compressed, bytes.
    len: Option<u64>,
}

impl Input {
    pub(super) fn open(path: &Path) -> Result<Self, FormatError> {
        let file = open_regular(path).map_err(|e| FormatError::reading(path, &e))?;
        let len = file.metadata().map(|about| about.len()).ok();
        let mut plain = BufReader::with_capacity(BUFFER, file);
        // The read of the first block returns the error again.
        let is_gzip = plain
            .fill_buf()
            .is_ok_and(|begin| begin.starts_with(&[0x1f, 0x8b]));
        let (source, len) = match is_gzip {
            true => {
                let unpacked = BufReader::with_capacity(BUFFER, MultiGzDecoder::new(plain));
                (Source::Gzip(Box::new(unpacked)), None)
            }
            false => (Source::Plain(plain), len),
        };
        Ok(Self {
            source,
            position: 0,
            len,
        })
    }

    /// Returns true if the archive is not compressed.
    pub(super) fn is_plain(&self) -> bool {
        matches!(self.source, Source::Plain(_))
    }

    /// Returns the number of bytes read.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Fills `block` as far as possible. Returns the number of bytes.
    pub(super) fn fill(&mut self, block: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while let Some(rest) = block.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            let read = match &mut self.source {
                Source::Plain(plain) => plain.read(rest),
                Source::Gzip(gzip) => gzip.read(rest),
            };
            match read {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        self.position += filled as u64;
        Ok(filled)
    }

    /// Reads the next `size` bytes, or fewer at the end. Memory grows with the actual bytes, not with `size`.
    pub(super) fn take(&mut self, size: u64) -> io::Result<Vec<u8>> {
        let left = self
            .len
            .map_or(MAX_PREALLOCATED, |len| len.saturating_sub(self.position));
        let mut bytes = Vec::with_capacity(usize::try_from(size.min(left)).unwrap_or_default());
        match &mut self.source {
            Source::Plain(plain) => plain.take(size).read_to_end(&mut bytes)?,
            Source::Gzip(gzip) => gzip.take(size).read_to_end(&mut bytes)?,
        };
        self.position += bytes.len() as u64;
        Ok(bytes)
    }

    /// Skips `size` bytes, or fewer at the end. Returns the number of skipped bytes.
    pub(super) fn skip(&mut self, size: u64) -> io::Result<u64> {
        let skipped = match &mut self.source {
            Source::Plain(plain) => {
                let left = self
                    .len
                    .map_or(size, |len| len.saturating_sub(self.position));
                let skipped = size.min(left);
                match i64::try_from(skipped) {
                    Ok(offset) => plain.seek_relative(offset)?,
                    Err(_) => drop(plain.seek(SeekFrom::Start(self.position + skipped))?),
                }
                skipped
            }
            Source::Gzip(gzip) => io::copy(&mut gzip.take(size), &mut io::sink())?,
        };
        self.position += skipped;
        Ok(skipped)
    }
}

/// Converts a read error to a kind and a reason.
pub(super) fn broken(error: &io::Error) -> (Fault, String) {
    match error.kind() {
        ErrorKind::UnexpectedEof => (
            Fault::Damaged,
            say!("its compressed bytes end in the middle").to_owned(),
        ),
        ErrorKind::InvalidInput | ErrorKind::InvalidData => (
            Fault::Damaged,
            say!("its compressed bytes are damaged").to_owned(),
        ),
        _ => (Fault::Unreadable, cause(error)),
    }
}

/// Detects an unsupported compression by its magic number.
pub(super) fn compression(begin: &[u8]) -> Option<&'static str> {
    let kinds: [(&[u8], &str); 4] = [
        (b"BZh", "bzip2"),
        (b"\xfd7zXZ\0", "xz"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"\x04\x22\x4d\x18", "lz4"),
    ];
    kinds
        .iter()
        .find(|(magic, _)| begin.starts_with(magic))
        .map(|(_, name)| *name)
}
