//! Spans and the time they add up to.

use std::ops::{Add, Sub};

use crate::{Nanos, Stage};

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
        match self {
            Self::Training => "Training",
            Self::Fetching => "Fetching",
            Self::Collating => "Collating",
            Self::Pinning => "Pinning",
            Self::Held => "Held",
            Self::Ready => "Ready",
            Self::Queued => "Queued",
            Self::Returning => "Returning",
            Self::Waiting => "Waiting",
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
            *a = a.saturating_sub(b);
        }
        self
    }
}

/// The spans of one track in order of time, with running sums so that the time per activity up to any instant is
/// found without a walk.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    spans: Vec<Span>,
    /// `sums[k]` is the time of the first `k * EVERY` spans. All of those are closed.
    sums: Vec<Shares>,
    /// `ends[k]` is when the last of them ended. Small enough to stay in the processor's cache, so that a search has to go
    /// to memory only for the spans of one block.
    ends: Vec<Nanos>,
}

impl Spans {
    /// One running sum per so many spans: enough to be exact in a walk through a few cache lines, few enough to cost
    /// 5 bytes a span.
    const EVERY: usize = 16;

    /// All spans.
    pub fn all(&self) -> &[Span] {
        &self.spans
    }

    /// Number of spans that end at or before `t`: the index of the first span that reaches beyond `t`.
    pub fn index_after(&self, t: Nanos) -> usize {
        let block = self.ends.partition_point(|end| *end <= t);
        self.index_in_block(block.saturating_sub(1), t)
    }

    /// [`Spans::index_after`] for who can guess it: looks around `guess` in both directions with growing steps. Walking a
    /// track from left to right this way costs far less than a search over all of it.
    pub fn index_near(&self, guess: usize, t: Nanos) -> usize {
        let ends = &self.ends[..];
        let Some(last) = ends.len().checked_sub(1) else {
            return 0;
        };
        let at = (guess / Self::EVERY).min(last);
        let mut step = 1;
        let (low, high) = if ends[at] <= t {
            while at + step <= last && ends[at + step] <= t {
                step *= 2;
            }
            (at + step / 2, (at + step).min(ends.len()))
        } else {
            while step <= at && ends[at - step] > t {
                step *= 2;
            }
            (at.saturating_sub(step), at - step / 2)
        };
        let block = low + ends[low..high].partition_point(|end| *end <= t);
        self.index_in_block(block.saturating_sub(1), t)
    }

    /// [`Spans::index_after`] for a `t` not before the end of span `from - 1`.
    pub fn gallop(&self, from: usize, t: Nanos) -> usize {
        self.index_near(from, t).max(from)
    }

    fn index_in_block(&self, block: usize, t: Nanos) -> usize {
        let first = block * Self::EVERY;
        let after = (first + Self::EVERY).min(self.spans.len());
        // Counting has no branches to guess and fetches what a sum up to `t` needs next.
        first
            + self.spans[first..after]
                .iter()
                .filter(|s| s.end <= t)
                .count()
    }

    /// The spans that touch `start..end`.
    pub fn range(&self, start: Nanos, end: Nanos) -> &[Span] {
        let first = self.index_after(start);
        let after = first + self.spans[first..].partition_point(|s| s.start < end);
        &self.spans[first..after]
    }

    /// Time per activity from the beginning until `t`.
    pub fn until(&self, t: Nanos) -> Shares {
        self.until_at(self.index_after(t), t)
    }

    /// [`Spans::until`] when `index == self.index_after(t)` is known already.
    pub fn until_at(&self, index: usize, t: Nanos) -> Shares {
        let block = (index / Self::EVERY).min(self.sums.len().saturating_sub(1));
        let mut shares = self.sums.get(block).copied().unwrap_or_default();
        let first = block * Self::EVERY;
        for span in &self.spans[first..index] {
            shares.record(span.activity, span.end - span.start);
        }
        if let Some(span) = self.spans.get(index)
            && span.start < t
        {
            shares.record(span.activity, t - span.start);
        }
        shares
    }

    /// True if a span may begin at `t`.
    pub(crate) fn is_free_at(&self, t: Nanos) -> bool {
        self.spans.last().is_none_or(|s| s.end <= t)
    }

    /// Opens a span at `start`, which must not lie before the end of the last one.
    pub(crate) fn open(&mut self, start: Nanos, batch: u32, activity: Activity) {
        debug_assert!(self.is_free_at(start));
        if self.spans.len().is_multiple_of(Self::EVERY) {
            let mut sum = self.sums.last().copied().unwrap_or_default();
            let first = self.spans.len().saturating_sub(Self::EVERY);
            for span in &self.spans[first..] {
                sum.record(span.activity, span.end - span.start);
            }
            self.sums.push(sum);
            self.ends
                .push(self.spans.last().map_or(Nanos(i64::MIN), |s| s.end));
        }
        self.spans.push(Span {
            start,
            end: Nanos::MAX,
            batch,
            activity,
        });
    }

    /// The last span, if it still lasts.
    pub(crate) fn open_mut(&mut self) -> Option<&mut Span> {
        self.spans.last_mut().filter(|s| s.is_open())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(count: i64) -> Spans {
        let mut spans = Spans::default();
        for k in 0..count {
            spans.open(Nanos(10 * k), k as u32, Activity::ALL[(k % 3) as usize]);
            spans.open_mut().expect("just opened").end = Nanos(10 * k + 7);
        }
        spans
    }

    #[test]
    fn sums_agree_with_a_walk() {
        let spans = spans(300);
        for t in 0..3010 {
            let mut walked = Shares::default();
            for s in spans.all() {
                let end = s.end.min(Nanos(t));
                if end > s.start {
                    walked.record(s.activity, end - s.start);
                }
            }
            assert_eq!(spans.until(Nanos(t)), walked, "at {t}");
        }
    }

    #[test]
    fn galloping_finds_what_bisecting_finds() {
        let spans = spans(200);
        for from in [0, 1, 5, 64, 199, 200] {
            for t in 0..2010 {
                let expected = spans.index_after(Nanos(t)).max(from);
                assert_eq!(spans.gallop(from, Nanos(t)), expected, "{from} {t}");
            }
        }
    }

    #[test]
    fn any_guess_finds_what_bisecting_finds() {
        let spans = spans(200);
        for guess in [0, 1, 2, 3, 60, 64, 199, 200, 999] {
            for t in 0..2010 {
                assert_eq!(
                    spans.index_near(guess, Nanos(t)),
                    spans.index_after(Nanos(t)),
                    "{guess} {t}"
                );
            }
        }
    }

    #[test]
    fn ranges_hold_what_they_touch() {
        let spans = spans(10);
        let touched: Vec<u32> = spans
            .range(Nanos(16), Nanos(31))
            .iter()
            .map(|s| s.batch)
            .collect();
        assert_eq!(touched, [1, 2, 3]);
    }
}
