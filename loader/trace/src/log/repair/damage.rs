//! What was lost.

use std::ops::Range;

use crate::Nanos;

/// A place where something is missing, between two lines that were kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    /// Numbers of the first and the last line that are lost, if they are known. Within a damaged frame lines are counted in what
    /// is left of it.
    pub lines: Option<(u64, u64)>,
    /// Bytes of the file: of a plain one those of the lines, of a compressed one the damaged frames.
    pub bytes: Range<u64>,
    /// Time of the last event before it that was kept.
    pub after: Option<Nanos>,
    /// Time of the first event behind it that was kept.
    pub before: Option<Nanos>,
}

/// What is wrong with a recording, and what was kept of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    /// Events that were kept.
    pub kept: u64,
    /// Lines that were lost, as far as their number is known.
    pub lost: u64,
    /// True if more lines may be lost than were counted: compressed data does not always tell how many were in it.
    pub lost_is_at_least: bool,
    /// Bytes of the file that are damaged: of a plain one those of the lost lines, of a compressed one those of the damaged frames.
    pub bytes: u64,
    /// Where something is missing: the first [`Damage::LISTED`] places.
    pub gaps: Vec<Gap>,
    /// How many more places there are.
    pub more_gaps: u64,
    /// The header was lost, and replaced by a new one.
    pub header_replaced: bool,
    /// The file ends in the middle of a line or of compressed data.
    pub cut: bool,
    /// Events that were kept from damaged compressed data although no checksum confirms them: they may differ from what was
    /// recorded.
    pub unconfirmed: u64,
    /// The recording is compressed.
    pub packed: bool,
}

impl Damage {
    /// So many places are listed.
    pub const LISTED: usize = 20;

    /// True if nothing is damaged or missing.
    pub fn is_none(&self) -> bool {
        self.gaps.is_empty() && !self.header_replaced && !self.cut && self.unconfirmed == 0
    }
}
