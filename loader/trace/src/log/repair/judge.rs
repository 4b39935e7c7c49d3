//! Which lines are sound.

use std::ops::Range;

use super::damage::{Damage, Gap};
use super::splitter::{End, Piece};
use crate::log::header::Header;
use crate::log::line::thorough;
use crate::log::quick::Quick;
use crate::log::{MAX_HEADER, MAX_LINE};
use crate::{LogError, Nanos};

/// A line that is kept.
#[derive(Clone, Copy, Debug)]
pub struct KeptLine<'a> {
    /// Without its end.
    pub text: &'a [u8],
    /// Its number in the damaged recording, from 1; 0 of a new header.
    pub number: u64,
    /// False where the data around it is damaged or unfinished, and no checksum confirms that this line is what was written.
    pub is_certain: bool,
}

/// So many places of a damaged line are tried where a sound one may begin.
const TRIES: usize = 4096;

/// What can be said of the lines that come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Trust {
    /// Nothing speaks against them.
    #[default]
    Full,
    /// They are in a frame that was not finished.
    Unfinished,
    /// They are in a damaged frame, and nothing confirms them.
    Damaged,
}

/// Keeps sound lines, and counts what is lost.
pub(super) struct Judge<'a> {
    keep: &'a mut dyn FnMut(&KeptLine<'_>) -> Result<(), LogError>,
    damage: Damage,
    /// The gap that was not yet followed by a line.
    open: Option<Gap>,
    /// Time of the last event that was kept.
    last: Option<Nanos>,
    has_header: bool,
    /// The last line that was counted as lost.
    last_lost: u64,
    /// Bytes before this were counted as damaged.
    counted: u64,
    quick: Quick,
    pub trust: Trust,
}

impl<'a> Judge<'a> {
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
            quick: Quick::default(),
            trust: Trust::default(),
        }
    }

    /// True if something of a recording was found.
    pub fn has_any(&self) -> bool {
        self.has_header || self.damage.kept > 0
    }

    /// Takes in what stands between two ends of lines. `frame` is its place in the file, where that is not its place in the text.
    pub fn piece(&mut self, piece: Piece<'_>, frame: Option<&Range<u64>>) -> Result<(), LogError> {
        let Piece {
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
        if let Some((begin, sound)) = self.sound(text, number)? {
            if begin > 0 {
                self.lost(line, in_file(place.start..place.start + begin as u64));
            }
            self.keep(text[begin..].trim_ascii(), number, sound)?;
        } else if !is_blank(text) && zeros.start > place.start {
            self.damage.cut |= end == End::Cut;
            self.lost(line, in_file(place.start..zeros.start));
        }
        // How many lines stood there, zeros do not tell.
        if !zeros.is_empty() {
            self.lost(None, in_file(zeros));
        }
        Ok(())
    }

    /// What is sound in a line, and where it begins: with the line, or behind what took the end of the line before.
    fn sound(&mut self, text: &[u8], number: u64) -> Result<Option<(usize, Sound)>, LogError> {
        if let Some((event, length)) = self.quick.parse(text)
            && length == text.len()
        {
            return Ok(Some((0, Sound::Event(event.at))));
        }
        if let Some(sound) = self.thoroughly(text, number)? {
            return Ok(Some((0, sound)));
        }
        // No end of a line but the whole line is itself one.
        let mut before = text.len();
        for _ in 0..TRIES {
            let at = text[..before].windows(2).rposition(|two| two == b"{\"");
            let Some(at) = at.filter(|at| *at > 0) else {
                break;
            };
            if let Some(sound) = self.thoroughly(&text[at..], 0)? {
                return Ok(Some((at, sound)));
            }
            before = at + 1;
        }
        Ok(None)
    }

    fn thoroughly(&self, text: &[u8], number: u64) -> Result<Option<Sound>, LogError> {
        // Nearly everything that is no line is known by its first letter.
        if text.trim_ascii_start().first() != Some(&b'{') || text.len() > MAX_LINE {
            return Ok(None);
        }
        if let Ok(Some(event)) = thorough(text) {
            return Ok(Some(Sound::Event(event.at)));
        }
        if self.has_any() || text.len() > MAX_HEADER {
            return Ok(None);
        }
        match Header::parse(text.trim_ascii()) {
            Ok(_) => Ok(Some(Sound::Header)),
            // It is newer, not damaged.
            Err(e @ LogError::Version { .. }) if number == 1 && self.trust == Trust::Full => Err(e),
            Err(_) => Ok(None),
        }
    }

    fn keep(&mut self, text: &[u8], number: u64, sound: Sound) -> Result<(), LogError> {
        let is_certain = self.trust == Trust::Full;
        match sound {
            Sound::Header => self.has_header = true,
            Sound::Event(at) => {
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
        let text = Header::plain().line();
        (self.keep)(&KeptLine {
            text: &text,
            number: 0,
            is_certain: true,
        })
    }

    /// Something is lost: lines from a first one to a last one, none if that is less, or their number is unknown.
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

    /// The gap ends with an event of this time, or with the recording.
    fn close(&mut self, before: Option<Nanos>) {
        let Some(gap) = self.open.take() else {
            return;
        };
        match self.damage.gaps.len() < Damage::LISTED {
            true => self.damage.gaps.push(Gap { before, ..gap }),
            false => self.damage.more_gaps += 1,
        }
    }

    /// The recording ends in the middle of something.
    pub fn cut(&mut self) {
        self.damage.cut = true;
    }

    /// Events that were kept so far, with the header, and lines that were counted as lost.
    pub fn counts(&self) -> (u64, u64) {
        let header = u64::from(self.has_header && !self.damage.header_replaced);
        (self.damage.kept + header, self.damage.lost)
    }

    /// Of `lines` lines, the last with number `last`, those are lost that were not kept since `before`: that is better known than by
    /// counting what is left of them.
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

/// What a sound line is.
#[derive(Clone, Copy, Debug)]
enum Sound {
    Header,
    Event(Nanos),
}

fn is_blank(text: &[u8]) -> bool {
    !text.is_empty() && text.trim_ascii().is_empty()
}
