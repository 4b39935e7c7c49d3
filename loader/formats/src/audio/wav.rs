//! Unusual headers of WAV files, from pipes, long recordings or big-endian programs.

use std::ops::Range;

/// Smallest size that means an unknown size. Programs that write to a pipe round 2 or 4 GiB down to whole frames.
const UNKNOWN: u64 = 0x7fff_0000;
/// Chunks that may follow empty data.
const CHUNKS: [&[u8; 4]; 10] = [
    b"LIST", b"fact", b"cue ", b"bext", b"smpl", b"PEAK", b"JUNK", b"id3 ", b"ID3 ", b"iXML",
];
/// Format tag of formats whose real tag is in the extension.
const EXTENSIBLE: u16 = 0xfffe;

#[derive(Clone, Debug)]
pub(super) struct Wav {
    magic: [u8; 4],
    format: Range<usize>,
    /// Offset of the samples.
    data: usize,
    /// Size of the samples, bytes: the declared size, or the actual size if none is declared.
    pub(super) size: u64,
    /// True if the decoder supports the header unchanged.
    is_standard: bool,
    /// Offset of the RF64 chunk with 64-bit sizes.
    sizes: Option<usize>,
    /// Bytes after a header that declares no samples. A pipe or a crash left the declared size at 0.
    pub(super) left_open: usize,
}

impl Wav {
    /// Reads the header. Returns `None` if the file is not WAV or has no data chunk.
    pub(super) fn read(file: &[u8]) -> Option<Self> {
        let magic = *file.first_chunk()?;
        let known = matches!(&magic, b"RIFF" | b"RIFX" | b"RF64" | b"BW64");
        if !known || file.get(8..12)? != b"WAVE" {
            return None;
        }
        let mut wav = Self {
            magic,
            format: 0..0,
            data: 0,
            size: 0,
            is_standard: magic == *b"RIFF",
            sizes: None,
            left_open: 0,
        };
        let mut at = 12;
        loop {
            let id: [u8; 4] = *file.get(at..)?.first_chunk()?;
            let size = wav.long(file, at + 4)?;
            let body = at + 8;
            match &id {
                b"data" => return wav.with_data(file, body, size),
                b"fmt " => wav.format = body..body.checked_add(usize::try_from(size).ok()?)?,
                b"ds64" => wav.sizes = Some(at),
                _ => {}
            }
            at = body.checked_add(usize::try_from(size + size % 2).ok()?)?;
        }
    }

    fn with_data(mut self, file: &[u8], data: usize, size: u64) -> Option<Self> {
        let there = file.len().saturating_sub(data) as u64;
        let is_64 = matches!(&self.magic, b"RF64" | b"BW64");
        self.data = data;
        self.size = size;
        if let (true, 0xffff_ffff, Some(sizes)) = (is_64, size, self.sizes) {
            let long = file.get(sizes + 16..)?.first_chunk()?;
            self.size = u64::from_le_bytes(*long);
        }
        let next = file.get(data..).unwrap_or_default();
        let is_empty = CHUNKS.iter().any(|chunk| next.starts_with(*chunk));
        let is_unknown = match self.size {
            // libsndfile also treats such a header as that of an unclosed file.
            0 => !is_empty && self.long(file, 4) == Some(8),
            size => size >= UNKNOWN && size > there,
        };
        if self.size == 0 && !is_empty && !is_unknown {
            self.left_open = there as usize;
        }
        if is_unknown {
            let block = u64::from(self.short(file, self.format.start + 12)?).max(1);
            self.size = there - there % block;
            self.is_standard = false;
        }
        Some(self)
    }

    fn short(&self, file: &[u8], at: usize) -> Option<u16> {
        let bytes = *file.get(at..)?.first_chunk()?;
        Some(match &self.magic {
            b"RIFX" => u16::from_be_bytes(bytes),
            _ => u16::from_le_bytes(bytes),
        })
    }

    fn long(&self, file: &[u8], at: usize) -> Option<u64> {
        let bytes = *file.get(at..)?.first_chunk()?;
        let size = match &self.magic {
            b"RIFX" => u32::from_be_bytes(bytes),
            _ => u32::from_le_bytes(bytes),
        };
        Some(size.into())
    }

    /// Returns the format tag of the coding.
    pub(super) fn tag(&self, file: &[u8]) -> Option<u16> {
        match self.short(file, self.format.start)? {
            EXTENSIBLE => self.short(file, self.format.start + 24),
            tag => Some(tag),
        }
    }

    /// Returns the number of declared frames. Returns `None` if the coding has frames of several samples or the header is damaged.
    pub(super) fn frames(&self, file: &[u8]) -> Option<u64> {
        const SAMPLES: [u16; 4] = [1, 3, 6, 7];
        let block = self.short(file, self.format.start + 12)?;
        let is_plain = SAMPLES.contains(&self.tag(file)?) && self.left_open == 0;
        (is_plain && block > 0).then(|| self.size / u64::from(block))
    }

    /// Returns the same sound as a standard little-endian file.
    pub(super) fn normalized(&self, mut file: Vec<u8>) -> Vec<u8> {
        if self.is_standard && !self.is_companded(&file) {
            return file;
        }
        if self.magic == *b"RIFX" || self.is_companded(&file) {
            return self.rebuild(&file).unwrap_or(file);
        }
        let size = usize::try_from(self.size).unwrap_or(usize::MAX);
        file.truncate(self.data.saturating_add(size));
        put(&mut file, 0, b"RIFF");
        let riff = u32::try_from(file.len().saturating_sub(8)).unwrap_or(u32::MAX);
        put(&mut file, 4, &riff.to_le_bytes());
        let size = u32::try_from(self.size).unwrap_or(u32::MAX);
        put(&mut file, self.data - 4, &size.to_le_bytes());
        if let Some(sizes) = self.sizes {
            put(&mut file, sizes, b"JUNK");
        }
        file
    }

    /// Returns true for A-law and µ-law in an extensible format, which the decoder does not support.
    fn is_companded(&self, file: &[u8]) -> bool {
        self.short(file, self.format.start) == Some(EXTENSIBLE)
            && matches!(self.tag(file), Some(6 | 7))
    }

    /// Builds a little-endian file of format and samples.
    fn rebuild(&self, file: &[u8]) -> Option<Vec<u8>> {
        let is_swapped = self.magic == *b"RIFX";
        let mut format = file.get(self.format.clone())?.to_vec();
        if is_swapped {
            // Tag, channels, rate, bytes per second, block, bits. Then the extension with a GUID.
            let mut rest = format.as_mut_slice();
            for width in [2, 2, 4, 4, 2, 2, 2, 2, 4, 4, 2, 2] {
                let Some((field, behind)) = rest.split_at_mut_checked(width) else {
                    break;
                };
                field.reverse();
                rest = behind;
            }
        }
        if self.is_companded(file) {
            put(&mut format, 0, &self.tag(file)?.to_le_bytes());
            format.truncate(16);
            format.extend([0, 0]);
        }
        let size = usize::try_from(self.size).ok()?;
        let behind = file.get(self.data..)?;
        let mut data = behind.get(..size).unwrap_or(behind).to_vec();
        let width = usize::from(self.short(file, self.format.start + 14)?).div_ceil(8);
        if is_swapped {
            data.chunks_exact_mut(width.max(1))
                .for_each(<[u8]>::reverse);
        }
        let mut out = b"RIFF\0\0\0\0WAVEfmt ".to_vec();
        out.extend(u32::try_from(format.len()).ok()?.to_le_bytes());
        out.extend(format);
        out.extend(b"data");
        // A truncated file still declares its full size.
        out.extend(u32::try_from(self.size).ok()?.to_le_bytes());
        out.extend(data);
        let riff = u32::try_from(out.len() - 8).ok()?;
        put(&mut out, 4, &riff.to_le_bytes());
        Some(out)
    }
}

fn put(file: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(place) = file.get_mut(at..at + bytes.len()) {
        place.copy_from_slice(bytes);
    }
}
