//! Decompression of one block at a time, so that all text before a damaged block is returned.

use std::io::{self, BufRead, Read};

use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation as _, OutBuffer};

/// Largest window, as a power of two. The limit bounds the memory. zstd writes at most 128 MiB by default.
const MAX_WINDOW_LOG: u32 = 27;

/// Size of a block header, bytes. The size that zstd requests includes the header of the following block.
const BLOCK_HEADER: usize = 3;

/// Decompressor of frames.
pub(super) struct FrameDecoder {
    decoder: Decoder<'static>,
    /// Bytes to pass to zstd next. Given more, it processes several blocks at once and returns none of them if the last is damaged.
    wanted: usize,
}

/// Result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// Consumed bytes.
    pub taken: usize,
    /// Produced bytes.
    pub made: usize,
    /// True if the frame ends after the consumed bytes.
    pub ends_frame: bool,
}

impl FrameDecoder {
    pub fn new() -> io::Result<Self> {
        let mut decoder = Decoder::new()?;
        decoder.set_parameter(DParameter::WindowLogMax(MAX_WINDOW_LOG))?;
        Ok(Self { decoder, wanted: 1 })
    }

    /// Starts a new frame.
    pub fn begin(&mut self) -> io::Result<()> {
        self.wanted = 1;
        self.decoder.reinit()
    }

    /// Decompresses at most one block of `packed` into `text`.
    pub fn step(&mut self, packed: &[u8], text: &mut [u8]) -> io::Result<Step> {
        let mut input = InBuffer::around(&packed[..packed.len().min(self.wanted)]);
        let mut output = OutBuffer::around(text);
        let hint = self.decoder.run(&mut input, &mut output)?;
        self.wanted = match hint {
            0..=BLOCK_HEADER => hint.max(1),
            _ => hint - BLOCK_HEADER,
        };
        Ok(Step {
            taken: input.pos(),
            made: output.pos(),
            ends_frame: hint == 0,
        })
    }
}

/// Reader of the text of all frames of a file.
pub(super) struct ZstdReader<R> {
    packed: R,
    frame_decoder: FrameDecoder,
    /// True between two frames, where the file may end.
    is_between: bool,
}

impl<R> ZstdReader<R> {
    pub fn new(packed: R) -> io::Result<Self> {
        Ok(Self {
            packed,
            frame_decoder: FrameDecoder::new()?,
            is_between: true,
        })
    }
}

impl<R: BufRead> Read for ZstdReader<R> {
    fn read(&mut self, text: &mut [u8]) -> io::Result<usize> {
        if text.is_empty() {
            return Ok(0);
        }
        loop {
            let packed = self.packed.fill_buf()?;
            // At the end of the input, zstd can still have buffered output.
            let is_end = packed.is_empty();
            if is_end && self.is_between {
                return Ok(0);
            }
            let step = self.frame_decoder.step(packed, text)?;
            self.packed.consume(step.taken);
            self.is_between = step.ends_frame;
            if step.ends_frame {
                self.frame_decoder.begin()?;
            }
            if step.made > 0 {
                return Ok(step.made);
            }
            if is_end && !step.ends_frame {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}
