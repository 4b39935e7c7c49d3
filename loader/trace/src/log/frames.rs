//! The compressed form: frames of zstd one after the other, so that damage to one leaves the others readable.

use std::io::{self, BufWriter, Write};

use zstd::stream::raw::{CParameter, Encoder, InBuffer, Operation as _, OutBuffer};

use super::checksums::Summing;

/// Text of a frame, bytes; the line that reaches it is its last. Shorter frames make the file longer, because each begins
/// without what was before it.
const FRAME: u64 = 8 << 20;

/// The level of compression.
const LEVEL: i32 = 3;

/// Compressed bytes that are made at a time.
const ROOM: usize = 32 << 10;

/// Writes lines in compressed frames.
pub(super) struct Frames<W: Write> {
    out: BufWriter<W>,
    encoder: Encoder<'static>,
    /// What was compressed and is not yet written.
    compressed: Vec<u8>,
    /// Of the frame that is written.
    sums: Summing,
    /// Number of its first line.
    first_line: u64,
    /// Number of the next line.
    next_line: u64,
    /// A frame ends when it has so much text.
    pub most: u64,
}

impl<W: Write> Frames<W> {
    pub fn new(writer: W) -> io::Result<Self> {
        let mut encoder = Encoder::new(LEVEL)?;
        encoder.set_parameter(CParameter::ChecksumFlag(true))?;
        Ok(Self {
            out: BufWriter::new(writer),
            encoder,
            compressed: Vec::with_capacity(ROOM),
            sums: Summing::default(),
            first_line: 1,
            next_line: 1,
            most: FRAME,
        })
    }

    /// Writes a line with its end.
    pub fn line(&mut self, line: &[u8]) -> io::Result<()> {
        let mut input = InBuffer::around(line);
        while input.pos() < line.len() {
            self.compressed.clear();
            let mut output = OutBuffer::around(&mut self.compressed);
            self.encoder.run(&mut input, &mut output)?;
            self.out.write_all(&self.compressed)?;
        }
        self.sums.line(line);
        self.next_line += 1;
        match self.sums.length() >= self.most {
            true => self.end_frame(),
            false => Ok(()),
        }
    }

    /// Writes what was made readable so far.
    pub fn flush(&mut self) -> io::Result<()> {
        // A frame that has not begun has nothing to tell.
        if self.sums.length() > 0 {
            self.drain(|encoder, output| encoder.flush(output))?;
        }
        self.out.flush()
    }

    fn end_frame(&mut self) -> io::Result<()> {
        self.drain(|encoder, output| encoder.finish(output, false))?;
        self.encoder.reinit()?;
        let sums = self.sums.finish(self.first_line);
        self.first_line = self.next_line;
        self.out.write_all(&sums.to_bytes())
    }

    /// Writes what `step` makes until it says that nothing is left.
    fn drain(
        &mut self,
        step: impl Fn(&mut Encoder<'static>, &mut OutBuffer<'_, Vec<u8>>) -> io::Result<usize>,
    ) -> io::Result<()> {
        loop {
            self.compressed.clear();
            let mut output = OutBuffer::around(&mut self.compressed);
            let left = step(&mut self.encoder, &mut output)?;
            self.out.write_all(&self.compressed)?;
            if left == 0 {
                return Ok(());
            }
        }
    }

    /// Ends the last frame.
    pub fn finish(mut self) -> io::Result<BufWriter<W>> {
        if self.sums.length() > 0 {
            self.end_frame()?;
        }
        Ok(self.out)
    }
}
