//! What stands behind each compressed frame: checksums of its text, so that [`super::repair`] knows which lines of a damaged
//! frame are still those that were written. All other readers skip it, as the format of zstd asks them to.

use std::mem::take;

use crc32fast::Hasher;

/// The first bytes: a skippable frame of zstd's.
pub(super) const MAGIC: [u8; 4] = [0x5B, 0x2A, 0x4D, 0x18];

/// Skippable frames of others do not begin so.
const TAG: &[u8; 4] = b"LSC1";

/// Text that has one checksum, bytes.
pub(super) const CHUNK: usize = 16 << 10;

#[cfg(not(target_family = "wasm"))]
/// Longer ones are not ours: a frame ends after 8 MiB of text and a line.
pub(super) const LONGEST: usize = 32 << 10;

/// Bytes of the numbers: tag, length of a chunk, first line, number of lines, length of the text.
const FIXED: usize = 4 + 4 + 3 * 8;

/// The checksums of a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Checksums {
    /// Number of its first line in the recording, from 1.
    pub first_line: u64,
    /// How many lines begin in it.
    pub lines: u64,
    /// Length of its text, bytes.
    pub length: u64,
    /// CRC-32 of each [`CHUNK`] of the text; the last one may be shorter.
    pub chunks: Vec<u32>,
}

impl Checksums {
    /// The whole skippable frame.
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
    /// Reads what is inside of a skippable frame; `None` if it is not ours, or damaged.
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

/// Takes the text of a frame as it is written.
#[derive(Debug, Default)]
pub(super) struct Summing {
    done: Checksums,
    hasher: Hasher,
    in_chunk: usize,
}

impl Summing {
    /// One more line begins in the frame.
    pub fn begin_line(&mut self) {
        self.done.lines += 1;
    }

    /// Text of lines, with their ends.
    pub fn text(&mut self, mut text: &[u8]) {
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

    /// Length of the text so far.
    pub fn length(&self) -> u64 {
        self.done.length
    }

    /// The checksums of the frame that ends here, whose first line is the one with this number.
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
    fn they_are_read_as_they_were_written_and_damage_is_seen() {
        let mut summing = Summing::default();
        let text = b"0123456789abcde\n".repeat(CHUNK / 8);
        for line in text.chunks(1600) {
            summing.begin_line();
            summing.text(line);
        }
        summing.text(b"\n");
        let sums = summing.finish(17);
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
        // The next frame begins anew.
        summing.text(b"x\n");
        assert_eq!(summing.finish(18).chunks, [crc32fast::hash(b"x\n")]);
    }
}
