//! The compressed form: frames of zstd one after the other, so that damage to one leaves the others readable.

use std::io::{self, BufWriter, Write};

use zstd::stream::raw::{CParameter, Encoder, InBuffer, Operation as _, OutBuffer};

use super::checksums::Summing;

/// Text of a frame, bytes; the line that reaches it is its last. Shorter frames make the file longer, because each begins
/// without what was before it.
const FRAME: u64 = 8 << 20;

/// The level of compression, with [`SHORTEST`] in place of its own. Of the lines of a shuffled loader it makes less than level 3 does
/// (1.20 MB of 5.96 MB, not 1.39) in half of its time, of pictures 4 % more; of lists of indices in order, 38 % more.
const LEVEL: i32 = 1;

/// Shortest text that is looked for in what was before, bytes: with the 7 of the level, indices in order are not found.
const SHORTEST: u32 = 6;

/// Text that is compressed at a time, bytes, unless it is flushed: a call for each line would take longer than the compression.
const AT_ONCE: usize = 32 << 10;

/// Compressed bytes that are made at a time.
const ROOM: usize = 32 << 10;

/// Writes lines in compressed frames.
pub(super) struct Frames<W: Write> {
    out: BufWriter<W>,
    encoder: Encoder<'static>,
    /// Lines that are still to be compressed.
    text: Vec<u8>,
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
        encoder.set_parameter(CParameter::MinMatch(SHORTEST))?;
        encoder.set_parameter(CParameter::ChecksumFlag(true))?;
        Ok(Self {
            out: BufWriter::new(writer),
            encoder,
            text: Vec::with_capacity(AT_ONCE + ROOM),
            compressed: Vec::with_capacity(ROOM),
            sums: Summing::default(),
            first_line: 1,
            next_line: 1,
            most: FRAME,
        })
    }

    /// Writes a line with its end.
    pub fn line(&mut self, line: &[u8]) -> io::Result<()> {
        self.text.extend_from_slice(line);
        self.sums.begin_line();
        self.next_line += 1;
        if self.length() >= self.most {
            return self.end_frame();
        }
        match self.text.len() >= AT_ONCE {
            true => self.compress(),
            false => Ok(()),
        }
    }

    /// Text of the frame so far, bytes.
    fn length(&self) -> u64 {
        self.sums.length() + self.text.len() as u64
    }

    /// Compresses the lines that wait for it.
    fn compress(&mut self) -> io::Result<()> {
        let mut input = InBuffer::around(&self.text);
        while input.pos() < self.text.len() {
            self.compressed.clear();
            let mut output = OutBuffer::around(&mut self.compressed);
            self.encoder.run(&mut input, &mut output)?;
            self.out.write_all(&self.compressed)?;
        }
        self.sums.text(&self.text);
        self.text.clear();
        Ok(())
    }

    /// Writes what was made readable so far.
    pub fn flush(&mut self) -> io::Result<()> {
        self.compress()?;
        // A frame that has not begun has nothing to tell.
        if self.sums.length() > 0 {
            self.drain(|encoder, output| encoder.flush(output))?;
        }
        self.out.flush()
    }

    fn end_frame(&mut self) -> io::Result<()> {
        self.compress()?;
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
        if self.length() > 0 {
            self.end_frame()?;
        }
        Ok(self.out)
    }
}
