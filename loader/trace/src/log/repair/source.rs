//! The file: read from anywhere, decompressed a frame at a time, and searched for frames.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow;

use crate::LogError;
use crate::log::ZSTD_MAGIC;
use crate::log::checksums::{self, Checksums};
use crate::log::unpack::Unpacker;

/// Takes a piece of decompressed text, and says whether to go on.
type EachPiece<'a> = dyn FnMut(&[u8]) -> Result<ControlFlow<()>, LogError> + 'a;

/// Read from the file at a time, bytes.
const INPUT: usize = 64 << 10;
/// Decompressed at a time, bytes: a whole block of zstd's.
const OUTPUT: usize = 128 << 10;
/// The first block of a frame is in so many bytes.
const BEGINNING: u64 = 256 << 10;

/// What is done in vain may be so many bytes, and so many times what was gone through of the file. A file may be made so that
/// many frames begin in it and each ends in a damage far behind the others' beginnings.
const VAIN: u64 = 128 << 20;
const VAIN_TIMES: u64 = 8;

/// Counts what was done in vain, bytes.
#[derive(Debug, Default)]
struct Patience(u64);

impl Patience {
    fn spend(&mut self, bytes: u64) {
        self.0 = self.0.saturating_add(bytes);
    }

    /// False once it is too much on the way to this place of the file.
    fn lasts(&self, at: u64) -> bool {
        self.0 <= VAIN.saturating_add(at.saturating_mul(VAIN_TIMES))
    }
}

/// How a frame ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// As it should, before this byte of the file.
    Sound(u64),
    /// The file ends in it.
    Cut,
    /// It cannot be decompressed any further; so much of the file was looked at.
    Damaged(u64),
    /// No more of it was wanted.
    Stopped,
}

/// Where reading can go on.
#[derive(Debug)]
pub(super) enum Found {
    /// A frame begins here.
    Frame(u64),
    /// The checksums of a frame stand here, until the second place.
    Checksums(u64, Checksums, u64),
    Nothing,
}

/// A file.
pub(super) struct Source<R> {
    input: R,
    pub size: u64,
    unpacker: Unpacker,
    compressed: Vec<u8>,
    text: Vec<u8>,
    /// With frames that were not decompressed to their end.
    surveys: Patience,
    /// With what looked like the beginning of a frame.
    looks: Patience,
}

fn failed(cause: io::Error) -> LogError {
    LogError::Io {
        doing: "read",
        lines: 0,
        cause,
    }
}

impl<R: Read + Seek> Source<R> {
    pub fn new(mut input: R) -> Result<Self, LogError> {
        let size = input.seek(SeekFrom::End(0)).map_err(failed)?;
        Ok(Self {
            input,
            size,
            unpacker: Unpacker::new().map_err(failed)?,
            compressed: vec![0; INPUT],
            text: vec![0; OUTPUT],
            surveys: Patience::default(),
            looks: Patience::default(),
        })
    }

    /// Reads on from here.
    pub fn rewind(&mut self, to: u64) -> Result<(), LogError> {
        self.input.seek(SeekFrom::Start(to)).map_err(failed)?;
        Ok(())
    }

    /// The next bytes of the file, `most` of them or fewer; none at its end.
    pub fn next_bytes(&mut self, most: u64) -> Result<&[u8], LogError> {
        let most = usize::try_from(most).unwrap_or(INPUT).min(INPUT);
        let count = loop {
            match self.input.read(&mut self.compressed[..most]) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                read => break read.map_err(failed)?,
            }
        };
        Ok(&self.compressed[..count])
    }

    /// Up to `most` bytes from here; fewer only at the end of the file.
    pub fn peek(&mut self, at: u64, most: usize) -> Result<Vec<u8>, LogError> {
        self.rewind(at)?;
        let mut bytes = Vec::with_capacity(most);
        let mut input = (&mut self.input).take(most as u64);
        input.read_to_end(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }

    /// Decompresses the frame that begins at `from`, from the bytes before `until`, and hands its text over. How it ends, and how
    /// long the text was.
    pub fn decode(
        &mut self,
        from: u64,
        until: u64,
        each: &mut EachPiece<'_>,
    ) -> Result<(Ended, u64), LogError> {
        self.unpacker.begin().map_err(failed)?;
        self.rewind(from)?;
        let (mut at, mut length) = (from, 0);
        loop {
            let count = self.next_bytes(until.saturating_sub(at))?.len();
            if count == 0 {
                return Ok((Ended::Cut, length));
            }
            let mut used = 0;
            while used < count {
                let packed = &self.compressed[used..count];
                let Ok(step) = self.unpacker.step(packed, &mut self.text) else {
                    return Ok((Ended::Damaged(at + used as u64), length));
                };
                used += step.taken;
                length += step.made as u64;
                if step.made > 0 && each(&self.text[..step.made])?.is_break() {
                    return Ok((Ended::Stopped, length));
                }
                if step.ends_frame {
                    return Ok((Ended::Sound(at + used as u64), length));
                }
            }
            at += count as u64;
        }
    }

    /// Finds where a frame ends, and how long its text is.
    pub fn survey(&mut self, from: u64) -> Result<(Ended, u64), LogError> {
        let size = self.size;
        let (ended, length) = self.decode(from, size, &mut |_| Ok(ControlFlow::Continue(())))?;
        if !matches!(ended, Ended::Sound(_)) {
            self.surveys.spend(length);
        }
        Ok((ended, length))
    }

    /// False once too much was decompressed in vain on the way to this place.
    pub fn has_patience(&self, at: u64) -> bool {
        self.surveys.lasts(at)
    }

    /// The first place from `from` on, before `until`, where reading can go on.
    pub fn find(&mut self, from: u64, until: u64) -> Result<Found, LogError> {
        let mut at = from;
        while at < until.min(self.size) {
            let bytes = self.peek(at, INPUT)?;
            let candidates = bytes
                .windows(4)
                .enumerate()
                .filter(|(_, four)| *four == ZSTD_MAGIC || *four == checksums::MAGIC);
            for (k, four) in candidates {
                let place = at + k as u64;
                if place >= until {
                    break;
                }
                if four == checksums::MAGIC {
                    if let Some((sums, end)) = self.checksums_at(place)? {
                        return Ok(Found::Checksums(place, sums, end));
                    }
                } else if self.begins_frame(place)? {
                    return Ok(Found::Frame(place));
                }
            }
            // The sign may lie across the end.
            at += bytes.len().saturating_sub(3).max(1) as u64;
        }
        Ok(Found::Nothing)
    }

    /// True if text can be decompressed from here.
    fn begins_frame(&mut self, at: u64) -> Result<bool, LogError> {
        if !self.looks.lasts(at) {
            return Ok(false);
        }
        let until = self.size.min(at.saturating_add(BEGINNING));
        let (ended, _) = self.decode(at, until, &mut |_| Ok(ControlFlow::Break(())))?;
        if ended != Ended::Stopped {
            self.looks.spend(until - at);
        }
        Ok(ended == Ended::Stopped)
    }

    /// The checksums that stand here, and where they end.
    pub fn checksums_at(&mut self, at: u64) -> Result<Option<(Checksums, u64)>, LogError> {
        let Some((inside, end)) = self.skippable_at(at)? else {
            return Ok(None);
        };
        let size = end.saturating_sub(inside);
        if size > checksums::LONGEST as u64 || !self.is_checksums(at)? {
            return Ok(None);
        }
        let bytes = self.peek(inside, size as usize)?;
        // A frame that says that it is longer than the file is damaged, be its inside what it may.
        let is_whole = bytes.len() as u64 == size;
        let sums = Checksums::parse(&bytes).filter(|_| is_whole);
        Ok(sums.map(|sums| (sums, end)))
    }

    /// True if checksums begin here, or something that begins as they do.
    pub fn is_checksums(&mut self, at: u64) -> Result<bool, LogError> {
        Ok(self.peek(at, 4)? == checksums::MAGIC)
    }

    /// Where the inside of a skippable frame begins and ends, if there is one here.
    pub fn skippable_at(&mut self, at: u64) -> Result<Option<(u64, u64)>, LogError> {
        let head = self.peek(at, 8)?;
        let Some((magic, size)) = head.split_first_chunk::<4>() else {
            return Ok(None);
        };
        let Ok(size) = <[u8; 4]>::try_from(size) else {
            return Ok(None);
        };
        let is_skippable = is_skippable(magic);
        let inside = at + 8;
        Ok(is_skippable.then(|| (inside, inside + u64::from(u32::from_le_bytes(size)))))
    }

    /// True if the file ends here, in the first bytes of a frame.
    pub fn has_just_begun(&mut self, at: u64) -> Result<bool, LogError> {
        let rest = self.peek(at, 8)?;
        Ok(rest.len() < 8 && (ZSTD_MAGIC.starts_with(&rest) || is_skippable(&rest)))
    }

    /// True if a frame begins here.
    pub fn is_frame(&mut self, at: u64) -> Result<bool, LogError> {
        Ok(self.peek(at, 4)? == ZSTD_MAGIC)
    }

    /// True if the frame that begins here says of itself that a checksum ends it.
    pub fn has_checksum(&mut self, at: u64) -> Result<bool, LogError> {
        Ok(self.peek(at, 5)?.get(4).is_some_and(|flags| flags & 4 == 4))
    }
}

/// True of bytes that a skippable frame begins with; of fewer than four, that it may begin with.
fn is_skippable(bytes: &[u8]) -> bool {
    let (first, next) = (bytes.first(), bytes.iter().skip(1));
    let same = next.zip(&checksums::MAGIC[1..]).all(|(a, b)| a == b);
    first.is_some_and(|first| first & 0xF0 == 0x50) && same
}
