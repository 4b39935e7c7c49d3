//! Reading of a compressed recording, frame by frame, skipping damage.

use std::io::{Read, Seek};
use std::ops::{ControlFlow, Range};

use super::line_filter::{LineFilter, Trust};
use super::source::{Found, FrameEnd, Source};
use super::splitter::Splitter;
use crate::LogError;
use crate::log::checksums::{CHUNK, Checksums};

/// Reader of a compressed recording.
pub(super) struct CompressedReader<'a, 'b, R> {
    source: &'a mut Source<R>,
    line_filter: &'a mut LineFilter<'b>,
    splitter: Splitter,
    /// Position of the current frame.
    at: u64,
    /// Damaged bytes whose number of lines is not known yet.
    pending: Option<Range<u64>>,
    /// Number of lines in earlier recordings, if several recordings are concatenated.
    base: u64,
}

impl<'a, 'b, R: Read + Seek> CompressedReader<'a, 'b, R> {
    pub fn new(source: &'a mut Source<R>, line_filter: &'a mut LineFilter<'b>) -> Self {
        Self {
            source,
            line_filter,
            splitter: Splitter::default(),
            at: 0,
            pending: None,
            base: 0,
        }
    }

    /// Reads the whole file.
    pub fn read(&mut self) -> Result<(), LogError> {
        let mut at = 0;
        while at < self.source.size {
            self.at = at;
            at = if self.source.is_frame(at)? {
                self.read_frame(at)?
            } else if let Some((_, end)) = self.source.skippable_at(at)? {
                self.read_skippable(at, end)?
            } else if self.source.has_just_begun(at)? {
                self.line_filter.cut();
                self.source.size
            } else {
                self.skip_damage(at, at + 1)?
            };
        }
        self.set_line_number(None);
        let frame = self.source.size..self.source.size;
        let line_filter = &mut *self.line_filter;
        self.splitter
            .finish(&mut |piece| line_filter.filter_line(piece, Some(&frame)))
    }

    /// Skips damage that begins at `from`. Searches for its end from `search` on.
    fn skip_damage(&mut self, from: u64, search: u64) -> Result<u64, LogError> {
        let next = self.next(search)?;
        self.record_damage(from..next);
        Ok(next)
    }

    /// Returns the next position from `search` at which reading can continue, or the end of the file.
    fn next(&mut self, search: u64) -> Result<u64, LogError> {
        let size = self.source.size;
        Ok(match self.source.find(search, size)? {
            Found::Frame(at) | Found::Checksums(at, ..) => at,
            Found::Nothing => size,
        })
    }

    /// Records missing text.
    fn record_damage(&mut self, bytes: Range<u64>) {
        self.splitter.reset();
        let before = self
            .pending
            .take()
            .map_or(bytes.start, |before| before.start);
        self.pending = Some(before..bytes.end);
    }

    /// Sets the number of the next line within its recording. `number` is `None` if unknown. The lines before it are lost.
    fn set_line_number(&mut self, number: Option<u64>) {
        let damaged = self.pending.take();
        let here = self.splitter.number;
        let Some(number) = number.map(|n| n.saturating_add(self.base)) else {
            if let Some(bytes) = damaged {
                self.line_filter.lost(None, bytes);
            }
            return;
        };
        let known = number >= here;
        match damaged {
            Some(bytes) if known => self.line_filter.lost(Some((here, number - 1)), bytes),
            Some(bytes) => self.line_filter.lost(None, bytes),
            // Whole frames are missing before this line.
            None if number > here => {
                self.splitter.reset();
                self.line_filter
                    .lost(Some((here, number - 1)), self.at..self.at);
            }
            None => {}
        }
        self.splitter.number = number.max(here);
    }

    /// Sets the line number from the checksums of the next frame.
    fn set_line_number_from(&mut self, sums: &Checksums) {
        let here = self.splitter.number;
        // A second recording begins here.
        if sums.first_line == 1 && here > self.base.saturating_add(1) {
            self.base = here - 1;
        }
        self.set_line_number(Some(sums.first_line));
    }

    /// Processes a skippable frame: the checksums of a lost frame, or a frame from another program.
    fn read_skippable(&mut self, at: u64, end: u64) -> Result<u64, LogError> {
        if let Some((sums, end)) = self.source.checksums_at(at)? {
            let next = sums.first_line.saturating_add(sums.lines);
            // The frame of these checksums was already read.
            if next.saturating_add(self.base) <= self.splitter.number {
                let bytes = self.pending.take();
                bytes
                    .into_iter()
                    .for_each(|bytes| self.line_filter.lost(Some((1, 0)), bytes));
                return Ok(end);
            }
            self.set_line_number_from(&sums);
            self.set_line_number(Some(sums.first_line.saturating_add(sums.lines)));
            return Ok(end);
        }
        // The checksums are damaged or truncated, so their length can be wrong.
        if end > self.source.size || self.source.is_checksums(at)? {
            let next = self.next(at + 4)?;
            match next == self.source.size {
                true if end > next => self.line_filter.cut(),
                // Checksums contain no lines.
                _ if end == next => self.line_filter.lost(Some((1, 0)), at..next),
                _ => self.record_damage(at..next),
            }
            return Ok(next);
        }
        // Readers recognize a compressed recording by its first frame.
        if at == 0 {
            self.record_damage(at..end);
        }
        Ok(end)
    }

    /// Reads a frame and its checksums, if any. Returns the position after them.
    fn read_frame(&mut self, at: u64) -> Result<u64, LogError> {
        let (ended, length) = self.source.survey(at)?;
        match ended {
            FrameEnd::Complete(end) => self.read_intact(at, end, length),
            FrameEnd::Cut | FrameEnd::Stopped => {
                self.read_damaged(at, self.search(at, self.source.size), true)
            }
            FrameEnd::Damaged(looked) => self.read_damaged(at, self.search(at, looked), false),
        }
    }

    /// Returns the position at which to search for the frame after a damaged one. `at` is its start, and `looked` is the position of the
    /// damage. The bytes in between can contain another frame.
    fn search(&self, at: u64, looked: u64) -> u64 {
        match self.source.has_budget(looked) {
            true => at + 4,
            false => looked.max(at + 4),
        }
    }

    /// Reads a frame that can be decompressed completely.
    fn read_intact(&mut self, at: u64, end: u64, length: u64) -> Result<u64, LogError> {
        let sums = self.source.checksums_at(end)?;
        let sums = sums.filter(|(sums, _)| sums.length == length);
        match (self.source.has_checksum(at)?, sums) {
            (true, Some((sums, next))) => {
                self.set_line_number_from(&sums);
                self.read_lines(at, end, Trust::Full)?;
                self.set_line_number(Some(sums.first_line.saturating_add(sums.lines)));
                return Ok(next);
            }
            (false, Some((sums, next))) => {
                self.read_confirmed(at, end, &sums, false)?;
                return Ok(next);
            }
            // The damage may have cleared the flag for the frame's checksum.
            (false, None) => {
                if let Found::Checksums(found, sums, next) =
                    self.source.find(end, self.source.size)?
                    && self.matches_frame(at, found, &sums)?
                {
                    self.read_confirmed(at, found, &sums, true)?;
                    return Ok(next);
                }
            }
            (true, None) => {}
        }
        self.set_line_number(None);
        self.read_lines(at, end, Trust::Full)?;
        Ok(end)
    }

    /// Reads a frame that cannot be decompressed completely.
    fn read_damaged(&mut self, at: u64, search: u64, is_cut: bool) -> Result<u64, LogError> {
        let size = self.source.size;
        let (next, trust) = match self.source.find(search, size)? {
            Found::Checksums(end, sums, next) if self.matches_frame(at, end, &sums)? => {
                self.read_confirmed(at, end, &sums, true)?;
                return Ok(next);
            }
            Found::Frame(next) | Found::Checksums(next, ..) => (next, Trust::Damaged),
            Found::Nothing if is_cut => (size, Trust::Unfinished),
            Found::Nothing => (size, Trust::Damaged),
        };
        self.set_line_number(None);
        self.read_lines(at, next, trust)?;
        match trust {
            // The rest of the last line is examined at the end of the file.
            Trust::Unfinished => self.line_filter.cut(),
            Trust::Full | Trust::Damaged => self.record_damage(at..next),
        }
        Ok(next)
    }

    /// Returns true if the checksums are those of the frame at `at`, not of a lost frame after it.
    fn matches_frame(&mut self, at: u64, end: u64, sums: &Checksums) -> Result<bool, LogError> {
        let number = sums.first_line.saturating_add(self.base);
        let follows = self.pending.is_none() && number == self.splitter.number;
        let mut some = false;
        chunks(self.source, at, end, sums, &mut |_, is_right| {
            some |= is_right;
            Ok(())
        })?;
        Ok(follows || some)
    }

    /// Reads the lines of a frame.
    fn read_lines(&mut self, at: u64, end: u64, trust: Trust) -> Result<(), LogError> {
        let frame = at..end;
        let (splitter, line_filter) = (&mut self.splitter, &mut *self.line_filter);
        line_filter.trust = trust;
        self.source.decode(at, end, &mut |text| {
            splitter.feed(text, &mut |piece| {
                line_filter.filter_line(piece, Some(&frame))
            })?;
            Ok(ControlFlow::Continue(()))
        })?;
        line_filter.trust = Trust::Full;
        Ok(())
    }

    /// Reads the lines of a frame that match its checksums. `breaks` is true if the frame cannot be decompressed completely.
    fn read_confirmed(
        &mut self,
        at: u64,
        end: u64,
        sums: &Checksums,
        breaks: bool,
    ) -> Result<(), LogError> {
        self.set_line_number_from(sums);
        let frame = at..end;
        let before = self.line_filter.counts();
        let (splitter, line_filter) = (&mut self.splitter, &mut *self.line_filter);
        chunks(self.source, at, end, sums, &mut |text, is_right| {
            if is_right {
                return splitter.feed(text, &mut |piece| {
                    line_filter.filter_line(piece, Some(&frame))
                });
            }
            splitter.reset();
            let first = splitter.number;
            let count = text.iter().filter(|b| **b == b'\n').count() as u64;
            splitter.number = first.saturating_add(count);
            let ends_line = u64::from(text.ends_with(b"\n"));
            line_filter.lost(Some((first, splitter.number - ends_line)), frame.clone());
            Ok(())
        })?;
        if breaks {
            self.record_damage(frame);
        }
        let next = sums.first_line.saturating_add(sums.lines);
        self.set_line_number(Some(next));
        let next = next.saturating_add(self.base);
        self.splitter.number = next;
        self.line_filter
            .correct(before, sums.lines, next.saturating_sub(1));
        Ok(())
    }
}

/// Callback for a chunk of a frame. The second argument is true if its checksum matches.
type EachChunk<'a> = dyn FnMut(&[u8], bool) -> Result<(), LogError> + 'a;

/// Splits the text of a frame into chunks and compares each with its checksum. An incomplete last chunk is ignored.
fn chunks<R: Read + Seek>(
    source: &mut Source<R>,
    at: u64,
    end: u64,
    sums: &Checksums,
    each: &mut EachChunk<'_>,
) -> Result<(), LogError> {
    let mut chunk = Vec::with_capacity(CHUNK);
    let (mut left, mut wanted) = (sums.length, sums.chunks.iter());
    source.decode(at, end, &mut |mut text| {
        while !text.is_empty() && left > 0 {
            let whole = usize::try_from(left).unwrap_or(CHUNK).min(CHUNK);
            let (now, later) = text.split_at(text.len().min(whole - chunk.len()));
            chunk.extend_from_slice(now);
            text = later;
            if chunk.len() == whole {
                each(&chunk, wanted.next() == Some(&crc32fast::hash(&chunk)))?;
                left -= whole as u64;
                chunk.clear();
            }
        }
        Ok(match left {
            0 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        })
    })?;
    Ok(())
}
