//! Spans and their total times.

use std::ops::{Add, Sub};

use crate::{Nanos, Stage};
use loadscope_words::{Text, text};

/// Activity of a span: a stage with a duration, or the trainer's wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Activity {
    /// The trainer works.
    Training,
    /// Samples are fetched.
    Fetching,
    /// Samples are collated.
    Collating,
    /// The batch is copied to page-locked memory.
    Pinning,
    /// The batch is held in the reorder buffer until an earlier batch arrives.
    Held,
    /// The batch is next in order, and the trainer has not requested it.
    Ready,
    /// The batch is in an index queue.
    Queued,
    /// The batch is in the result queue.
    Returning,
    /// The trainer waits.
    Waiting,
}

impl Activity {
    /// All activities in stacking order: work first, then waits.
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

    /// Returns the activity of a batch in `stage`. Returns `None` for final stages, which have no duration.
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

    /// Returns the untranslated name for files.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Training => "training",
            Self::Fetching => "fetching",
            Self::Collating => "collating",
            Self::Pinning => "pinning",
            Self::Held => "held",
            Self::Ready => "ready",
            Self::Queued => "queued",
            Self::Returning => "returning",
            Self::Waiting => "waiting",
        }
    }

    /// Returns the name in the user's language.
    pub fn label(self) -> &'static str {
        self.text().say()
    }

    /// Returns the name in all languages.
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

/// Interval on a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Start (inclusive).
    pub start: Nanos,
    /// End (exclusive), or [`Nanos::MAX`] while it lasts.
    pub end: Nanos,
    /// Position of the batch in [`crate::Run::batches`], or [`Span::NO_BATCH`].
    pub batch: u32,
    /// Stage of the batch, or the trainer's wait.
    pub activity: Activity,
}

impl Span {
    /// Value of `batch` for a span without a batch.
    pub const NO_BATCH: u32 = u32::MAX;

    /// Returns true while the span lasts.
    pub fn is_open(&self) -> bool {
        self.end == Nanos::MAX
    }

    /// Returns the position of the batch in [`crate::Run::batches`], if any.
    pub fn batch(&self) -> Option<usize> {
        (self.batch != Self::NO_BATCH).then_some(self.batch as usize)
    }
}

/// Time per activity, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shares([i64; Activity::ALL.len()]);

impl Shares {
    /// Returns the time of one activity.
    #[inline]
    pub fn time_in(&self, activity: Activity) -> Nanos {
        Nanos(self.0[activity as usize])
    }

    /// Returns the time of all activities.
    #[inline]
    pub fn total(&self) -> Nanos {
        Nanos(self.0.iter().copied().fold(0, i64::saturating_add))
    }

    /// Returns true if no activity took time.
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

    /// Returns the activities that took time, in stacking order.
    pub fn iter(&self) -> impl Iterator<Item = (Activity, Nanos)> + '_ {
        Activity::ALL
            .into_iter()
            .map(|a| (a, self.time_in(a)))
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
            // Times are not negative, so the difference cannot overflow.
            *a = a.wrapping_sub(b);
        }
        self
    }
}
