//! Hit testing, consistent with the drawing.

use loadscope_trace::{Lane, Nanos, Run, Shares, Span, Spans, Track};

use super::lanes::{Form, GroupHeading, LaneBox};
use super::layout::Grid;
use super::process;
use loadscope_model::view::Item;

/// Target under the pointer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// Span that is drawn as itself.
    Span(Track, Span),
    /// Several spans that are too narrow to draw separately.
    Bucket(Bucket),
    /// Only the lane.
    Lane(Lane),
}

/// Spans that are too narrow to draw separately.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bucket {
    /// Lane of the spans.
    pub lane: Lane,
    /// First instant.
    pub start: Nanos,
    /// End (exclusive).
    pub end: Nanos,
    /// Number of spans.
    pub spans: u64,
    /// Time of the spans per activity.
    pub shares: Shares,
    /// Number of the lane's rows that `shares` includes.
    pub rows: usize,
}

impl Target {
    /// Returns the item that a click selects and hovering highlights.
    pub fn item(&self) -> Item {
        match self {
            Self::Span(track, span) => span.batch().map_or(Item::Lane(track.lane), Item::Batch),
            Self::Bucket(bucket) => Item::Lane(bucket.lane),
            Self::Lane(lane) => Item::Lane(*lane),
        }
    }

    /// Returns the range for zooming. Returns `None` for a lane.
    pub fn range(&self, run: &Run) -> Option<(Nanos, Nanos)> {
        match self {
            Self::Span(_, span) => Some((span.start, span.end.min(run.end()))),
            Self::Bucket(bucket) => Some((bucket.start, bucket.end)),
            Self::Lane(_) => None,
        }
    }
}

/// Returns the target at `t`, `y` points below the first lane.
pub fn target(run: &Run, grid: &Grid, lane: &LaneBox, y: f32, t: Nanos) -> Target {
    let nothing = Target::Lane(lane.lane);
    if lane.form == Form::Depth {
        let tracks = lane.tracks();
        return combined_bucket(run, grid, tracks, lane.lane, lane.rows, t)
            .map_or(nothing, Target::Bucket);
    }
    if lane.form == Form::Process {
        let Some(spans) = process::spans(run, grid) else {
            let (start, end) = grid.bucket_at(t);
            let end = grid.so_far(end).max(start);
            let bucket = Bucket {
                lane: lane.lane,
                start,
                end,
                spans: process::count(run, start, end),
                shares: process::shares(run, start, end),
                rows: 1,
            };
            return match bucket.spans {
                0 => nothing,
                _ => Target::Bucket(bucket),
            };
        };
        let track = |span: &Span| Track {
            lane: process::lane_of(span.activity),
            row: 0,
        };
        return in_row(&spans, grid, lane.lane, t, track).unwrap_or(nothing);
    }
    let track = lane.row_at(y).and_then(|row| lane.tracks().nth(row));
    let Some((track, spans)) = track.and_then(|track| Some((track, run.track(track)?))) else {
        return nothing;
    };
    in_row(spans, grid, lane.lane, t, |_| track).unwrap_or(nothing)
}

/// Returns the target at `t` in a row of `lane`. `track` returns the track of a span.
fn in_row(
    spans: &Spans,
    grid: &Grid,
    lane: Lane,
    t: Nanos,
    track: impl Fn(&Span) -> Track,
) -> Option<Target> {
    let at = spans.index_after(t);
    let is_here = |s: &&Span| s.start <= t && grid.is_wide(s) && t <= grid.end_of(s);
    if let Some(span) = spans.all().get(at).filter(is_here) {
        return Some(Target::Span(track(span), *span));
    }
    let bucket = Bucket {
        lane,
        ..bucket(spans, grid, t, true)
    };
    match bucket.spans {
        0 => None,
        1 => {
            let span = spans.range(bucket.start, bucket.end).first()?;
            Some(Target::Span(track(span), *span))
        }
        _ => Some(Target::Bucket(bucket)),
    }
}

/// Returns the summary of a folded group's lanes around `t`.
pub fn summary(run: &Run, grid: &Grid, head: &GroupHeading, t: Nanos) -> Option<Bucket> {
    let (lane, _) = head.members.first()?;
    combined_bucket(run, grid, head.tracks(), *lane, head.rows(), t)
}

/// Returns the combined bucket of several tracks. Returns `None` if it is empty.
fn combined_bucket(
    run: &Run,
    grid: &Grid,
    tracks: impl Iterator<Item = Track>,
    lane: Lane,
    rows: usize,
    t: Nanos,
) -> Option<Bucket> {
    let parts = tracks
        .filter_map(|track| run.track(track))
        .map(|spans| bucket(spans, grid, t, false));
    let sum = parts.reduce(|sum, part| Bucket {
        spans: sum.spans + part.spans,
        shares: sum.shares + part.shares,
        ..sum
    })?;
    (sum.spans > 0).then_some(Bucket { lane, rows, ..sum })
}

/// Returns the bucket around `t`. With `between_wide`, it excludes wide spans that extend into it.
fn bucket(spans: &Spans, grid: &Grid, t: Nanos, between_wide: bool) -> Bucket {
    let (mut start, mut end) = grid.bucket_at(t);
    end = grid.so_far(end);
    if between_wide {
        for span in spans.range(start, end).iter().filter(|s| grid.is_wide(s)) {
            if span.start <= t {
                start = start.max(grid.end_of(span));
            } else {
                end = end.min(span.start);
            }
        }
    }
    end = end.max(start);
    let count = if start < end {
        spans.range(start, end).len()
    } else {
        0
    };
    Bucket {
        lane: Lane::Trainer,
        start,
        end,
        spans: count as u64,
        shares: spans.until(end) - spans.until(start),
        rows: 1,
    }
}
