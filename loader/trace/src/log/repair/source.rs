//! Access to the file: reading at any position, decompressing a frame, searching for frames.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow;

use crate::LogError;
use crate::log::ZSTD_MAGIC;
use crate::log::checksums::{self, Checksums};
use crate::log::decompress::FrameDecoder;

/// Callback for a piece of decompressed text, which returns whether to continue.
type EachPiece<'a> = dyn FnMut(&[u8]) -> Result<ControlFlow<()>, LogError> + 'a;

/// Size of the input buffer, bytes.
const INPUT: usize = 64 << 10;
/// Size of the output buffer, bytes: one zstd block.
const OUTPUT: usize = 128 << 10;
/// Upper limit for the size of a frame's first block, bytes.
const BEGINNING: u64 = 256 << 10;

/// Budget for failed decompression: a fixed number of bytes plus a multiple of the position in the file. It bounds the time for hostile
/// files, in which many frames lead into the same damage.
const MAX_WASTED: u64 = 128 << 20;
const WASTED_FACTOR: u64 = 8;

/// Number of bytes that were decompressed without success.
#[derive(Debug, Default)]
struct DecodeBudget(u64);

impl DecodeBudget {
    fn spend(&mut self, bytes: u64) {
        self.0 = self.0.saturating_add(bytes);
    }

    /// Returns false if the budget for this position in the file is exhausted.
    fn is_left(&self, at: u64) -> bool {
        self.0 <= MAX_WASTED.saturating_add(at.saturating_mul(WASTED_FACTOR))
    }
}

/// End of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameEnd {
    /// Complete. The frame ends before this position.
    Complete(u64),
    /// The file ends within the frame.
    Cut,
    /// The frame is damaged at this position.
    Damaged(u64),
    /// The callback stopped.
    Stopped,
}

/// Position at which reading can continue.
#[derive(Debug)]
pub(super) enum Found {
    /// Start of a frame.
    Frame(u64),
    /// Start of checksums, their content and their end.
    Checksums(u64, Checksums, u64),
    Nothing,
}

/// Recording file.
pub(super) struct Source<R> {
    input: R,
    pub size: u64,
    decoder: FrameDecoder,
    compressed: Vec<u8>,
    text: Vec<u8>,
    /// Budget for frames that were not decompressed completely.
    survey_budget: DecodeBudget,
    /// Budget for candidates of a frame start.
    probe_budget: DecodeBudget,
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
            decoder: FrameDecoder::new().map_err(failed)?,
            compressed: vec![0; INPUT],
            text: vec![0; OUTPUT],
            survey_budget: DecodeBudget::default(),
            probe_budget: DecodeBudget::default(),
        })
    }

    /// Seeks to this position.
    pub fn rewind(&mut self, to: u64) -> Result<(), LogError> {
        self.input.seek(SeekFrom::Start(to)).map_err(failed)?;
        Ok(())
    }

    /// Reads at most `most` bytes. Empty at the end of the file.
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

    /// Reads `most` bytes at this position, or fewer at the end of the file.
    pub fn peek(&mut self, at: u64, most: usize) -> Result<Vec<u8>, LogError> {
        self.rewind(at)?;
        let mut bytes = Vec::with_capacity(most);
        let mut input = (&mut self.input).take(most as u64);
        input.read_to_end(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }

    /// Decompresses the frame at `from`, up to position `until`, and passes its text to `each`. Returns the kind of end and the length of
    /// the text.
    pub fn decode(
        &mut self,
        from: u64,
        until: u64,
        each: &mut EachPiece<'_>,
    ) -> Result<(FrameEnd, u64), LogError> {
        self.decoder.begin().map_err(failed)?;
        self.rewind(from)?;
        let (mut at, mut length) = (from, 0);
        loop {
            let count = self.next_bytes(until.saturating_sub(at))?.len();
            if count == 0 {
                return Ok((FrameEnd::Cut, length));
            }
            let mut used = 0;
            while used < count {
                let packed = &self.compressed[used..count];
                let Ok(step) = self.decoder.step(packed, &mut self.text) else {
                    return Ok((FrameEnd::Damaged(at + used as u64), length));
                };
                used += step.taken;
                length += step.made as u64;
                if step.made > 0 && each(&self.text[..step.made])?.is_break() {
                    return Ok((FrameEnd::Stopped, length));
                }
                if step.ends_frame {
                    return Ok((FrameEnd::Complete(at + used as u64), length));
                }
            }
            at += count as u64;
        }
    }

    /// Returns the end of a frame and the length of its text.
    pub fn survey(&mut self, from: u64) -> Result<(FrameEnd, u64), LogError> {
        let size = self.size;
        let (ended, length) = self.decode(from, size, &mut |_| Ok(ControlFlow::Continue(())))?;
        if !matches!(ended, FrameEnd::Complete(_)) {
            self.survey_budget.spend(length);
        }
        Ok((ended, length))
    }

    /// Returns false if the budget for failed frames is exhausted at this position.
    pub fn has_budget(&self, at: u64) -> bool {
        self.survey_budget.is_left(at)
    }

    /// Finds the first position in `from..until` at which reading can continue.
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
            // The magic number can span two blocks.
            at += bytes.len().saturating_sub(3).max(1) as u64;
        }
        Ok(Found::Nothing)
    }

    /// Returns true if decompression can start at this position.
    fn begins_frame(&mut self, at: u64) -> Result<bool, LogError> {
        if !self.probe_budget.is_left(at) {
            return Ok(false);
        }
        let until = self.size.min(at.saturating_add(BEGINNING));
        let (ended, _) = self.decode(at, until, &mut |_| Ok(ControlFlow::Break(())))?;
        if ended != FrameEnd::Stopped {
            self.probe_budget.spend(until - at);
        }
        Ok(ended == FrameEnd::Stopped)
    }

    /// Returns the checksums at this position, if any, and their end.
    pub fn checksums_at(&mut self, at: u64) -> Result<Option<(Checksums, u64)>, LogError> {
        let Some((inside, end)) = self.skippable_at(at)? else {
            return Ok(None);
        };
        let size = end.saturating_sub(inside);
        if size > checksums::MAX_LEN as u64 || !self.is_checksums(at)? {
            return Ok(None);
        }
        let bytes = self.peek(inside, size as usize)?;
        // A frame that extends beyond the end of the file is damaged, even if its content is valid.
        let is_whole = bytes.len() as u64 == size;
        let sums = Checksums::parse(&bytes).filter(|_| is_whole);
        Ok(sums.map(|sums| (sums, end)))
    }

    /// Returns true if checksums begin at this position, intact or not.
    pub fn is_checksums(&mut self, at: u64) -> Result<bool, LogError> {
        Ok(self.peek(at, 4)? == checksums::MAGIC)
    }

    /// Returns the range of the content of a skippable frame at this position, if any.
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

    /// Returns true if the file ends within the first bytes of a frame at this position.
    pub fn has_just_begun(&mut self, at: u64) -> Result<bool, LogError> {
        let rest = self.peek(at, 8)?;
        Ok(rest.len() < 8 && (ZSTD_MAGIC.starts_with(&rest) || is_skippable(&rest)))
    }

    /// Returns true if the magic number of a frame is at this position.
    pub fn is_frame(&mut self, at: u64) -> Result<bool, LogError> {
        Ok(self.peek(at, 4)? == ZSTD_MAGIC)
    }

    /// Returns true if the header of the frame at this position has the checksum flag.
    pub fn has_checksum(&mut self, at: u64) -> Result<bool, LogError> {
        Ok(self.peek(at, 5)?.get(4).is_some_and(|flags| flags & 4 == 4))
    }
}

/// Returns true if these bytes begin a skippable frame. Fewer than four bytes can be a prefix.
fn is_skippable(bytes: &[u8]) -> bool {
    let (first, next) = (bytes.first(), bytes.iter().skip(1));
    let same = next.zip(&checksums::MAGIC[1..]).all(|(a, b)| a == b);
    first.is_some_and(|first| first & 0xF0 == 0x50) && same
}
