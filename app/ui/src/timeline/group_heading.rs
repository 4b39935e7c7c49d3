//! Headings of lane groups. A click folds or unfolds a group. A folded heading summarizes its lanes.

use egui::{
    Align2, Color32, CursorIcon, Painter, Pos2, Rect, Response, Role, Sense, Shape, Stroke, Ui,
    WidgetInfo, pos2,
};

use super::hit;
use super::input::{self, Requests};
use super::lanes::{GroupHeading, LaneBox};
use super::names;
use super::scene::{Part, Scene};
use super::tooltip;
use crate::theme::{self, size, space};
use loadscope_model::command::Command;
use loadscope_model::view::LaneGroup;
use loadscope_words::say;

/// Half the width of the fold icon, points.
const ICON_SIZE: f32 = 3.0;

/// Draws a heading and handles folding.
pub(super) fn show(
    ui: &Ui,
    painter: &Painter,
    row: Rect,
    head: &GroupHeading,
    scene: &Scene<'_>,
    requests: &mut Requests,
) {
    let palette = scene.palette;
    let name = Rect::from_x_y_ranges(row.left()..=scene.axis.range.min - 1.0, row.y_range());
    let response = button(ui, name, head.group, head.folded, requests);
    if response.hovered() {
        painter.rect_filled(name, 0.0, palette.hovered());
    }
    input::show_focus(ui, &response, ui.clip_rect());
    fold_icon(painter, name, head.folded, palette.weak);
    let (font, color) = match head.folded {
        true => (theme::sans(size::BODY), palette.text),
        false => (theme::sans(size::SMALL), palette.weak),
    };
    let text = match (head.group, head.folded, head.members.len()) {
        (LaneGroup::Workers, true, count) => say!("{count} workers"),
        (group, ..) => group.label().to_owned(),
    };
    let at = pos2(row.left() + space::MARGIN, row.center().y);
    painter.text(at, Align2::LEFT_CENTER, text, font, color);
    if !head.folded || head.members.is_empty() {
        return;
    }
    if head.group == LaneGroup::Workers {
        let (shares, whole) = scene.shares(head.tracks());
        names::busy(painter, name, &shares, whole, scene);
    }
    summary(ui, row, head, scene, requests);
}

/// Shows the summary of a folded group's lanes.
fn summary(ui: &Ui, row: Rect, head: &GroupHeading, scene: &Scene<'_>, requests: &mut Requests) {
    let strip = Rect::from_x_y_ranges(scene.axis.range, row.y_range());
    let id = ui.scope_id().with(("summary", head.group));
    let response = ui.interact(strip, id, Sense::click_and_drag());
    let name = say!("{} summary", head.group.label());
    response.widget_info(|| WidgetInfo::labeled(Role::GraphicsObject, true, &name));
    input::pan_on_drag(ui, &response, scene, requests);
    let pointer = response.hover_pos();
    let Some(pointer) = pointer.filter(|_| !ui.input(|i| i.pointer.any_down())) else {
        return;
    };
    let at = scene.axis.time(pointer.x);
    if let Some(bucket) = hit::summary(&scene.state.session.run, &scene.grid, head, at) {
        tooltip::show_summary(&response, row, pointer.x, scene, head.group, &bucket);
    }
}

/// Shows the fold icon next to the reorder buffer, which is a group by itself.
pub(super) fn fold_reorder(
    ui: &Ui,
    part: &Part<'_>,
    lane: &LaneBox,
    scene: &Scene<'_>,
    requests: &mut Requests,
) {
    let (top, bottom) = (part.top + lane.top, part.top + lane.bottom());
    let left = part.area.left();
    let place = Rect::from_x_y_ranges(left..=left + space::MARGIN, top..=bottom);
    let response = button(ui, place, LaneGroup::Reorder, false, requests);
    input::show_focus(ui, &response, part.area);
    let color = match response.hovered() {
        true => scene.palette.strong,
        false => scene.palette.weak,
    };
    fold_icon(&ui.painter_at(ui.clip_rect()), place, false, color);
}

pub(super) fn button(
    ui: &Ui,
    place: Rect,
    group: LaneGroup,
    folded: bool,
    requests: &mut Requests,
) -> Response {
    let response = ui.interact(place, ui.scope_id().with(("fold", group)), Sense::click());
    let verb = if folded { say!("Unfold") } else { say!("Fold") };
    let name = say!("{verb} {}", group.label().to_lowercase());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
    if response.clicked() {
        requests.commands.push(Command::Fold(group));
    }
    let tip = format!("{name}\n{}", group.about());
    response
        .on_hover_cursor(CursorIcon::PointingHand)
        .on_hover_text(tip)
}

/// Draws a triangle that points right if folded, and down otherwise.
pub(super) fn fold_icon(painter: &Painter, place: Rect, folded: bool, color: Color32) {
    let centre = pos2(place.left() + space::MARGIN / 2.0, place.center().y);
    let at = |x: f32, y: f32| -> Pos2 { centre + [x * ICON_SIZE, y * ICON_SIZE].into() };
    let corners = match folded {
        true => vec![at(-0.7, -1.0), at(1.0, 0.0), at(-0.7, 1.0)],
        false => vec![at(-1.0, -0.7), at(1.0, -0.7), at(0.0, 1.0)],
    };
    painter.add(Shape::convex_polygon(corners, color, Stroke::NONE));
}
