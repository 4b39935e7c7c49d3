//! Spans of a track, with running sums of the time per activity.

use crate::{Activity, Nanos, Shares, Span};
use loadscope_column::{Column, View};

mod gather;
mod hide;

/// Spans of one track in order of time. Running sums give the time per activity up to any instant without iterating over all spans.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    spans: Column<Span>,
    /// Running sums of the activities on this track, in order of appearance. A worker has two of the nine. Entry `k` is the time in the
    /// first `k * BLOCK` spans, ns. All of these spans are closed.
    sums: Vec<(Activity, Column<i64>)>,
    /// Longest span of each [`Spans::BLOCK`] spans, for blocks whose spans are all closed.
    longest: Column<Nanos>,
    /// Maximum of `longest`.
    peak: Nanos,
    /// `ends[k]` is the end of the first `k * BLOCK` spans. These fit in the CPU cache, so a search accesses the spans of only one block.
    ends: Column<Nanos>,
}

/// Instant at which the running sums give the time per activity without reading spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SumCheckpoint {
    block: usize,
    /// Time, which is the end of a span.
    pub at: Nanos,
}

impl SumCheckpoint {
    /// Returns the index of the first span after the checkpoint.
    #[inline]
    pub fn index(self) -> usize {
        self.block * Spans::BLOCK
    }
}

impl Spans {
    /// Spans per running sum. An exact result then reads a few cache lines, and the sums cost a byte or two per span.
    const BLOCK: usize = 16;

    /// Running sums that are compared at once around a guess.
    const NEAR: usize = 8;

    /// Returns all spans.
    pub fn all(&self) -> View<'_, Span> {
        self.spans.view()
    }

    /// Returns the number of spans that end at or before `t`, which is the index of the first span that ends after `t`.
    pub fn index_after(&self, t: Nanos) -> usize {
        let block = self.ends.partition_point(|end| *end <= t);
        self.index_in_block(block.saturating_sub(1), t)
    }

    /// Equivalent of [`Spans::index_after`] with a guess. Searches around `guess` with growing steps. For queries from left to right, this
    /// is much faster than a full search.
    pub fn index_near(&self, guess: usize, t: Nanos) -> usize {
        match self.blocks_near(guess / Self::BLOCK, t) {
            0 => 0,
            blocks => self.index_in_block(blocks - 1, t),
        }
    }

    /// Returns the number of entries of `ends` that are not after `t`, searched around `guess`.
    #[inline]
    fn blocks_near(&self, guess: usize, t: Nanos) -> usize {
        let ends = self.ends.view();
        let Some(last) = ends.len().checked_sub(1) else {
            return 0;
        };
        // The result is usually one of the next few blocks. Counting them needs no unpredictable branches.
        let first = guess.saturating_sub(Self::NEAR / 2);
        if let Some(near) = ends.slice(first, Self::NEAR)
            && near[0] <= t
            && near[Self::NEAR - 1] > t
        {
            return first + near.iter().filter(|end| **end <= t).count();
        }
        let at = guess.min(last);
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
        low + ends.range(low..high).partition_point(|end| *end <= t)
    }

    /// Returns the last checkpoint at or before `end`. Returns `None` if it is not after the span `from`, or if a span in between is not
    /// shorter than `narrower`.
    #[inline]
    pub fn sum_checkpoint(
        &self,
        from: usize,
        guess: usize,
        end: Nanos,
        narrower: Nanos,
    ) -> Option<SumCheckpoint> {
        let block = self.blocks_near(guess / Self::BLOCK, end).checked_sub(1)?;
        let first = from / Self::BLOCK;
        if first >= block {
            return None;
        }
        // If the track has no long span, no block has one.
        if self.peak >= narrower {
            let between = self.longest.range(first..block);
            if between.len() < block - first {
                return None;
            }
            let is_long = |longest: &Nanos| *longest >= narrower;
            if between.slices().any(|slice| slice.iter().any(is_long)) {
                return None;
            }
        }
        Some(SumCheckpoint {
            block,
            at: self.ends[block],
        })
    }

    /// Returns the time per activity up to a checkpoint, like [`Spans::until`].
    pub fn sum_until_checkpoint(&self, sum_checkpoint: SumCheckpoint) -> Shares {
        self.sum(sum_checkpoint.block)
    }

    /// Adds the time per activity between two checkpoints to `shares`. The cost depends on the few activities of the track.
    #[inline]
    pub fn add_between(&self, from: SumCheckpoint, to: SumCheckpoint, shares: &mut Shares) {
        for (activity, sums) in &self.sums {
            if let (Some(from), Some(to)) = (sums.get(from.block), sums.get(to.block)) {
                shares.record(*activity, Nanos(to.wrapping_sub(*from)));
            }
        }
    }

    /// Equivalent of [`Spans::index_after`] for a `t` not before the end of span `from - 1`.
    pub fn gallop(&self, from: usize, t: Nanos) -> usize {
        self.index_near(from, t).max(from)
    }

    fn index_in_block(&self, block: usize, t: Nanos) -> usize {
        let first = block * Self::BLOCK;
        let after = (first + Self::BLOCK).min(self.spans.len());
        // Counting needs no unpredictable branches, and loads the spans that a sum up to `t` reads next.
        // A block is in one chunk.
        let block = self.spans.view().slice(first, after - first);
        let ended = block.unwrap_or_default().iter().filter(|s| s.end <= t);
        first + ended.count()
    }

    /// Returns the spans that overlap `start..end`.
    pub fn range(&self, start: Nanos, end: Nanos) -> View<'_, Span> {
        let later = self.spans.range(self.index_after(start)..);
        later.range(..later.partition_point(|s| s.start < end))
    }

    /// Returns the time per activity from the beginning to `t`.
    pub fn until(&self, t: Nanos) -> Shares {
        self.until_at(self.index_after(t), t)
    }

    /// Equivalent of [`Spans::until`] if `index == self.index_after(t)` is already known.
    pub fn until_at(&self, index: usize, t: Nanos) -> Shares {
        let block = (index / Self::BLOCK).min(self.ends.len().saturating_sub(1));
        let mut shares = self.sum(block);
        let first = block * Self::BLOCK;
        for span in self.spans.range(first..index) {
            shares.record(span.activity, span.end - span.start);
        }
        if let Some(span) = self.spans.get(index)
            && span.start < t
        {
            shares.record(span.activity, t - span.start);
        }
        shares
    }

    /// Returns true if a span may begin at `t`.
    pub(crate) fn is_free_at(&self, t: Nanos) -> bool {
        self.spans.last().is_none_or(|s| s.end <= t)
    }

    /// Opens a span at `start`, which must not be before the end of the last one.
    pub(crate) fn open(&mut self, start: Nanos, batch: u32, activity: Activity) {
        debug_assert!(self.is_free_at(start));
        if self.spans.len().is_multiple_of(Self::BLOCK) {
            self.sum_up();
        }
        if !self.sums.iter().any(|(known, _)| *known == activity) {
            self.add_activity(activity);
        }
        self.spans.push(Span {
            start,
            end: Nanos::MAX,
            batch,
            activity,
        });
    }

    /// Returns the running sum before a block.
    #[inline]
    fn sum(&self, block: usize) -> Shares {
        let mut shares = Shares::default();
        for (activity, sums) in &self.sums {
            if let Some(sum) = sums.get(block) {
                shares.record(*activity, Nanos(*sum));
            }
        }
        shares
    }

    /// Begins a block: stores the sum of all earlier spans.
    fn sum_up(&mut self) {
        let mut sum = self.sum(self.ends.len().saturating_sub(1));
        let first = self.spans.len().saturating_sub(Self::BLOCK);
        let mut longest = Nanos::ZERO;
        for span in self.spans.range(first..) {
            let time = span.end - span.start;
            sum.record(span.activity, time);
            longest = longest.max(time);
        }
        if !self.spans.is_empty() {
            self.longest.push(longest);
            self.peak = self.peak.max(longest);
        }
        for (activity, sums) in &mut self.sums {
            sums.push(sum.time_in(*activity).0);
        }
        let end = self.spans.last().map_or(Nanos(i64::MIN), |s| s.end);
        self.ends.push(end);
    }

    /// Adds an activity that did not occur before. This happens only a few times per track.
    fn add_activity(&mut self, activity: Activity) {
        let sums = std::iter::repeat_n(0, self.ends.len()).collect();
        self.sums.push((activity, sums));
    }

    pub(crate) fn bytes(&self) -> usize {
        let sums = self.sums.iter().map(|(_, sums)| sums.bytes());
        self.spans.bytes() + sums.sum::<usize>() + self.ends.bytes() + self.longest.bytes()
    }

    /// Returns the last span if it is open.
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
    fn running_sums_agree_with_a_sum_over_all_spans() {
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
    fn galloping_and_bisecting_find_the_same_span() {
        let spans = spans(200);
        for from in [0, 1, 5, 64, 199, 200] {
            for t in 0..2010 {
                let expected = spans.index_after(Nanos(t)).max(from);
                assert_eq!(spans.gallop(from, Nanos(t)), expected, "{from} {t}");
            }
        }
    }

    #[test]
    fn any_guess_finds_the_same_span_as_bisecting() {
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
    fn landmarks_are_exact_and_hide_no_long_span() {
        let mut spans = spans(300);
        spans.open(Nanos(3_000), 300, Activity::Held);
        spans.open_mut().expect("just opened").end = Nanos(3_500);
        for k in 301..400 {
            spans.open(Nanos(1_000 + 10 * k), k as u32, Activity::Training);
            spans.open_mut().expect("just opened").end = Nanos(1_007 + 10 * k);
        }
        let mut found = 0;
        for from in [0, 3, 16, 290, 320] {
            for end in (0..6_000).step_by(7).map(Nanos) {
                let sum_checkpoint = spans.sum_checkpoint(from, from + 40, end, Nanos(100));
                let Some(sum_checkpoint) = sum_checkpoint else {
                    continue;
                };
                let (index, at) = (sum_checkpoint.index(), sum_checkpoint.at);
                let shares = spans.sum_until_checkpoint(sum_checkpoint);
                found += 1;
                assert!(index > from && at <= end);
                assert_eq!(index, spans.index_after(at));
                assert_eq!(shares, spans.until(at));
                if let Some(before) = spans.sum_checkpoint(0, 40, at - Nanos(200), Nanos::MAX) {
                    let mut between = spans.sum_until_checkpoint(before);
                    spans.add_between(before, sum_checkpoint, &mut between);
                    assert_eq!(between, shares);
                }
                assert!(!(from..index).contains(&300), "a long span between");
            }
        }
        assert!(found > 500, "{found}");
    }

    #[test]
    fn a_range_contains_all_spans_that_it_touches() {
        let spans = spans(10);
        let touched: Vec<u32> = spans
            .range(Nanos(16), Nanos(31))
            .iter()
            .map(|s| s.batch)
            .collect();
        assert_eq!(touched, [1, 2, 3]);
    }
}
