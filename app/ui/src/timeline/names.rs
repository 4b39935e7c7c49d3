//! Names to the left of the lanes, each with a number about the lane.

use egui::{Align2, Painter, Rect, Role, Sense, Ui, WidgetInfo, pos2};
use loadscope_trace::{Activity, Lane, Nanos, Shares};
use loadscope_words::say;

use super::input::{self, Requests};
use super::lanes::{ChartBox, Form, LaneBox};
use super::scene::{Part, Scene};
use super::tooltip;
use crate::theme::{self, size, space};
use loadscope_insight::format;
use loadscope_model::view::Item;

/// Space between a number and the time strip, points.
const AIR: f32 = 8.0;

/// Draws the name of a lane and its busy share.
pub(super) fn lane(painter: &Painter, part: &Part<'_>, lane: &LaneBox, scene: &Scene<'_>) {
    let palette = scene.palette;
    let is_it = |item: Option<Item>| matches!(item, Some(Item::Lane(l)) if lane.shows(l));
    let (top, bottom) = (part.top + lane.top, part.top + lane.bottom());
    let place = Rect::from_x_y_ranges(part.area.x_range(), top..=bottom);
    let rows = place.with_max_y(part.top + lane.rows_bottom());
    if is_it(scene.state.session.selection) {
        painter.rect_filled(place, 0.0, palette.selected());
    } else if is_it(scene.state.session.hovered) {
        painter.rect_filled(place, 0.0, palette.hovered());
    }
    if lane.form == Form::Process {
        process(painter, rows, scene);
        let (shares, whole) = scene.shares_of(lane);
        return busy(painter, rows, &shares, whole, scene);
    }
    let (name, font, color) = match lane.lane {
        Lane::IndexQueue(_) => (
            say!("index queue").to_owned(),
            theme::sans(size::SMALL),
            palette.weak,
        ),
        lane if lane.is_queue() => (lane.to_string(), theme::sans(size::BODY), palette.weak),
        lane => (lane.to_string(), theme::sans(size::BODY), palette.text),
    };
    let indent = match lane.lane {
        Lane::IndexQueue(_) => space::MARGIN + 8.0,
        _ => space::MARGIN,
    };
    let at = pos2(place.left() + indent, rows.center().y);
    painter.text(at, Align2::LEFT_CENTER, name, font, color);
    if !lane.lane.is_queue() {
        let (shares, whole) = scene.shares_of(lane);
        busy(painter, rows, &shares, whole, scene);
    }
}

/// Draws the name of the single lane of a loader without workers.
fn process(painter: &Painter, place: Rect, scene: &Scene<'_>) {
    let palette = scene.palette;
    let lines = [
        (say!("Main process"), size::BODY, palette.text, -9.0),
        (say!("loads, then trains"), size::SMALL, palette.weak, 8.0),
    ];
    for (text, size, color, below) in lines {
        let at = pos2(place.left() + space::MARGIN, place.center().y + below);
        painter.text(at, Align2::LEFT_CENTER, text, theme::sans(size), color);
    }
}

/// Draws the share of time spent working.
pub(super) fn busy(
    painter: &Painter,
    place: Rect,
    shares: &Shares,
    whole: Nanos,
    scene: &Scene<'_>,
) {
    let work = |a: &Activity| {
        matches!(
            a,
            Activity::Training | Activity::Fetching | Activity::Collating | Activity::Pinning
        )
    };
    let work: i64 = shares
        .iter()
        .filter(|(a, _)| work(a))
        .map(|(_, time)| time.0)
        .sum();
    number(
        painter,
        place,
        format::percent(work as f64 / whole.0.max(1) as f64),
        scene,
    );
}

fn number(painter: &Painter, place: Rect, text: String, scene: &Scene<'_>) {
    let at = pos2(scene.axis.range.min - AIR, place.center().y);
    let font = theme::mono(size::SMALL);
    painter.text(at, Align2::RIGHT_CENTER, text, font, scene.palette.weak);
}

/// Draws the name of a chart and the value at its upper edge, with a tooltip.
pub(super) fn chart(
    ui: &Ui,
    painter: &Painter,
    row: Rect,
    chart: &ChartBox,
    scene: &Scene<'_>,
    requests: &mut Requests,
) {
    let palette = scene.palette;
    let run = &scene.state.session.run;
    let (name, of) = chart.chart.label(run);
    let left = row.left() + space::MARGIN;
    let (first, second) = (row.top() + 8.0, row.bottom() - 7.0);
    let words = theme::sans(size::SMALL);
    let at = pos2(left, if of.is_some() { first } else { row.center().y });
    painter.text(at, Align2::LEFT_CENTER, name, words.clone(), palette.text);
    if let Some(of) = &of {
        painter.text(
            pos2(left, second),
            Align2::LEFT_CENTER,
            of,
            words,
            palette.weak,
        );
    }
    let highest = chart.chart.text(chart.chart.top(run));
    let line = Rect::from_x_y_ranges(row.x_range(), row.top()..=row.top() + 14.0);
    number(painter, line, highest, scene);

    let response = ui.interact(
        row,
        ui.scope_id().with(chart.chart),
        Sense::click_and_drag(),
    );
    let full = of.map_or(name.to_owned(), |of| say!("{name} of {of}"));
    response.widget_info(|| WidgetInfo::labeled(Role::GraphicsObject, true, say!("{full} chart")));
    input::pan_on_drag(ui, &response, scene, requests);
    input::show_focus(ui, &response, ui.clip_rect());
    if let Some(pointer) = response.hover_pos()
        && !ui.input(|i| i.pointer.any_down())
    {
        tooltip::show_chart(&response, row, pointer.x, scene, chart.chart, &full);
    }
}
