//! Tooltips, which appear below their subject and never cover it.

use egui::{Popup, Rangef, Rect, Response, Tooltip, Ui};
use loadscope_trace::Nanos;
use loadscope_words::say;

use super::chart::Chart;
use super::hit::{Bucket, Target};
use super::lanes::{Form, LaneBox};
use super::scene::Scene;
use super::tooltip_text;
use crate::kit::titles::title_text;
use crate::theme::{self, size};
use loadscope_insight::format::capital;
use loadscope_insight::idle::purpose;
use loadscope_model::view::LaneGroup;

/// Shows the tooltip of the span or the bucket at `t`.
pub(super) fn show(
    response: &Response,
    row: Rangef,
    x: f32,
    scene: &Scene<'_>,
    target: &Target,
    t: Nanos,
) {
    let lines = tooltip_text::lines(&scene.state.session.run, &scene.axis, target, t);
    let below = Rect::from_x_y_ranges(x..=x + 1.0, row);
    if !lines.is_empty() {
        show_below(response, below, |ui| paint_lines(ui, scene, &lines));
    }
}

/// Shows the tooltip of a lane.
pub(super) fn show_lane(response: &Response, row: Rect, lane: &LaneBox, scene: &Scene<'_>) {
    let (shares, whole) = scene.shares_of(lane);
    let (name, about) = match lane.form {
        Form::Process => (
            say!("Main process: loads, then trains").to_owned(),
            say!(
                "num_workers=0: the main process loads and trains in turn, never at the same time"
            ),
        ),
        Form::Rows(_) | Form::Depth => (capital(&lane.lane.to_string()), purpose(lane.lane)),
    };
    let lines = [name, tooltip_text::shares(&shares, whole), about.to_owned()];
    show_below(response, row, |ui| paint_lines(ui, scene, &lines));
}

/// Shows the tooltip of a folded group at the pointer.
pub(super) fn show_summary(
    response: &Response,
    row: Rect,
    x: f32,
    scene: &Scene<'_>,
    group: LaneGroup,
    bucket: &Bucket,
) {
    let name = group.label().to_lowercase();
    let lines = tooltip_text::describe_bucket(&scene.axis, &name, bucket);
    let below = Rect::from_x_y_ranges(x..=x + 1.0, row.y_range());
    show_below(response, below, |ui| paint_lines(ui, scene, &lines));
}

/// Shows the tooltip of a chart, at the pointer or for the whole screen.
pub(super) fn show_chart(
    response: &Response,
    row: Rect,
    x: f32,
    scene: &Scene<'_>,
    chart: Chart,
    name: &str,
) {
    let run = &scene.state.session.run;
    let (start, end, below) = if scene.axis.range.contains(x) {
        let (start, end) = scene.grid.bucket_at(scene.axis.time(x));
        let below = Rect::from_x_y_ranges(x..=x + 1.0, row.y_range());
        (start, scene.grid.so_far(end), below)
    } else {
        let (start, end) = scene.on_screen();
        (start, end, row)
    };
    let value = chart.value(run, start, end);
    let value = value.map_or("—".to_owned(), |v| chart.text(v));
    let lines = [name.to_owned(), value, chart.about().to_owned()];
    show_below(response, below, |ui| paint_lines(ui, scene, &lines));
}

/// Shows a tooltip below `anchor`. An open menu suppresses it, because it would cover the entries.
pub(super) fn show_below(response: &Response, anchor: Rect, contents: impl FnOnce(&mut Ui)) {
    if Popup::is_any_open(&response.ctx) {
        return;
    }
    let tooltip =
        Tooltip::always_open(response.ctx.clone(), response.layer_id, response.id, anchor);
    tooltip.gap(8.0).width(420.0).show(contents);
}

fn paint_lines(ui: &mut Ui, scene: &Scene<'_>, lines: &[String]) {
    use egui::RichText;
    ui.spacing_mut().item_spacing.y = 4.0;
    for (k, line) in lines
        .iter()
        .enumerate()
        .filter(|(_, line)| !line.is_empty())
    {
        let text = RichText::new(line);
        ui.label(match k {
            0 => title_text(ui, line),
            1 => text.font(theme::mono(size::BODY)).color(scene.palette.text),
            _ => text.font(theme::sans(size::BODY)).color(scene.palette.weak),
        });
    }
}
