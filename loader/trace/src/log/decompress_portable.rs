//! Decompression without the C library, for browsers. It is slower than the C library.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Largest window, bytes. The limit bounds the memory.
const MAX_WINDOW: u64 = 1 << 27;

/// Text that is decompressed at a time, bytes.
const OUTPUT_BUFFER: usize = 64 << 10;

/// Reader of the text of all frames of a file.
pub(super) struct ZstdReader<R> {
    packed: R,
    decoder: FrameDecoder,
    /// True between two frames, where the file may end.
    is_between: bool,
    /// Error that is reported after the remaining text.
    failed: Option<io::Error>,
}

impl<R: BufRead> ZstdReader<R> {
    pub fn new(packed: R) -> io::Result<Self> {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(MAX_WINDOW);
        Ok(Self {
            packed,
            decoder,
            is_between: true,
            failed: None,
        })
    }

    /// Begins the next frame that is not skippable. Returns false at the end of the file.
    fn begin(&mut self) -> io::Result<bool> {
        loop {
            if self.packed.fill_buf()?.is_empty() {
                return Ok(false);
            }
            let length = match self.decoder.reset(&mut self.packed) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => u64::from(length),
                Err(e) => return Err(io::Error::other(e)),
            };
            let skipped = io::copy(&mut self.packed.by_ref().take(length), &mut io::sink())?;
            if skipped < length {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// Decompresses more text of the frame. An error is reported after the text before it.
    fn decompress(&mut self) {
        while !self.decoder.is_finished() && self.decoder.can_collect() < OUTPUT_BUFFER {
            let some = BlockDecodingStrategy::UptoBytes(OUTPUT_BUFFER);
            if let Err(e) = self.decoder.decode_blocks(&mut self.packed, some) {
                self.failed = Some(io::Error::other(e));
                return;
            }
        }
    }
}

impl<R: BufRead> Read for ZstdReader<R> {
    fn read(&mut self, text: &mut [u8]) -> io::Result<usize> {
        if text.is_empty() {
            return Ok(0);
        }
        loop {
            if self.is_between {
                if !self.begin()? {
                    return Ok(0);
                }
                self.is_between = false;
            }
            if self.failed.is_none() {
                self.decompress();
            }
            let made = self.decoder.read(text)?;
            if made > 0 {
                return Ok(made);
            }
            if let Some(failed) = self.failed.take() {
                return Err(failed);
            }
            self.is_between = self.decoder.is_finished();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::log::frames::FrameWriter;

    /// Returns a recording of several frames, compressed by the C library, and its text.
    fn packed() -> (Vec<u8>, Vec<u8>) {
        let mut frames = FrameWriter::new(Vec::new()).expect("a vector");
        frames.max_frame = 40_000;
        let mut text = Vec::new();
        for k in 0..9_000u32 {
            let line = format!("line {k} of {}\n", k.wrapping_mul(2_654_435_761));
            frames.write_line(line.as_bytes()).expect("a vector");
            text.extend_from_slice(line.as_bytes());
        }
        let mut out = frames.finish().expect("a vector");
        out.flush().expect("a vector");
        (out.into_inner().expect("a vector"), text)
    }

    fn read(packed: &[u8]) -> (Vec<u8>, io::Result<()>) {
        let mut text = Vec::new();
        let mut unpacked = ZstdReader::new(packed).expect("nothing was read yet");
        let result = unpacked.read_to_end(&mut text).map(drop);
        (text, result)
    }

    #[test]
    fn frames_of_the_c_library_are_read() {
        let (packed, text) = packed();
        let (read, result) = read(&packed);
        result.expect("it is sound");
        assert!(read == text);
    }

    #[test]
    fn text_before_a_cut_is_read() {
        let (packed, text) = packed();
        for cut in (0..packed.len()).step_by(packed.len() / 37) {
            let (read, _) = read(&packed[..cut]);
            assert!(text.starts_with(&read), "cut at {cut}");
        }
        let (most, result) = read(&packed[..packed.len() - packed.len() / 10]);
        assert!(result.is_err() && most.len() > text.len() / 2);
    }
}
