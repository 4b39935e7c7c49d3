//! Spans and the time they add up to.

use std::ops::{Add, Sub};

use crate::{Nanos, Stage};
use loadscope_words::{Text, text};

/// What fills a span: a stage that takes time, or the trainer's waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Activity {
    /// The trainer works.
    Training,
    /// Samples are read.
    Fetching,
    /// Samples are put together.
    Collating,
    /// Copied to page-locked memory.
    Pinning,
    /// Held in the reorder buffer.
    Held,
    /// Its turn has come.
    Ready,
    /// In an index queue.
    Queued,
    /// In the result queue.
    Returning,
    /// The trainer waits.
    Waiting,
}

impl Activity {
    /// All activities in the order in which they are stacked: work first, waiting after.
    pub const ALL: [Self; 9] = [
        Self::Training,
        Self::Fetching,
        Self::Collating,
        Self::Pinning,
        Self::Held,
        Self::Ready,
        Self::Queued,
        Self::Returning,
        Self::Waiting,
    ];

    /// The activity of a batch in `stage`; `None` for the final stages, which take no time.
    pub fn of(stage: Stage) -> Option<Self> {
        Some(match stage {
            Stage::Queued => Self::Queued,
            Stage::Fetching => Self::Fetching,
            Stage::Collating => Self::Collating,
            Stage::Returning => Self::Returning,
            Stage::Pinning => Self::Pinning,
            Stage::Held => Self::Held,
            Stage::Ready => Self::Ready,
            Stage::Training => Self::Training,
            Stage::Done | Stage::Failed | Stage::Discarded => return None,
        })
    }

    /// One word for people.
    pub fn label(self) -> &'static str {
        self.text().say()
    }

    /// The same in all languages.
    pub const fn text(self) -> Text {
        match self {
            Self::Training => text!("Training"),
            Self::Fetching => text!("Fetching"),
            Self::Collating => text!("Collating"),
            Self::Pinning => text!("Pinning"),
            Self::Held => text!("Held"),
            Self::Ready => text!("Ready"),
            Self::Queued => text!("Queued"),
            Self::Returning => text!("Returning"),
            Self::Waiting => text!("Waiting"),
        }
    }
}

/// A stretch of time on a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First instant.
    pub start: Nanos,
    /// End (exclusive); [`Nanos::MAX`] while it lasts.
    pub end: Nanos,
    /// Position of the batch in [`crate::Run::batches`]; [`Span::NO_BATCH`] if there is none.
    pub batch: u32,
    /// What fills it.
    pub activity: Activity,
}

impl Span {
    /// `batch` of a span that belongs to no batch.
    pub const NO_BATCH: u32 = u32::MAX;

    /// True while it lasts.
    pub fn is_open(&self) -> bool {
        self.end == Nanos::MAX
    }

    /// Position of its batch in [`crate::Run::batches`].
    pub fn batch(&self) -> Option<usize> {
        (self.batch != Self::NO_BATCH).then_some(self.batch as usize)
    }
}

/// Time per activity, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shares([i64; Activity::ALL.len()]);

impl Shares {
    /// Time of one activity.
    #[inline]
    pub fn of(&self, activity: Activity) -> Nanos {
        Nanos(self.0[activity as usize])
    }

    /// Time of all activities.
    #[inline]
    pub fn total(&self) -> Nanos {
        Nanos(self.0.iter().copied().fold(0, i64::saturating_add))
    }

    /// True if no activity took any time.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.iter().fold(0, |any, time| any | time) == 0
    }

    /// Adds `time` to an activity.
    #[inline]
    pub fn record(&mut self, activity: Activity, time: Nanos) {
        let sum = &mut self.0[activity as usize];
        *sum = sum.saturating_add(time.0);
    }

    /// The activities that took time, in stacking order.
    pub fn iter(&self) -> impl Iterator<Item = (Activity, Nanos)> + '_ {
        Activity::ALL
            .into_iter()
            .map(|a| (a, self.of(a)))
            .filter(|(_, t)| t.0 > 0)
    }
}

impl Add for Shares {
    type Output = Self;
    #[inline]
    fn add(mut self, other: Self) -> Self {
        for (a, b) in self.0.iter_mut().zip(other.0) {
            *a = a.saturating_add(b);
        }
        self
    }
}

impl Sub for Shares {
    type Output = Self;
    #[inline]
    fn sub(mut self, other: Self) -> Self {
        for (a, b) in self.0.iter_mut().zip(other.0) {
            // Times are not negative, so this cannot leave the range.
            *a = a.wrapping_sub(b);
        }
        self
    }
}
