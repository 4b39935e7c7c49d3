//! Overlay above the spans: outlines of the selection and the hovered item, and the path of the selected batch.

use egui::{Painter, Rangef, Rect, Stroke, StrokeKind, Ui, pos2};
use loadscope_model::view::Item;
use loadscope_trace::{Activity, Lane, Nanos, Run, Span, Stage, Track};

use super::hit::Target;
use super::scene::{Part, Scene};

/// Minimum width of an outline, points.
const NARROWEST: f32 = 3.0;

/// Areas of the lanes on the screen: the pinned trainer's lane and the scrolling ones.
pub(super) struct OverlayAreas<'a> {
    pub pinned: Part<'a>,
    pub lanes: Part<'a>,
}

impl OverlayAreas<'_> {
    /// Returns the part that shows a track.
    pub fn part(&self, track: Track) -> &Part<'_> {
        if self.pinned.lanes.find(track.lane).is_some() {
            &self.pinned
        } else {
            &self.lanes
        }
    }

    /// Returns the edges of a track, clipped to its part of the lanes. Returns `None` if it is not shown.
    fn edges(&self, track: Track) -> Option<Rangef> {
        let part = self.part(track);
        let edges = part.edges(track)?;
        let area = part.area.y_range();
        Some(Rangef::new(area.clamp(edges.min), area.clamp(edges.max)))
    }
}

/// Draws the selection.
pub(super) fn paint(ui: &Ui, areas: &OverlayAreas<'_>, scene: &Scene<'_>) {
    let height = areas.pinned.area.union(areas.lanes.area).y_range();
    let painter = ui.painter_at(Rect::from_x_y_ranges(scene.axis.range, height));
    match scene.state.session.selection {
        Some(Item::Batch(row)) => paint_batch(&painter, areas, scene, row),
        Some(Item::Range(start, end)) => paint_range(&painter, scene, start, end),
        _ => {}
    }
    match scene.state.session.hovered {
        Some(Item::Batch(row)) if scene.state.session.selection != Some(Item::Batch(row)) => {
            for place in batch_path(&scene.state.session.run, row) {
                outline(&painter, areas.part(place.track), scene, &place, 1.0);
            }
        }
        _ => {}
    }
}

/// Outlines the target under the pointer.
pub(super) fn paint_hovered(
    painter: &Painter,
    part: &Part<'_>,
    scene: &Scene<'_>,
    target: &Target,
) {
    match target {
        Target::Span(track, span) => {
            let place = PathSpan {
                track: *track,
                span: *span,
            };
            let width = if scene.state.session.selection == Some(target.item()) {
                2.0
            } else {
                1.0
            };
            outline(painter, part, scene, &place, width);
        }
        Target::Bucket(bucket) => {
            if let Some(lane) = part.lanes.find(bucket.lane) {
                let x = scene.axis.x(bucket.start)..=scene.axis.x(bucket.end);
                let y = part.top + lane.top..=part.top + lane.rows_bottom();
                painter.rect_stroke(
                    Rect::from_x_y_ranges(x, y),
                    0.0,
                    Stroke::new(1.0, scene.palette.strong),
                    StrokeKind::Outside,
                );
            }
        }
        Target::Lane(_) => {}
    }
}

/// Outlines the spans of the selected batch, with lines where it moved from lane to lane.
fn paint_batch(painter: &Painter, areas: &OverlayAreas<'_>, scene: &Scene<'_>, row: usize) {
    let places = batch_path(&scene.state.session.run, row);
    let stroke = Stroke::new(1.0, scene.palette.strong);
    for pair in places.windows(2) {
        let at = pair[1].span.start;
        let edges = areas.edges(pair[0].track).zip(areas.edges(pair[1].track));
        // A batch that stays on its lane needs no line.
        let Some((from, to)) = edges.filter(|(a, b)| a != b && scene.axis.shows(at)) else {
            continue;
        };
        let x = scene.axis.x(at) + 0.5;
        let (from, to) = if from.min < to.min {
            (from.max, to.min)
        } else {
            (from.min, to.max)
        };
        if pair[0].track != pair[1].track && from != to {
            painter.line_segment([pos2(x, from), pos2(x, to)], stroke);
            painter.circle_filled(pos2(x, to), 2.5, scene.palette.strong);
        }
    }
    for place in &places {
        outline(painter, areas.part(place.track), scene, place, 2.0);
    }
}

/// Dims everything outside the selected range.
fn paint_range(painter: &Painter, scene: &Scene<'_>, start: Nanos, end: Nanos) {
    let area = painter.clip_rect();
    let (left, right) = (scene.axis.x(start), scene.axis.x(end));
    let veil = scene.palette.canvas.gamma_multiply(0.65);
    for outside in [
        Rangef::new(area.left(), left.min(area.right())),
        Rangef::new(right.max(area.left()), area.right()),
    ] {
        if outside.span() > 0.0 {
            painter.rect_filled(Rect::from_x_y_ranges(outside, area.y_range()), 0.0, veil);
        }
    }
    for x in [left, right] {
        painter.vline(
            x + 0.5,
            area.y_range(),
            Stroke::new(1.0, scene.palette.strong),
        );
    }
}

fn outline(painter: &Painter, part: &Part<'_>, scene: &Scene<'_>, place: &PathSpan, width: f32) {
    let Some(rect) = span_rect(part, scene, place.track, &place.span) else {
        return;
    };
    let area = painter
        .clip_rect()
        .intersect(part.area.expand2([8.0, 0.0].into()));
    let painter = painter.with_clip_rect(area);
    let stroke = Stroke::new(width, scene.palette.strong);
    if rect.width() <= NARROWEST {
        painter.rect_filled(rect.shrink2([0.5, 0.0].into()), 0.0, stroke.color);
    } else {
        painter.rect_stroke(rect, 1.0, stroke, StrokeKind::Outside);
    }
}

fn span_rect(part: &Part<'_>, scene: &Scene<'_>, track: Track, span: &Span) -> Option<Rect> {
    let end = scene.grid.end_of(span);
    let view = scene.axis.view;
    if end < view.start || span.start > view.end {
        return None;
    }
    // The outline of a span that extends beyond the screen is open there.
    let beyond = 4.0;
    let left = scene.axis.x(span.start).max(scene.axis.range.min - beyond);
    let right = scene.axis.x(end).min(scene.axis.range.max + beyond);
    let missing = (NARROWEST - (right - left)).max(0.0) / 2.0;
    let edges = part.edges(track)?;
    Some(Rect::from_x_y_ranges(
        left - missing..=right + missing,
        edges,
    ))
}

/// Stay of a batch in a row of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathSpan {
    /// Lane and row.
    pub track: Track,
    /// Time span.
    pub span: Span,
}

/// Returns the places of a batch, in time order.
pub fn batch_path(run: &Run, row: usize) -> Vec<PathSpan> {
    let Some(batch) = run.batches().get(row) else {
        return Vec::new();
    };
    let mut places = Vec::new();
    let mut pinned = false;
    for step in run.path(row) {
        pinned |= step.stage == Stage::Pinning;
        let lane = Lane::of(step.stage, batch.worker, pinned);
        let Some((lane, activity)) = lane.zip(Activity::of(step.stage)) else {
            continue;
        };
        let rows = run
            .lanes()
            .find(|(l, _)| *l == lane)
            .map_or(0, |(_, rows)| rows);
        let place = (0..rows).find_map(|r| {
            let track = Track {
                lane,
                row: u16::try_from(r).ok()?,
            };
            let all = run.track(track)?.all();
            let first = all.partition_point(|s| s.start < step.start);
            let mut at_once = all
                .range(first..)
                .iter()
                .take_while(|s| s.start == step.start);
            let span = at_once.find(|s| s.batch() == Some(row) && s.activity == activity)?;
            Some(PathSpan { track, span: *span })
        });
        places.extend(place);
    }
    places
}
