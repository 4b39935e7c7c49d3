//! Ruler: ticks, the time under the pointer, the selected range and the handle of the time cursor.

use std::sync::Arc;

use egui::{
    Align2, CursorIcon, Galley, Painter, PointerButton, Rangef, Rect, Response, Role, Sense, Shape,
    Stroke, StrokeKind, Ui, WidgetInfo, pos2,
};
use loadscope_trace::Nanos;
use loadscope_words::say;

use super::input::{Drag, Requests, range};
use super::scene::Scene;
use super::{markers, search_hits};
use crate::theme::{self, size};
use loadscope_model::command::Command;
use loadscope_model::view::{Cursor, Item};

/// Half the width of the cursor's handle, and the distance at which it can be dragged, points.
const HANDLE: f32 = 5.0;
const REACH: f32 = 7.0;

/// Draws the ruler and handles the cursor and the range.
pub(super) fn show(
    ui: &Ui,
    rect: Rect,
    scene: &Scene<'_>,
    pointer: Option<Nanos>,
    drag: &mut Option<Drag>,
    requests: &mut Requests,
) {
    let strip = Rect::from_x_y_ranges(scene.axis.range, rect.y_range());
    let painter = ui.painter_at(rect);
    painter.hline(
        rect.x_range(),
        rect.bottom() - 0.5,
        Stroke::new(1.0, scene.palette.line),
    );
    let header = pos2(strip.left() - 8.0, rect.center().y);
    painter.text(
        header,
        Align2::RIGHT_CENTER,
        say!("busy"),
        theme::sans(size::SMALL),
        scene.palette.weak,
    );
    // The clip area includes one point to the left, because the first tick is often exactly at the edge.
    let painter = ui.painter_at(strip.expand2([1.0, 0.0].into()));
    let flags = markers::flags(&painter, strip, scene);
    let mut covered: Vec<Rect> = flags.iter().map(|flag| flag.place).collect();
    covered.extend(pointer.map(|t| pill(&painter, strip, scene, t).0));
    covered.extend(paint_range(&painter, strip, scene, &covered));
    paint_marks(&painter, strip, scene, &covered);
    let found = search_hits::visible(scene, &scene.axis);
    search_hits::paint_ticks(&painter, strip, &scene.axis, scene, &found);
    let response = ui.interact(strip, ui.scope_id().with("ruler"), Sense::click_and_drag());
    response.widget_info(|| WidgetInfo::labeled(Role::GraphicsObject, true, say!("Time ruler")));
    // The markers are placed after the ruler, so that a flag receives the drag.
    markers::show(ui, &painter, strip, &flags, scene, requests);
    handle(ui, &response, scene, drag, requests);
}

/// Drags the time cursor or a range, and moves the cursor to a click.
fn handle(
    ui: &Ui,
    response: &Response,
    scene: &Scene<'_>,
    drag: &mut Option<Drag>,
    requests: &mut Requests,
) {
    let Some(pointer) = response.interact_pointer_pos().or(response.hover_pos()) else {
        return;
    };
    let near_cursor = |x: f32| (x - scene.axis.x(scene.state.now())).abs() <= REACH;
    let t = scene.axis.time(scene.axis.range.clamp(pointer.x));
    if response.drag_started_by(PointerButton::Primary) {
        let from = ui.input(|i| i.pointer.press_origin()).unwrap_or(pointer).x;
        *drag = Some(if near_cursor(from) {
            Drag::Cursor
        } else {
            Drag::Range(scene.axis.time(from))
        });
    }
    let in_run = |t: Nanos| t.clamp(Nanos::ZERO, scene.state.session.run.whole().end());
    if response.dragged_by(PointerButton::Primary) {
        match *drag {
            Some(Drag::Cursor) => requests
                .commands
                .push(Command::Cursor(Cursor::At(in_run(t)))),
            Some(Drag::Range(from)) => {
                let selected = range(from, t).map(|item| Command::Select(Some(item)));
                requests.commands.extend(selected);
            }
            _ => {}
        }
    } else if response.clicked() {
        requests
            .commands
            .push(Command::Cursor(Cursor::At(in_run(t))));
    }
    let holds_cursor = *drag == Some(Drag::Cursor) || (drag.is_none() && near_cursor(pointer.x));
    if holds_cursor {
        ui.set_cursor_icon(CursorIcon::ResizeHorizontal);
    }
}

fn paint_marks(painter: &Painter, strip: Rect, scene: &Scene<'_>, covered: &[Rect]) {
    let axis = &scene.axis;
    let ticks = axis.ticks();
    let bottom = strip.bottom() - 1.0;
    if let Some(minor) = ticks.minor {
        let strength = ((axis.points(minor) - 8.0) / 24.0).clamp(0.0, 0.7);
        let stroke = Stroke::new(
            1.0,
            scene
                .palette
                .canvas
                .lerp_to_gamma(scene.palette.weak, strength),
        );
        for t in axis.multiples(minor) {
            painter.vline(axis.x(t) + 0.5, bottom - 3.0..=bottom, stroke);
        }
    }
    for t in axis.multiples(ticks.major) {
        let x = axis.x(t);
        painter.vline(
            x + 0.5,
            bottom - 6.0..=bottom,
            Stroke::new(1.0, scene.palette.weak),
        );
        let text = axis.label(t, ticks.major);
        let text = painter.layout_no_wrap(text, theme::mono(size::SMALL), scene.palette.weak);
        let at = pos2(x + 4.0, strip.center().y - text.size().y / 2.0);
        let place = Rect::from_min_size(at, text.size());
        let covered = covered.iter().any(|other| other.intersects(place));
        if !covered && place.right() <= strip.right() {
            painter.galley(at, text, scene.palette.weak);
        }
    }
}

/// Draws the selected range with its length, if there is free space. Returns the area of the text.
fn paint_range(
    painter: &Painter,
    strip: Rect,
    scene: &Scene<'_>,
    covered: &[Rect],
) -> Option<Rect> {
    let Some(Item::Range(start, end)) = scene.state.session.selection else {
        return None;
    };
    let left = scene.axis.x(start).max(strip.left());
    let right = scene.axis.x(end).min(strip.right());
    if right <= left {
        return None;
    }
    let band = Rect::from_x_y_ranges(left..=right, strip.y_range());
    painter.rect_filled(band, 0.0, scene.palette.selected());
    let text = painter.layout_no_wrap(
        (end - start).to_string(),
        theme::mono(size::SMALL),
        scene.palette.strong,
    );
    // The text is in the middle, or at one end if the middle is covered.
    let room = band.shrink2([4.0, 0.0].into());
    let place = [
        Align2::CENTER_CENTER,
        Align2::LEFT_CENTER,
        Align2::RIGHT_CENTER,
    ]
    .map(|align| align.align_size_within_rect(text.size(), room))
    .into_iter()
    .find(|place| room.contains_rect(*place) && !covered.iter().any(|c| c.intersects(*place)))?;
    painter.galley(place.min, text, scene.palette.strong);
    Some(place)
}

/// Draws the line of the time cursor through `height`, with its handle in the ruler.
pub(super) fn paint_cursor(painter: &Painter, ruler: Rect, height: Rangef, scene: &Scene<'_>) {
    let now = scene.state.now();
    if !scene.axis.shows(now) {
        return;
    }
    let x = scene.axis.x(now);
    let color = scene.palette.strong;
    painter.vline(
        x + 0.5,
        Rangef::new(ruler.bottom(), height.max),
        Stroke::new(1.0, color),
    );
    let (x, bottom) = (x + 0.5, ruler.bottom());
    let handle = [
        pos2(x - HANDLE, bottom - 8.0),
        pos2(x + HANDLE, bottom - 8.0),
        pos2(x, bottom),
    ];
    painter.add(Shape::convex_polygon(handle.to_vec(), color, Stroke::NONE));
}

/// Draws the line under the pointer, with the exact time in the ruler.
pub(super) fn paint_hover(
    painter: &Painter,
    ruler: Rect,
    height: Rangef,
    scene: &Scene<'_>,
    t: Nanos,
) {
    let x = scene.axis.x(t);
    let stroke = Stroke::new(1.0, scene.palette.weak.gamma_multiply(0.7));
    painter.vline(x + 0.5, Rangef::new(ruler.bottom(), height.max), stroke);
    let (pill, text) = pill(painter, ruler, scene, t);
    painter.rect(
        pill,
        2.0,
        scene.palette.panel,
        Stroke::new(1.0, scene.palette.line),
        StrokeKind::Inside,
    );
    painter.galley(
        pill.center() - text.size() / 2.0,
        text,
        scene.palette.strong,
    );
}

/// Returns the text at the pointer and its area: the time, and its distance from the time cursor.
fn pill(painter: &Painter, ruler: Rect, scene: &Scene<'_>, t: Nanos) -> (Rect, Arc<Galley>) {
    let mut text = scene.axis.exact(t);
    if scene.state.session.cursor != Cursor::Live {
        let since = t - scene.state.now();
        let sign = if since < Nanos::ZERO { "" } else { "+" };
        text += &format!("  {sign}{since}");
    }
    let text = painter.layout_no_wrap(text, theme::mono(size::SMALL), scene.palette.strong);
    let half = text.size().x / 2.0 + 5.0;
    let middle = scene.axis.x(t).clamp(
        ruler.left() + half,
        (ruler.right() - half).max(ruler.left() + half),
    );
    let height = ruler.shrink2([0.0, 3.0].into()).y_range();
    (
        Rect::from_x_y_ranges(middle - half..=middle + half, height),
        text,
    )
}
