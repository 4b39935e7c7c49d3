//! What lies on top of the spans: the outlines of what is selected and hovered, and the way of the selected batch.

use eframe::egui::{Painter, Rangef, Rect, Stroke, StrokeKind, pos2};
use loadscope_trace::{Nanos, Span, Track};

use super::flow::{Place, places};
use super::hit::Target;
use super::scene::Scene;
use crate::view::Item;

/// The narrowest outline, points.
const NARROWEST: f32 = 3.0;

/// Draws what is selected.
pub(super) fn paint(painter: &Painter, top: f32, scene: &Scene<'_>) {
    match scene.state.selection {
        Some(Item::Batch(row)) => paint_batch(painter, top, scene, row),
        Some(Item::Range(start, end)) => paint_range(painter, scene, start, end),
        _ => {}
    }
    match scene.state.hovered {
        Some(Item::Batch(row)) if scene.state.selection != Some(Item::Batch(row)) => {
            for place in places(&scene.state.run, row) {
                outline(painter, top, scene, &place, 1.0);
            }
        }
        _ => {}
    }
}

/// Draws an outline around what the pointer is over.
pub(super) fn paint_hovered(painter: &Painter, top: f32, scene: &Scene<'_>, target: &Target) {
    match target {
        Target::Span(track, span) => {
            let place = Place {
                track: *track,
                span: *span,
            };
            let width = if scene.state.selection == Some(target.item()) {
                2.0
            } else {
                1.0
            };
            outline(painter, top, scene, &place, width);
        }
        Target::Bucket(bucket) => {
            if let Some(lane) = scene.lanes.find(bucket.lane) {
                let x = scene.axis.x(bucket.start)..=scene.axis.x(bucket.end);
                let rect = Rect::from_x_y_ranges(x, top + lane.top..=top + lane.bottom());
                painter.rect_stroke(
                    rect,
                    0.0,
                    Stroke::new(1.0, scene.palette.strong),
                    StrokeKind::Outside,
                );
            }
        }
        Target::Lane(_) => {}
    }
}

/// The selected batch: its spans, joined by the moments in which it went from lane to lane.
fn paint_batch(painter: &Painter, top: f32, scene: &Scene<'_>, row: usize) {
    let places = places(&scene.state.run, row);
    let stroke = Stroke::new(1.0, scene.palette.strong);
    for pair in places.windows(2) {
        let at = pair[1].span.start;
        let edges =
            place_edges(top, scene, pair[0].track).zip(place_edges(top, scene, pair[1].track));
        let Some((from, to)) = edges.filter(|_| scene.axis.shows(at)) else {
            continue;
        };
        let x = scene.axis.x(at) + 0.5;
        let (from, to) = if from.min < to.min {
            (from.max, to.min)
        } else {
            (from.min, to.max)
        };
        if pair[0].track != pair[1].track {
            painter.line_segment([pos2(x, from), pos2(x, to)], stroke);
            painter.circle_filled(pos2(x, to), 2.5, scene.palette.strong);
        }
    }
    for place in &places {
        outline(painter, top, scene, place, 2.0);
    }
}

/// Everything outside a selected range steps back.
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

fn place_edges(top: f32, scene: &Scene<'_>, track: Track) -> Option<Rangef> {
    let (from, to) = scene.lanes.find(track.lane)?.row(usize::from(track.row));
    Some(Rangef::new(top + from, top + to))
}

fn outline(painter: &Painter, top: f32, scene: &Scene<'_>, place: &Place, width: f32) {
    let Some(rect) = span_rect(top, scene, place.track, &place.span) else {
        return;
    };
    let stroke = Stroke::new(width, scene.palette.strong);
    if rect.width() <= NARROWEST {
        painter.rect_filled(rect.shrink2([0.5, 0.0].into()), 0.0, stroke.color);
    } else {
        painter.rect_stroke(rect, 1.0, stroke, StrokeKind::Outside);
    }
}

fn span_rect(top: f32, scene: &Scene<'_>, track: Track, span: &Span) -> Option<Rect> {
    let end = scene.grid.end_of(span);
    let view = scene.axis.view;
    if end < view.start || span.start > view.end {
        return None;
    }
    // Outlines of what goes on beyond the screen are open there.
    let beyond = 4.0;
    let left = scene.axis.x(span.start).max(scene.axis.range.min - beyond);
    let right = scene.axis.x(end).min(scene.axis.range.max + beyond);
    let missing = (NARROWEST - (right - left)).max(0.0) / 2.0;
    let edges = place_edges(top, scene, track)?;
    Some(Rect::from_x_y_ranges(
        left - missing..=right + missing,
        edges,
    ))
}
