//! Decisions about which lines are intact.

use std::ops::Range;

use super::damage::{Damage, Gap};
use super::splitter::{End, LinePart};
use crate::log::fast_parser::FastParser;
use crate::log::header::Header;
use crate::log::line::parse_line;
use crate::log::{MAX_HEADER, MAX_LINE};
use crate::{LogError, Nanos};

/// Line that is kept.
#[derive(Clone, Copy, Debug)]
pub struct KeptLine<'a> {
    /// Text without the line end.
    pub text: &'a [u8],
    /// Line number in the damaged recording, from 1. 0 for a new header.
    pub number: u64,
    /// False if the surrounding data is damaged or truncated and no checksum covers this line.
    pub is_certain: bool,
}

/// Maximum number of positions in a damaged line that are tried as the start of an intact line.
const TRIES: usize = 4096;

/// Trust in the following lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Trust {
    /// No sign of damage.
    #[default]
    Full,
    /// In a truncated frame.
    Unfinished,
    /// In a damaged frame, without a matching checksum.
    Damaged,
}

/// Filter that keeps intact lines and counts lost ones.
pub(super) struct LineFilter<'a> {
    keep: &'a mut dyn FnMut(&KeptLine<'_>) -> Result<(), LogError>,
    damage: Damage,
    /// Gap that is not followed by a kept line yet.
    open: Option<Gap>,
    /// Time of the last kept event.
    last: Option<Nanos>,
    has_header: bool,
    /// Number of the last line that was counted as lost.
    last_lost: u64,
    /// Position in the file up to which damaged bytes were counted.
    counted: u64,
    fast_parser: FastParser,
    pub trust: Trust,
}

impl<'a> LineFilter<'a> {
    pub fn new(
        keep: &'a mut dyn FnMut(&KeptLine<'_>) -> Result<(), LogError>,
        packed: bool,
    ) -> Self {
        Self {
            keep,
            damage: Damage {
                packed,
                ..Damage::default()
            },
            open: None,
            last: None,
            has_header: false,
            last_lost: 0,
            counted: 0,
            fast_parser: FastParser::default(),
            trust: Trust::default(),
        }
    }

    /// Returns true if a header or an event was found.
    pub fn has_any(&self) -> bool {
        self.has_header || self.damage.kept > 0
    }

    /// Processes the text between two line ends. `frame` is its byte range in the file, if the recording is compressed.
    pub fn filter_line(
        &mut self,
        piece: LinePart<'_>,
        frame: Option<&Range<u64>>,
    ) -> Result<(), LogError> {
        let LinePart {
            text,
            number,
            place,
            end,
        } = piece;
        let in_file = |bytes: Range<u64>| frame.map_or(bytes, Range::clone);
        let line = Some((number, number));
        let zeros = match end {
            End::Zero => place.start + text.len() as u64..place.end,
            End::Line | End::Cut => place.end..place.end,
        };
        if let Some((begin, sound)) = self.find_intact(text, number)? {
            if begin > 0 {
                self.lost(line, in_file(place.start..place.start + begin as u64));
            }
            self.emit(text[begin..].trim_ascii(), number, sound)?;
        } else if !is_blank(text) && zeros.start > place.start {
            self.damage.cut |= end == End::Cut;
            self.lost(line, in_file(place.start..zeros.start));
        }
        // The number of lines that the zeros replaced is unknown.
        if !zeros.is_empty() {
            self.lost(None, in_file(zeros));
        }
        Ok(())
    }

    /// Returns the intact content of a line and its offset, which is above 0 if the previous line lost its end.
    fn find_intact(
        &mut self,
        text: &[u8],
        number: u64,
    ) -> Result<Option<(usize, IntactLine)>, LogError> {
        if let Some((event, length)) = self.fast_parser.parse(text)
            && length == text.len()
        {
            return Ok(Some((0, IntactLine::Event(event.at))));
        }
        if let Some(sound) = self.parse_candidate(text, number)? {
            return Ok(Some((0, sound)));
        }
        // The line can contain the rest of a line without its end, followed by an intact line.
        let mut before = text.len();
        for _ in 0..TRIES {
            let at = text[..before].windows(2).rposition(|two| two == b"{\"");
            let Some(at) = at.filter(|at| *at > 0) else {
                break;
            };
            if let Some(sound) = self.parse_candidate(&text[at..], 0)? {
                return Ok(Some((at, sound)));
            }
            before = at + 1;
        }
        Ok(None)
    }

    fn parse_candidate(&self, text: &[u8], number: u64) -> Result<Option<IntactLine>, LogError> {
        // The first character rejects nearly all damaged lines quickly.
        if text.trim_ascii_start().first() != Some(&b'{') || text.len() > MAX_LINE {
            return Ok(None);
        }
        if let Ok(Some(event)) = parse_line(text) {
            return Ok(Some(IntactLine::Event(event.at)));
        }
        if self.has_any() || text.len() > MAX_HEADER {
            return Ok(None);
        }
        match Header::parse(text.trim_ascii()) {
            Ok(_) => Ok(Some(IntactLine::Header)),
            // The header is intact, but its version is newer.
            Err(e @ LogError::Version { .. }) if number == 1 && self.trust == Trust::Full => Err(e),
            Err(_) => Ok(None),
        }
    }

    fn emit(&mut self, text: &[u8], number: u64, sound: IntactLine) -> Result<(), LogError> {
        let is_certain = self.trust == Trust::Full;
        match sound {
            IntactLine::Header => self.has_header = true,
            IntactLine::Event(at) => {
                if !self.has_header {
                    self.new_header()?;
                }
                self.close(Some(at));
                self.last = Some(at);
                self.damage.kept += 1;
                self.damage.unconfirmed += u64::from(self.trust == Trust::Damaged);
            }
        }
        (self.keep)(&KeptLine {
            text,
            number,
            is_certain,
        })
    }

    fn new_header(&mut self) -> Result<(), LogError> {
        self.has_header = true;
        self.damage.header_replaced = true;
        let text = Header::new().line();
        (self.keep)(&KeptLine {
            text: &text,
            number: 0,
            is_certain: true,
        })
    }

    /// Records a loss of the lines from first to last. The range can be empty. With `None`, the number of lines is unknown.
    pub fn lost(&mut self, lines: Option<(u64, u64)>, bytes: Range<u64>) {
        let start = bytes.start.max(self.counted);
        self.damage.bytes += bytes.end.saturating_sub(start);
        self.counted = self.counted.max(bytes.end);
        match lines {
            Some((first, last)) => {
                let first = first.max(self.last_lost.saturating_add(1));
                let count = last.saturating_add(1).saturating_sub(first);
                self.damage.lost = self.damage.lost.saturating_add(count);
                self.last_lost = self.last_lost.max(last);
            }
            None => self.damage.lost_is_at_least = true,
        }
        let lines = lines.filter(|(first, last)| first <= last);
        let Some(open) = &mut self.open else {
            self.open = Some(Gap {
                lines,
                bytes,
                after: self.last,
                before: None,
            });
            return;
        };
        open.bytes = open.bytes.start.min(bytes.start)..open.bytes.end.max(bytes.end);
        open.lines = match (open.lines, lines) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
    }

    /// Ends the gap before an event at this time, or at the end of the recording.
    fn close(&mut self, before: Option<Nanos>) {
        let Some(gap) = self.open.take() else {
            return;
        };
        match self.damage.gaps.len() < Damage::LISTED {
            true => self.damage.gaps.push(Gap { before, ..gap }),
            false => self.damage.more_gaps += 1,
        }
    }

    /// Records that the recording is truncated.
    pub fn cut(&mut self) {
        self.damage.cut = true;
    }

    /// Returns the numbers of kept lines, including the header, and of lost lines.
    pub fn counts(&self) -> (u64, u64) {
        let header = u64::from(self.has_header && !self.damage.header_replaced);
        (self.damage.kept + header, self.damage.lost)
    }

    /// Corrects the number of lost lines since `before`. The checksums state the exact number of lines and the last line number. Counting
    /// line ends in damaged text is less exact.
    pub fn correct(&mut self, before: (u64, u64), lines: u64, last: u64) {
        let kept = self.counts().0.saturating_sub(before.0);
        self.damage.lost = before.1.saturating_add(lines.saturating_sub(kept));
        self.last_lost = self.last_lost.min(last);
        let lines = self.open.as_mut().and_then(|gap| gap.lines.as_mut());
        if let Some((_, end)) = lines {
            *end = (*end).min(last);
        }
    }

    pub fn finish(mut self) -> Damage {
        self.close(None);
        self.damage
    }
}

/// Content of an intact line.
#[derive(Clone, Copy, Debug)]
enum IntactLine {
    Header,
    Event(Nanos),
}

fn is_blank(text: &[u8]) -> bool {
    !text.is_empty() && text.trim_ascii().is_empty()
}
