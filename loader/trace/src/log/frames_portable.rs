//! Compression without the C library, for browsers. The files are larger. Tests on other systems read them with the C library.

use std::io::{self, BufWriter, Write};

use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::checksums::ChecksumBuilder;

/// Minimum text of a frame, bytes. A frame ends with the line that reaches it.
const FRAME: u64 = 8 << 20;

/// Writer of compressed frames.
pub(super) struct FrameWriter<W: Write> {
    out: BufWriter<W>,
    /// Text of the current frame.
    text: Vec<u8>,
    /// Checksums of the current frame.
    sums: ChecksumBuilder,
    /// Number of the current frame's first line.
    first_line: u64,
    next_line: u64,
    /// Text after which a frame ends, bytes.
    pub max_frame: u64,
}

impl<W: Write> FrameWriter<W> {
    pub fn new(writer: W) -> io::Result<Self> {
        Ok(Self {
            out: BufWriter::new(writer),
            text: Vec::new(),
            sums: ChecksumBuilder::default(),
            first_line: 1,
            next_line: 1,
            max_frame: FRAME,
        })
    }

    /// Writes a line, with its line end.
    pub fn write_line(&mut self, line: &[u8]) -> io::Result<()> {
        self.text.extend_from_slice(line);
        self.sums.begin_line();
        self.sums.update(line);
        self.next_line += 1;
        match self.sums.length() >= self.max_frame {
            true => self.end_frame(),
            false => Ok(()),
        }
    }

    /// Ends the frame, so that all lines so far are readable in the file.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.sums.length() > 0 {
            self.end_frame()?;
        }
        self.out.flush()
    }

    fn end_frame(&mut self) -> io::Result<()> {
        let packed = compress_to_vec(&self.text[..], CompressionLevel::Fastest);
        self.text.clear();
        self.out.write_all(&packed)?;
        let sums = self.sums.finish(self.first_line);
        self.first_line = self.next_line;
        self.out.write_all(&sums.to_bytes())
    }

    /// Ends the last frame.
    pub fn finish(mut self) -> io::Result<BufWriter<W>> {
        if self.sums.length() > 0 {
            self.end_frame()?;
        }
        Ok(self.out)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;
    use crate::log::decompress::ZstdReader;

    #[test]
    fn the_c_library_reads_portable_frames() {
        let mut frames = FrameWriter::new(Vec::new()).expect("a vector");
        frames.max_frame = 20_000;
        let mut text = Vec::new();
        for k in 0..5_000u32 {
            let line = format!("{{\"line\":{k}}}\n");
            frames.write_line(line.as_bytes()).expect("a vector");
            text.extend_from_slice(line.as_bytes());
        }
        frames.flush().expect("a vector");
        frames.write_line(b"last\n").expect("a vector");
        text.extend_from_slice(b"last\n");
        let packed = frames.finish().expect("a vector");
        let packed = packed.into_inner().expect("a vector");
        let mut read = Vec::new();
        let mut unpacked = ZstdReader::new(&packed[..]).expect("nothing was read yet");
        unpacked.read_to_end(&mut read).expect("it is sound");
        assert!(read == text);
    }
}
