//! What is inside a span that was zoomed into: its samples, and the named stages of each.

use eframe::egui::{Color32, Mesh, Rangef, Rect};
use loadscope_trace::Sample;

use super::paint::Canvas;

/// The narrowest sample that is drawn, points.
const SAMPLE: f32 = 4.0;
/// The narrowest sample whose stages are drawn, points.
const STAGES: f32 = 16.0;
/// Height of the strip of stages, points.
const STRIP: f32 = 5.0;

/// Draws the limits between the samples of a fetched batch into its span, and what was done for each.
pub(super) fn paint_samples(
    mesh: &mut Mesh,
    canvas: &Canvas<'_>,
    row: usize,
    rect: Rect,
    label_end: f32,
    colour: Color32,
) {
    let samples = canvas.run.samples(row);
    let count = samples.len() as f32;
    if count < 1.0 || full_width(canvas, row) < SAMPLE * count || rect.height() < STRIP {
        return;
    }
    let pixel = 1.0 / canvas.axis.pixels_per_point;
    let limit = colour.lerp_to_gamma(canvas.palette.canvas, 0.55);
    for sample in samples {
        if sample.end() < canvas.axis.view.start || sample.start > canvas.axis.view.end {
            continue;
        }
        let left = canvas.axis.x(sample.start).max(rect.left());
        let right = canvas.axis.x(sample.end()).min(rect.right());
        if sample.position > 0 && sample.start >= canvas.axis.view.start {
            // Not through the label.
            let top = if left < label_end {
                rect.bottom() - STRIP
            } else {
                rect.top()
            };
            let line = Rect::from_x_y_ranges(left..=left + pixel, top..=rect.bottom());
            mesh.add_colored_rect(line, limit);
        }
        if right - left >= STAGES {
            let strip = Rangef::new(rect.bottom() - STRIP, rect.bottom());
            paint_stages(mesh, canvas, row, &sample, (rect, strip), colour);
        }
    }
}

fn full_width(canvas: &Canvas<'_>, row: usize) -> f32 {
    let mut samples = canvas.run.samples(row);
    let first = samples.next();
    let last = samples.last().or(first);
    match (first, last) {
        (Some(first), Some(last)) => canvas.axis.points(last.end() - first.start),
        _ => 0.0,
    }
}

fn paint_stages(
    mesh: &mut Mesh,
    canvas: &Canvas<'_>,
    row: usize,
    sample: &Sample,
    (rect, strip): (Rect, Rangef),
    colour: Color32,
) {
    let Some(stages) = canvas.run.sample_stages(row) else {
        return;
    };
    let mut start = sample.start;
    for name_at in 0..stages.names.len() {
        let end = start + stages.wall(name_at, sample.position);
        let left = canvas.axis.x(start).clamp(rect.left(), rect.right());
        let right = canvas.axis.x(end).clamp(rect.left(), rect.right());
        // Shades of the span's own colour: hues are taken by the stages of a batch.
        let share = [0.30, 0.65, 0.45, 0.80][name_at % 4];
        let shade = colour.lerp_to_gamma(canvas.palette.canvas, share);
        mesh.add_colored_rect(Rect::from_x_y_ranges(left..=right, strip), shade);
        start = end;
    }
}
