//! Decompressing a block at a time, so that everything before a damage comes out.

use std::io::{self, BufRead, Read};

use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation as _, OutBuffer};

/// How far back a compressed file may refer, as a power of two: it costs as much memory. 128 MiB is what zstd writes at most
/// unless another limit is given.
const MAX_WINDOW_LOG: u32 = 27;

/// What zstd asks for includes the header of the block after the one it reads, bytes.
const BLOCK_HEADER: usize = 3;

/// Decompresses frames.
pub(super) struct Unpacker {
    decoder: Decoder<'static>,
    /// Bytes that are given to zstd next. With more it goes through several blocks at once, and tells nothing of them if the last
    /// one is damaged.
    wanted: usize,
}

/// What a step came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// Bytes that were taken.
    pub taken: usize,
    /// Bytes that came out.
    pub made: usize,
    /// The frame ends behind the bytes that were taken.
    pub ends_frame: bool,
}

impl Unpacker {
    pub fn new() -> io::Result<Self> {
        let mut decoder = Decoder::new()?;
        decoder.set_parameter(DParameter::WindowLogMax(MAX_WINDOW_LOG))?;
        Ok(Self { decoder, wanted: 1 })
    }

    /// Forgets the frame that was begun.
    pub fn begin(&mut self) -> io::Result<()> {
        self.wanted = 1;
        self.decoder.reinit()
    }

    /// Takes some of `packed`, at most a block, and puts what comes out into `text`.
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

/// Reads the text of all frames of a file.
pub(super) struct Unpacked<R> {
    packed: R,
    unpacker: Unpacker,
    /// Between two frames, where the file may end.
    is_between: bool,
}

impl<R> Unpacked<R> {
    pub fn new(packed: R) -> io::Result<Self> {
        Ok(Self {
            packed,
            unpacker: Unpacker::new()?,
            is_between: true,
        })
    }
}

impl<R: BufRead> Read for Unpacked<R> {
    fn read(&mut self, text: &mut [u8]) -> io::Result<usize> {
        if text.is_empty() {
            return Ok(0);
        }
        loop {
            let packed = self.packed.fill_buf()?;
            // Without more to read, what zstd holds back still comes out.
            let is_end = packed.is_empty();
            if is_end && self.is_between {
                return Ok(0);
            }
            let step = self.unpacker.step(packed, text)?;
            self.packed.consume(step.taken);
            self.is_between = step.ends_frame;
            if step.ends_frame {
                self.unpacker.begin()?;
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
