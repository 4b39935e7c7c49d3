//! Conversion of the layout into one mesh and a few labels. Only colors and pixels are decided here.

use std::sync::Arc;

use egui::{Color32, Mesh, Rangef, Rect, pos2};
use loadscope_trace::{Activity, Lane, Span};
use loadscope_words::say;

use super::canvas::SpanColors;
use super::canvas::bars;
use super::canvas::{Canvas, Label, MOST_LABELS, label_width};
use super::chart::Step;
use super::icicle;
use super::lanes::{ChartBox, Form, GroupHeading, Lanes};
use super::layout::{Drawn, Grid, lay_out, lay_out_depth};
use super::process;
use super::sample_detail;
use crate::theme::Palette;
use loadscope_model::view::Item;

/// Painted lanes, cached until something changes.
#[derive(Clone, Default)]
pub struct Painted {
    /// All spans of all lanes.
    pub mesh: Arc<Mesh>,
    /// Labels in the spans.
    pub labels: Vec<Label>,
}

/// Minimum width of a span with a label, points.
const LABEL_FROM: f32 = 32.0;
/// Minimum height of a row with labels, points.
const LABEL_HEIGHT: f32 = 11.0;

impl Painted {
    /// Paints all visible lanes. It reuses the memory of the previous frame.
    pub fn repaint(&mut self, canvas: &Canvas<'_>) {
        let mut mesh = Arc::try_unwrap(std::mem::take(&mut self.mesh)).unwrap_or_default();
        mesh.clear();
        self.labels.clear();
        paint(canvas, &mut mesh, &mut self.labels);
        self.mesh = Arc::new(mesh);
    }
}

fn paint(canvas: &Canvas<'_>, mesh: &mut Mesh, labels: &mut Vec<Label>) {
    let mut drawn = Vec::new();
    let grid = Grid::new(&canvas.axis, canvas.run.end());
    let place = |top: f32, bottom: f32| Rangef::new(canvas.top + top, canvas.top + bottom);
    let seen = |edges: &Rangef| edges.intersects(canvas.visible);
    for edges in grounds(canvas.lanes).map(|(top, bottom)| place(top, bottom)) {
        if seen(&edges) {
            let ground = Rect::from_x_y_ranges(canvas.axis.range, edges);
            mesh.add_colored_rect(ground, lane_ground(canvas.palette));
        }
    }
    paint_marks(mesh, canvas);
    for head in canvas.lanes.heads.iter().filter(|h| h.folded) {
        let edges = place(head.top, head.bottom());
        if seen(&edges) {
            paint_summary(mesh, canvas, head, &grid, &mut drawn, edges);
        }
    }
    for chart in &canvas.lanes.charts {
        let edges = place(chart.top, chart.bottom());
        if seen(&edges) {
            paint_chart(mesh, canvas, chart, &grid, edges);
        }
    }
    for lane in &canvas.lanes.boxes {
        if !seen(&place(lane.top, lane.bottom())) {
            continue;
        }
        let edges = place(lane.top, lane.rows_bottom());
        let colors = SpanColors::new(canvas, |selected| lane.shows(selected));
        icicle::paint(mesh, labels, canvas, &colors, lane);
        if lane.form == Form::Process {
            drawn.clear();
            match process::spans(canvas.run, &grid) {
                Some(spans) => lay_out(&spans, &grid, &mut drawn),
                None => process::lay_out(canvas.run, &grid, &mut drawn),
            }
            paint_row(mesh, labels, canvas, &colors, &drawn, edges);
            continue;
        }
        let tracks = lane.tracks().filter_map(|track| canvas.run.track(track));
        if lane.form == Form::Depth {
            drawn.clear();
            lay_out_depth(tracks, &grid, &mut drawn);
            bars(mesh, canvas, &colors, &drawn, edges, lane.rows);
            continue;
        }
        for (row, spans) in tracks.enumerate() {
            let (top, bottom) = lane.row(row);
            let edges = Rangef::new(canvas.top + top, canvas.top + bottom);
            drawn.clear();
            lay_out(spans, &grid, &mut drawn);
            paint_row(mesh, labels, canvas, &colors, &drawn, edges);
        }
    }
}

fn paint_row(
    mesh: &mut Mesh,
    labels: &mut Vec<Label>,
    canvas: &Canvas<'_>,
    colors: &SpanColors,
    drawn: &[Drawn],
    edges: Rangef,
) {
    for item in drawn {
        if let Drawn::Span(span) = item {
            paint_span(mesh, labels, canvas, colors, span, edges);
        }
    }
    // The bars come last, so that a short range between two long spans keeps its pixel.
    bars(mesh, canvas, colors, drawn, edges, 1);
}

/// Returns the upper and lower edges of all rows with a time axis.
fn grounds(lanes: &Lanes) -> impl Iterator<Item = (f32, f32)> {
    let boxes = lanes.boxes.iter().map(|b| (b.top, b.bottom()));
    let folded = |h: &&GroupHeading| h.folded && !h.members.is_empty();
    let heads = lanes.heads.iter().filter(folded);
    let charts = lanes.charts.iter().map(|c| (c.top, c.bottom()));
    boxes
        .chain(heads.map(|h| (h.top, h.bottom())))
        .chain(charts)
}

/// Paints the summary of a folded group's lanes.
fn paint_summary(
    mesh: &mut Mesh,
    canvas: &Canvas<'_>,
    head: &GroupHeading,
    grid: &Grid,
    drawn: &mut Vec<Drawn>,
    edges: Rangef,
) {
    let members = |lane: Lane| head.members.iter().any(|(member, _)| *member == lane);
    let colors = SpanColors::new(canvas, members);
    let tracks = head.tracks().filter_map(|track| canvas.run.track(track));
    drawn.clear();
    lay_out_depth(tracks, grid, drawn);
    bars(mesh, canvas, &colors, drawn, edges, head.rows());
}

/// Paints a chart as an area with a line along its upper edge.
fn paint_chart(mesh: &mut Mesh, canvas: &Canvas<'_>, chart: &ChartBox, grid: &Grid, edges: Rangef) {
    let pixel = 1.0 / canvas.axis.pixels_per_point;
    let dimmed = canvas
        .selection
        .is_some_and(|s| !matches!(s, Item::Range(..)));
    let ink = |share: f32| {
        let color = canvas
            .palette
            .canvas
            .lerp_to_gamma(canvas.palette.text, share);
        if dimmed {
            canvas.palette.dimmed(color)
        } else {
            color
        }
    };
    let (area, line) = (ink(0.28), ink(0.62));
    let highest = chart.chart.top(canvas.run);
    let mut steps: Vec<Step> = Vec::new();
    chart.chart.lay_out(canvas.run, grid, &mut steps);
    let height_of = |value: f64| (value / highest).clamp(0.0, 1.0) as f32 * (edges.span() - 2.0);
    let mut last: Option<(f32, f32)> = None;
    for step in &steps {
        let left = canvas.axis.x(step.start);
        let right = canvas.axis.x(step.end).max(left + pixel);
        let y = edges.max - height_of(step.value);
        if step.value > 0.0 {
            mesh.add_colored_rect(Rect::from_x_y_ranges(left..=right, y..=edges.max), area);
        }
        let y = y.min(edges.max - pixel);
        mesh.add_colored_rect(Rect::from_x_y_ranges(left..=right, y..=y + pixel), line);
        // A vertical line connects the previous value with this one.
        if let Some((before, end)) = last.filter(|(_, end)| (end - left).abs() < pixel) {
            let jump = Rangef::new(before.min(y), before.max(y) + pixel);
            mesh.add_colored_rect(Rect::from_x_y_ranges(end - pixel..=end, jump), line);
        }
        last = Some((y, right));
    }
}

/// Paints lines through all lanes at the ticks of the axis. Minor lines fade in as their distance grows.
fn paint_marks(mesh: &mut Mesh, canvas: &Canvas<'_>) {
    let pixel = 1.0 / canvas.axis.pixels_per_point;
    let ticks = canvas.axis.ticks();
    let mut line = |t, color| {
        let x = canvas.axis.x(t);
        mesh.add_colored_rect(Rect::from_x_y_ranges(x..=x + pixel, canvas.visible), color);
    };
    if let Some(minor) = ticks.minor {
        let strength = ((canvas.axis.points(minor) - 16.0) / 48.0).clamp(0.0, 0.6);
        let color = canvas
            .palette
            .canvas
            .lerp_to_gamma(canvas.palette.line, strength);
        canvas.axis.multiples(minor).for_each(|t| line(t, color));
    }
    canvas
        .axis
        .multiples(ticks.major)
        .for_each(|t| line(t, canvas.palette.line));
}

/// Returns the background of a lane, slightly different from the space between lanes.
pub fn lane_ground(palette: &Palette) -> Color32 {
    palette.canvas.lerp_to_gamma(palette.text, 0.05)
}

fn paint_span(
    mesh: &mut Mesh,
    labels: &mut Vec<Label>,
    canvas: &Canvas<'_>,
    colors: &SpanColors,
    span: &Span,
    edges: Rangef,
) {
    let pixel = 1.0 / canvas.axis.pixels_per_point;
    let (left, mut right) = (canvas.axis.x(span.start), canvas.axis.x(span.end));
    if right - left >= 5.0 {
        // A gap of one pixel separates neighbors.
        right -= pixel;
    }
    let rect = Rect::from_x_y_ranges(left..=right, edges);
    let color = match span.activity {
        Activity::Waiting if !canvas.long.covers(span.start) => colors.of_short_wait(span.batch()),
        activity => colors.of(activity, span.batch()),
    };
    mesh.add_colored_rect(rect, color);
    let Some(row) = span.batch() else {
        return;
    };
    // The device has work at the beginning of a wait.
    if span.activity == Activity::Waiting
        && let Some(idle) = canvas.run.device_idle(row)
    {
        let end = canvas.axis.x(span.end - idle).clamp(left, right);
        let hidden = Rect::from_x_y_ranges(left..=end, edges);
        mesh.add_colored_rect(hidden, colors.of_short_wait(Some(row)));
    }
    let Some(batch) = canvas.run.batches().get(row) else {
        return;
    };
    let mut text = label(span.activity, batch.id.idx, rect);
    if span.activity == Activity::Fetching {
        let label_end = text
            .as_deref()
            .map_or(left, |text| left + label_width(text));
        let mut detail = sample_detail::SampleDetail {
            canvas,
            row,
            rect,
            color,
            labels,
            text: &|ground| colors.text(canvas.palette, ground),
        };
        if detail.paint(mesh, label_end) {
            text = None;
        }
    }
    if batch.has_error && rect.height() >= LABEL_HEIGHT {
        let mark = Rect::from_x_y_ranges(rect.x_range(), edges.min..=edges.min + 3.0);
        mesh.add_colored_rect(mark, canvas.palette.stall);
    }
    if let Some(text) = text.filter(|_| labels.len() < MOST_LABELS) {
        labels.push(Label {
            at: pos2(left + 4.0, rect.center().y),
            text,
            color: colors.text(canvas.palette, color),
        });
    }
}

/// Returns the label of a span: its batch, and more if there is room.
fn label(activity: Activity, batch: u32, rect: Rect) -> Option<String> {
    if rect.width() <= LABEL_FROM || rect.height() < LABEL_HEIGHT {
        return None;
    }
    let number = batch.to_string();
    let long = match activity {
        Activity::Training => number.clone(),
        Activity::Waiting => say!("waits for {number}"),
        activity => say!("{number} {}", activity.label().to_lowercase()),
    };
    [long, number]
        .into_iter()
        .find(|text| label_width(text) <= rect.width())
}
