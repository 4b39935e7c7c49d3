//! Layout of a track: wide spans as themselves, the others as shares of time per bucket. The cost depends on the number of pixels, not on
//! the number of spans.

use loadscope_trace::{Nanos, Shares, Span, Spans, SumCheckpoint, View};

use super::axis::{TimeAxis, floor};

/// Element to draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Drawn {
    /// A span that is wide enough to be seen, clipped to the screen.
    Span(Span),
    /// A time range with spans that are too narrow. Time missing from the shares was idle.
    Shares {
        /// First instant.
        start: Nanos,
        /// End (exclusive).
        end: Nanos,
        /// Time per activity.
        shares: Shares,
    },
}

/// Division of time into buckets. Panning does not move them, because the drawing would flicker otherwise.
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
    /// Width of a bucket, and minimum width of a span drawn as itself, points.
    pub const BUCKET: f32 = 3.0;

    /// Creates the buckets of an axis, up to the last event.
    pub fn new(axis: &TimeAxis, until: Nanos) -> Self {
        Self {
            start: axis.view.start,
            end: axis.view.end.min(until),
            bucket: (axis.ns_per_point() * f64::from(Self::BUCKET)).max(1.0),
            until,
        }
    }

    /// Returns the bucket around `t`.
    pub fn bucket_at(&self, t: Nanos) -> (Nanos, Nanos) {
        let edge = |k: i64| Nanos(floor(k as f64 * self.bucket + 0.5));
        let mut k = floor(t.0 as f64 / self.bucket);
        if edge(k + 1) <= t {
            // `t` is an edge that was rounded down.
            k += 1;
        }
        (edge(k).min(t), edge(k + 1).max(t + Nanos(1)))
    }

    /// Returns true if a span is drawn as itself.
    pub fn is_wide(&self, span: &Span) -> bool {
        (self.end_of(span) - span.start).0 as f64 >= self.bucket
    }

    /// Returns the number of buckets on the screen.
    pub fn buckets(&self) -> usize {
        ((self.end - self.start).0.max(0) as f64 / self.bucket) as usize
    }

    /// Returns the number of spans of a track on the screen.
    pub fn spans(&self, spans: &Spans) -> usize {
        spans
            .index_after(self.end)
            .saturating_sub(spans.index_after(self.start))
    }

    /// Returns the end of a span, or the last event if it is still open.
    pub fn end_of(&self, span: &Span) -> Nanos {
        self.so_far(span.end)
    }

    /// Returns the range on the screen, up to the last event.
    pub fn range(&self) -> (Nanos, Nanos) {
        (self.start, self.end)
    }

    /// Returns the edges of all buckets on the screen, from left to right.
    pub fn edges(&self) -> Vec<Nanos> {
        let mut edges = Vec::with_capacity(self.buckets() + 3);
        edges.push(self.start);
        while let Some(last) = edges.last().copied().filter(|last| *last < self.end) {
            edges.push(self.bucket_at(last).1.min(self.end));
        }
        edges
    }

    /// Returns `t`, clamped to the last event.
    pub fn so_far(&self, t: Nanos) -> Nanos {
        t.min(self.until)
    }
}

/// Lays out one track.
pub fn lay_out(spans: &Spans, grid: &Grid, out: &mut Vec<Drawn>) {
    let all = spans.all();
    let mut walk = Walk {
        t: grid.start,
        at: spans.index_after(grid.start),
        before: None,
        sum_checkpoint: None,
        count: 0,
    };
    while walk.t < grid.end {
        if walk.sum_checkpoint(spans, grid, out) {
            continue;
        }
        let Some(span) = all.get(walk.at).filter(|s| s.start < grid.end) else {
            break;
        };
        if grid.is_wide(span) {
            let start = span.start.max(walk.t);
            let end = grid.end_of(span).min(grid.end);
            out.push(Drawn::Span(Span {
                start,
                end,
                ..*span
            }));
            walk.t = end;
            walk.at += 1;
            (walk.before, walk.sum_checkpoint) = (None, None);
        } else {
            walk.edge(spans, span, grid, out);
        }
    }
}

/// Number of spans that are checked one by one before other methods are tried.
const LINEAR_LIMIT: usize = 12;

/// Iteration through a track from left to right.
struct Walk {
    /// Time reached so far.
    t: Nanos,
    /// First span that ends after `t`.
    at: usize,
    /// Running sum at `t`, if known.
    before: Option<Shares>,
    /// Landmark at `t`, if there is one.
    sum_checkpoint: Option<SumCheckpoint>,
    /// Number of spans in the last bucket. The number is a guess for the next bucket.
    count: usize,
}

impl Walk {
    /// Emits one bucket of a crowded range. Its end moves to a checkpoint, where the running sum is known, so that no span is fetched from
    /// memory. The end moves by at most a quarter of a bucket, which is less than a pixel.
    fn sum_checkpoint(&mut self, spans: &Spans, grid: &Grid, out: &mut Vec<Drawn>) -> bool {
        let bucket = Nanos(grid.bucket as i64);
        // The rest of a bucket whose end was moved belongs to the next one.
        let (_, edge) = grid.bucket_at(self.t + Nanos(bucket.0 / 2));
        if edge >= grid.end {
            return false;
        }
        let guess = self.at + self.count;
        let Some(sum_checkpoint) = spans.sum_checkpoint(self.at, guess, edge, bucket) else {
            return false;
        };
        let (start, end) = (self.t, sum_checkpoint.at);
        if (edge - end).0 > bucket.0 / 4 || end <= start {
            return false;
        }
        let mut shares = Shares::default();
        match self.sum_checkpoint {
            Some(before) => spans.add_between(before, sum_checkpoint, &mut shares),
            None => shares = spans.sum_until_checkpoint(sum_checkpoint) - self.before(spans, start),
        }
        if !shares.is_empty() {
            out.push(Drawn::Shares { start, end, shares });
        }
        *self = Self {
            t: end,
            at: sum_checkpoint.index(),
            before: None,
            sum_checkpoint: Some(sum_checkpoint),
            count: sum_checkpoint.index() - self.at,
        };
        true
    }

    /// Emits one bucket that starts with `span`.
    fn edge(&mut self, spans: &Spans, span: &Span, grid: &Grid, out: &mut Vec<Drawn>) {
        let (left, mut right) = grid.bucket_at(span.start.max(self.t));
        let start = left.max(self.t);
        let guess = self.at + self.count;
        let is_wide = |at: usize, end: Nanos| {
            let reaching = spans.all().get(at);
            reaching.filter(|s| s.start < end && grid.is_wide(s))
        };
        let mut wide = None;
        let is_rest = start > left && ((right - start).0 as f64) < grid.bucket / 2.0;
        if is_rest && right < grid.end {
            // The rest of a bucket whose end was moved is too narrow to be drawn separately.
            wide = is_wide(self.reach(spans, self.at, right), right);
            right = grid.bucket_at(right).1;
        }
        let mut end = right.min(grid.end);
        let mut next = self.reach(spans, guess, end);
        if let Some(wide) = wide.or_else(|| is_wide(next, end)) {
            end = wide.start.max(start);
            next = self.reach(spans, next, end);
        }
        let mut sum = None;
        let mut shares = Shares::default();
        if next - self.at <= LINEAR_LIMIT {
            let touched = spans.all().range(self.at..spans.all().len().min(next + 1));
            for span in touched.iter().filter(|s| s.start < end) {
                shares.record(span.activity, span.end.min(end) - span.start.max(start));
            }
        } else {
            let until = spans.until_at(next, end);
            shares = until - self.before(spans, start);
            sum = Some(until);
        }
        if !shares.is_empty() {
            out.push(Drawn::Shares { start, end, shares });
        }
        *self = Self {
            t: end,
            at: next,
            before: sum,
            sum_checkpoint: None,
            count: next - self.at,
        };
    }

    /// Returns the first span that ends after `end`. It searches the next few spans, then near `guess`.
    fn reach(&self, spans: &Spans, guess: usize, end: Nanos) -> usize {
        let next = spans.all().range(self.at..).iter().take(LINEAR_LIMIT);
        match next.enumerate().find(|(_, span)| span.end > end) {
            Some((count, _)) => self.at + count,
            None => spans.index_near(guess, end).max(self.at),
        }
    }

    /// Returns the running sum at `start`. `start` is the time reached, or later in the idle time before the next span.
    fn before(&self, spans: &Spans, start: Nanos) -> Shares {
        match (self.before, self.sum_checkpoint) {
            (Some(sum), _) => sum,
            (None, Some(sum_checkpoint)) => spans.sum_until_checkpoint(sum_checkpoint),
            (None, None) => spans.until_at(self.at, start),
        }
    }
}

/// Lays out a lane with too many rows: the time of all rows per bucket. In a crowded row, a bucket ends at a checkpoint, as in [`lay_out`].
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
        add_row(spans, grid, &edges, &mut sums);
    }
    for (k, shares) in sums.into_iter().enumerate() {
        if !shares.is_empty() {
            let (start, end) = (edges[k], edges[k + 1]);
            out.push(Drawn::Shares { start, end, shares });
        }
    }
}

/// Adds the time of one row to the buckets between `edges`.
fn add_row(spans: &Spans, grid: &Grid, edges: &[Nanos], sums: &mut [Shares]) {
    let first = spans.index_after(grid.start);
    let after = spans.index_near(first + sums.len(), grid.end);
    if after.saturating_sub(first) <= sums.len() {
        let after = spans.all().len().min(after + 1);
        add_spans(spans.all().range(first..after), grid, edges, sums);
    } else {
        add_crowd(spans, first, grid, edges, sums);
    }
}

/// Adds a row that has fewer spans than there are buckets.
fn add_spans(spans: View<'_, Span>, grid: &Grid, edges: &[Nanos], sums: &mut [Shares]) {
    let mut k = 0;
    for span in spans {
        let end = span.end.min(grid.end);
        let mut start = span.start.max(grid.start);
        if start >= end {
            continue;
        }
        if edges[k + 1] <= start {
            k += edges[k + 1..].partition_point(|edge| *edge <= start);
        }
        loop {
            let edge = edges[k + 1].min(end);
            sums[k].record(span.activity, edge - start);
            if edge >= end {
                break;
            }
            start = edge;
            k += 1;
        }
    }
}

/// Adds a row that has more spans than there are buckets.
fn add_crowd(spans: &Spans, first: usize, grid: &Grid, edges: &[Nanos], sums: &mut [Shares]) {
    let (all, last) = (spans.all(), sums.len() - 1);
    let quarter = Nanos((grid.bucket / 4.0) as i64);
    let (mut t, mut at) = (grid.start, first);
    let (mut before, mut sum_checkpoint): (Option<Shares>, Option<SumCheckpoint>) = (None, None);
    let (mut k, mut count) = (0, 0);
    while t < grid.end {
        // The rest of a bucket that ended early belongs to the next one.
        while k < last && edges[k + 1] <= t + quarter {
            k += 1;
        }
        let known = spans.sum_checkpoint(at, at + count, edges[k + 1], Nanos::MAX);
        let known = known.filter(|l| l.at > t && l.at + quarter >= edges[k + 1]);
        if let (Some(from), Some(to)) = (sum_checkpoint, known) {
            spans.add_between(from, to, &mut sums[k]);
            count = to.index() - at;
            (t, at, sum_checkpoint) = (to.at, to.index(), known);
            continue;
        }
        let from = match (before, sum_checkpoint) {
            (Some(sum), _) => sum,
            (None, Some(sum_checkpoint)) => spans.sum_until_checkpoint(sum_checkpoint),
            (None, None) => spans.until_at(at, t),
        };
        let (next, end, sum) = match known {
            Some(known) => (known.index(), known.at, spans.sum_until_checkpoint(known)),
            None => {
                let Some(span) = all.get(at).filter(|s| s.start < grid.end) else {
                    return;
                };
                // The loop skips to the first bucket that this span touches, so that idle buckets cost nothing.
                if edges[k + 1] <= span.start {
                    k += edges[k + 1..].partition_point(|edge| *edge <= span.start);
                }
                let end = edges[k + 1];
                let next = spans.index_near(at + count, end).max(at);
                (next, end, spans.until_at(next, end))
            }
        };
        sums[k] = sums[k] + (sum - from);
        count = next - at;
        (t, at, sum_checkpoint) = (end, next, known);
        before = known.is_none().then_some(sum);
    }
}

#[cfg(test)]
mod tests;
