//! Checksums after each compressed frame. With them, [`super::repair`] knows which lines of a damaged frame are intact. Other readers skip
//! them, as the zstd format requires.

use std::mem::take;

use crc32fast::Hasher;

/// Magic number of the skippable zstd frames that contain checksums.
pub(super) const MAGIC: [u8; 4] = [0x5B, 0x2A, 0x4D, 0x18];

/// Tag that distinguishes Loadscope's skippable frames from others.
const TAG: &[u8; 4] = b"LSC1";

/// Size of the text with one checksum, bytes.
pub(super) const CHUNK: usize = 16 << 10;

#[cfg(not(target_family = "wasm"))]
/// Maximum size, bytes. Longer skippable frames are from other programs, because a frame ends after 8 MiB of text and a line.
pub(super) const MAX_LEN: usize = 32 << 10;

/// Size of the fixed fields, bytes: tag, chunk length, first line, number of lines, length of the text.
const FIXED: usize = 4 + 4 + 3 * 8;

/// Checksums of a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Checksums {
    /// Number of the first line in the recording, from 1.
    pub first_line: u64,
    /// Number of lines that begin in the frame.
    pub lines: u64,
    /// Length of the text, bytes.
    pub length: u64,
    /// CRC-32 of each [`CHUNK`] of the text. The last chunk can be shorter than the others.
    pub chunks: Vec<u32>,
}

impl Checksums {
    /// Returns the whole skippable frame.
    pub fn to_bytes(&self) -> Vec<u8> {
        let size = FIXED + 4 * self.chunks.len() + 4;
        let mut bytes = Vec::with_capacity(8 + size);
        bytes.extend(MAGIC);
        bytes.extend((size as u32).to_le_bytes());
        bytes.extend(TAG);
        bytes.extend((CHUNK as u32).to_le_bytes());
        for number in [self.first_line, self.lines, self.length] {
            bytes.extend(number.to_le_bytes());
        }
        for sum in &self.chunks {
            bytes.extend(sum.to_le_bytes());
        }
        let own = crc32fast::hash(&bytes[8..]);
        bytes.extend(own.to_le_bytes());
        bytes
    }

    #[cfg(not(target_family = "wasm"))]
    /// Parses the content of a skippable frame. Returns `None` if it is damaged or from another program.
    pub fn parse(inside: &[u8]) -> Option<Self> {
        let (inside, own) = inside.split_last_chunk::<4>()?;
        if inside.len() < FIXED || crc32fast::hash(inside) != u32::from_le_bytes(*own) {
            return None;
        }
        let (fixed, sums) = inside.split_at(FIXED);
        let chunk = fixed.get(4..8)?;
        if !fixed.starts_with(TAG) || chunk != (CHUNK as u32).to_le_bytes() {
            return None;
        }
        let (numbers, _) = fixed[8..].as_chunks::<8>();
        let [first_line, lines, length] = numbers else {
            return None;
        };
        let [first_line, lines, length] =
            [first_line, lines, length].map(|n| u64::from_le_bytes(*n));
        let (sums, rest) = sums.as_chunks::<4>();
        let is_whole = rest.is_empty() && sums.len() as u64 == length.div_ceil(CHUNK as u64);
        is_whole.then(|| Self {
            first_line,
            lines,
            length,
            chunks: sums.iter().map(|sum| u32::from_le_bytes(*sum)).collect(),
        })
    }
}

/// Incremental checksums of a frame during writing.
#[derive(Debug, Default)]
pub(super) struct ChecksumBuilder {
    done: Checksums,
    hasher: Hasher,
    in_chunk: usize,
}

impl ChecksumBuilder {
    /// Counts a line that begins in the frame.
    pub fn begin_line(&mut self) {
        self.done.lines += 1;
    }

    /// Adds text of lines, with line ends.
    pub fn update(&mut self, mut text: &[u8]) {
        self.done.length += text.len() as u64;
        while !text.is_empty() {
            let (now, later) = text.split_at(text.len().min(CHUNK - self.in_chunk));
            self.hasher.update(now);
            self.in_chunk += now.len();
            if self.in_chunk == CHUNK {
                self.end_chunk();
            }
            text = later;
        }
    }

    fn end_chunk(&mut self) {
        self.done.chunks.push(take(&mut self.hasher).finalize());
        self.in_chunk = 0;
    }

    /// Returns the length of the text so far.
    pub fn length(&self) -> u64 {
        self.done.length
    }

    /// Ends the frame and returns its checksums. `first_line` is the number of its first line.
    pub fn finish(&mut self, first_line: u64) -> Checksums {
        if self.in_chunk > 0 {
            self.end_chunk();
        }
        Checksums {
            first_line,
            ..take(&mut self.done)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_round_trip_and_detect_damage() {
        let mut builder = ChecksumBuilder::default();
        let text = b"0123456789abcde\n".repeat(CHUNK / 8);
        for line in text.chunks(1600) {
            builder.begin_line();
            builder.update(line);
        }
        builder.update(b"\n");
        let sums = builder.finish(17);
        assert_eq!((sums.first_line, sums.length), (17, 2 * CHUNK as u64 + 1));
        let of_chunks: Vec<u32> = text
            .chunks(CHUNK)
            .chain([&b"\n"[..]])
            .map(crc32fast::hash)
            .collect();
        assert_eq!(sums.chunks, of_chunks);
        let bytes = sums.to_bytes();
        assert_eq!(Checksums::parse(&bytes[8..]), Some(sums));
        for at in 8..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            assert_eq!(Checksums::parse(&damaged[8..]), None, "byte {at}");
            assert_eq!(Checksums::parse(&bytes[8..at]), None);
        }
        // The next frame starts with empty checksums.
        builder.update(b"x\n");
        assert_eq!(builder.finish(18).chunks, [crc32fast::hash(b"x\n")]);
    }
}
