//! What is drawn of a track: wide spans as themselves, the rest as shares of time per bucket. The cost depends on the
//! number of pixels and not on the number of spans.

use loadscope_trace::{Nanos, Shares, Span, Spans};

use super::axis::TimeAxis;

/// Something to draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Drawn {
    /// A span that is wide enough to be seen, cut off where the screen ends.
    Span(Span),
    /// How a stretch of time was filled by spans that are too narrow. What is missing was idle.
    Shares {
        /// First instant.
        start: Nanos,
        /// End (exclusive).
        end: Nanos,
        /// Time per activity.
        shares: Shares,
    },
}

/// Cuts time into buckets. They stand still when the view moves, so that panning does not make the picture flicker.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    start: Nanos,
    end: Nanos,
    /// Length of a bucket, ns.
    bucket: f64,
    /// Time of the last event, where open spans end for now.
    until: Nanos,
}

impl Grid {
    /// Width of a bucket, and of the narrowest span that is drawn as itself, points.
    pub const BUCKET: f32 = 3.0;

    /// The buckets of an axis, up to the last event.
    pub fn new(axis: &TimeAxis, until: Nanos) -> Self {
        Self {
            start: axis.view.start,
            end: axis.view.end.min(until),
            bucket: (axis.ns_per_point() * f64::from(Self::BUCKET)).max(1.0),
            until,
        }
    }

    /// The bucket around `t`.
    pub fn around(&self, t: Nanos) -> (Nanos, Nanos) {
        let edge = |k: f64| Nanos((k * self.bucket).round() as i64);
        let mut k = (t.0 as f64 / self.bucket).floor();
        if edge(k + 1.0) <= t {
            // `t` is an edge that was rounded down.
            k += 1.0;
        }
        (edge(k).min(t), edge(k + 1.0).max(t + Nanos(1)))
    }

    /// True if a span is drawn as itself.
    pub fn is_wide(&self, span: &Span) -> bool {
        (self.end_of(span) - span.start).0 as f64 >= self.bucket
    }

    /// Number of buckets on the screen.
    pub fn buckets(&self) -> usize {
        ((self.end - self.start).0.max(0) as f64 / self.bucket) as usize
    }

    /// Number of spans of a track that are on the screen.
    pub fn spans(&self, spans: &Spans) -> usize {
        spans
            .index_after(self.end)
            .saturating_sub(spans.index_after(self.start))
    }

    /// Where a span ends, or has come to so far.
    pub fn end_of(&self, span: &Span) -> Nanos {
        self.so_far(span.end)
    }

    /// What is on the screen, up to the last event.
    pub fn range(&self) -> (Nanos, Nanos) {
        (self.start, self.end)
    }

    /// The edges of all buckets on the screen, from its left edge to its right one.
    pub fn edges(&self) -> Vec<Nanos> {
        let mut edges = Vec::with_capacity(self.buckets() + 3);
        edges.push(self.start);
        while let Some(last) = edges.last().copied().filter(|last| *last < self.end) {
            edges.push(self.around(last).1.min(self.end));
        }
        edges
    }

    /// `t`, but not later than the last event.
    pub fn so_far(&self, t: Nanos) -> Nanos {
        t.min(self.until)
    }
}

/// Lays out one track.
pub fn lay_out(spans: &Spans, grid: &Grid, out: &mut Vec<Drawn>) {
    let all = spans.all();
    let mut t = grid.start;
    let mut at = spans.index_after(t);
    // Where the bucket before ended, its running sum, and how many spans it had: the next one begins like that.
    let mut before = (Nanos(i64::MIN), Shares::default());
    let mut count = 0;
    while let Some(span) = all.get(at).filter(|s| t < grid.end && s.start < grid.end) {
        if grid.is_wide(span) {
            let start = span.start.max(t);
            let end = grid.end_of(span).min(grid.end);
            out.push(Drawn::Span(Span {
                start,
                end,
                ..*span
            }));
            t = end;
            at += 1;
            continue;
        }
        let (left, right) = grid.around(span.start.max(t));
        let start = left.max(t);
        let mut end = right.min(grid.end);
        let next = spans.index_near(at + count, end).max(at);
        if let Some(wide) = all.get(next).filter(|s| s.start < end && grid.is_wide(s)) {
            end = wide.start.max(start);
        }
        let until_start = if before.0 == start {
            before.1
        } else {
            spans.until_at(at, start)
        };
        let until_end = spans.until_at(next, end);
        let shares = until_end - until_start;
        if shares.total() > Nanos::ZERO {
            out.push(Drawn::Shares { start, end, shares });
        }
        before = (end, until_end);
        count = next - at;
        (t, at) = (end, next);
    }
}

/// Lays out a lane whose rows are too many to tell apart: the time of all rows per bucket.
pub fn lay_out_depth<'a>(
    rows: impl IntoIterator<Item = &'a Spans>,
    grid: &Grid,
    out: &mut Vec<Drawn>,
) {
    if grid.end <= grid.start {
        return;
    }
    let edges = grid.edges();
    let mut sums = vec![Shares::default(); edges.len() - 1];
    for spans in rows {
        let mut at = spans.index_after(grid.start);
        let mut k = 0;
        while let Some(span) = spans.all().get(at).filter(|s| s.start < grid.end) {
            // To the first bucket that this span reaches: idle ones cost nothing.
            k += edges[k + 1..].partition_point(|edge| *edge <= span.start);
            let Some((start, end)) = edges.get(k).copied().zip(edges.get(k + 1).copied()) else {
                break;
            };
            let next = spans.gallop(at, end);
            sums[k] = sums[k] + (spans.until_at(next, end) - spans.until_at(at, start));
            (at, k) = (next, k + 1);
            if k == sums.len() {
                break;
            }
        }
    }
    for (k, shares) in sums.into_iter().enumerate() {
        if shares.total() > Nanos::ZERO {
            let (start, end) = (edges[k], edges[k + 1]);
            out.push(Drawn::Shares { start, end, shares });
        }
    }
}

#[cfg(test)]
mod tests;
