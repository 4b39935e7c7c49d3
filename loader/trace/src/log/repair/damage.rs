//! Description of damage.

use std::ops::Range;

use crate::Nanos;

/// Gap between two kept lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    /// Numbers of the first and last lost line, if known. Within a damaged frame, numbers are counted in its remaining text.
    pub lines: Option<(u64, u64)>,
    /// Byte range in the file: the lost lines, or the damaged frames if compressed.
    pub bytes: Range<u64>,
    /// Time of the last kept event before the gap.
    pub after: Option<Nanos>,
    /// Time of the first kept event after the gap.
    pub before: Option<Nanos>,
}

/// Damage of a recording, and the amount that was kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    /// Number of kept events.
    pub kept: u64,
    /// Known number of lost lines.
    pub lost: u64,
    /// True if more lines may be lost. The number of lines in damaged compressed data can be unknown.
    pub lost_is_at_least: bool,
    /// Damaged bytes of the file: the lost lines, or the damaged frames if compressed.
    pub bytes: u64,
    /// First [`Damage::LISTED`] gaps.
    pub gaps: Vec<Gap>,
    /// Number of further gaps.
    pub more_gaps: u64,
    /// True if the header was lost and replaced.
    pub header_replaced: bool,
    /// True if the file ends in the middle of a line or of compressed data.
    pub cut: bool,
    /// Number of events kept from damaged compressed data without a matching checksum. They may differ from the original events.
    pub unconfirmed: u64,
    /// True if the recording is compressed.
    pub packed: bool,
}

impl Damage {
    /// Maximum number of listed gaps.
    pub const LISTED: usize = 20;

    /// Returns true if nothing is damaged or missing.
    pub fn is_none(&self) -> bool {
        self.gaps.is_empty() && !self.header_replaced && !self.cut && self.unconfirmed == 0
    }
}
