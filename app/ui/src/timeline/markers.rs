//! Markers: a flag on the ruler and a line through all lanes.

use std::sync::Arc;

use egui::{
    CursorIcon, Galley, Painter, PointerButton, Popup, PopupCloseBehavior, Rangef, Rect, Response,
    Role, Sense, Stroke, TextEdit, Ui, WidgetInfo,
};

use super::input::{self, Requests};
use super::scene::Scene;
use crate::theme::{self, size};
use loadscope_model::command::Command;
use loadscope_model::markers::{Marker, MarkerEdit};
use loadscope_model::view::Cursor;
use loadscope_words::say;

/// Maximum length of a name on a flag, characters.
const LONGEST: usize = 16;

/// Width of the name field, points.
const WIDTH: f32 = 160.0;

/// Flag of a marker on the ruler.
pub(super) struct Flag<'a> {
    marker: &'a Marker,
    text: Arc<Galley>,
    pub place: Rect,
}

/// Returns the flags of the visible markers.
pub(super) fn flags<'a>(painter: &Painter, strip: Rect, scene: &Scene<'a>) -> Vec<Flag<'a>> {
    let markers = scene.state.session.markers.all().iter();
    let seen = markers.filter(|m| scene.axis.shows(m.at));
    let flag = |marker: &'a Marker| {
        let mut name = marker.label();
        if name.chars().count() > LONGEST {
            name = name.chars().take(LONGEST - 1).chain(['…']).collect();
        }
        let text = painter.layout_no_wrap(name, theme::sans(size::SMALL), scene.palette.panel);
        let left = scene.axis.x(marker.at);
        // A flag that would cross the right edge points left.
        let width = text.size().x + 8.0;
        let left = if left + width > strip.right() {
            left + 1.0 - width
        } else {
            left
        };
        let height = Rangef::new(strip.top() + 3.0, strip.bottom() - 4.0);
        Flag {
            marker,
            text,
            place: Rect::from_x_y_ranges(left..=left + width, height),
        }
    };
    seen.map(flag).collect()
}

/// Draws the flags and lets the user drag them.
pub(super) fn show(
    ui: &Ui,
    painter: &Painter,
    strip: Rect,
    flags: &[Flag<'_>],
    scene: &Scene<'_>,
    requests: &mut Requests,
) {
    let palette = scene.palette;
    for flag in flags {
        let marker = flag.marker;
        let id = ui.scope_id().with(("marker", marker.number));
        let response = ui.interact(flag.place, id, Sense::click_and_drag());
        let name = say!("Marker {}", marker.label());
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
        let color = if response.hovered() || response.dragged() {
            palette.strong
        } else {
            palette.text
        };
        painter.rect_filled(flag.place, 2.0, color);
        let pole = Rangef::new(flag.place.top(), strip.bottom());
        painter.vline(scene.axis.x(marker.at) + 0.5, pole, Stroke::new(1.0, color));
        let at = flag.place.center() - flag.text.size() / 2.0;
        painter.galley(at, Arc::clone(&flag.text), palette.panel);
        input::show_focus(ui, &response, strip);
        menu(&response, marker, requests);
        if response.clicked() {
            requests
                .commands
                .push(Command::Cursor(Cursor::At(marker.at)));
        } else if response.dragged_by(PointerButton::Primary)
            && let Some(pointer) = response.interact_pointer_pos()
        {
            let at = scene.axis.time(scene.axis.range.clamp(pointer.x));
            let at = at.clamp(
                loadscope_trace::Nanos::ZERO,
                scene.state.session.run.whole().end(),
            );
            requests
                .commands
                .push(Command::EditMarker(MarkerEdit::Move(marker.number, at)));
        }
        let tip = say!(
            "{name} at {}\nClick: go there. Drag: move it. Right-click: menu.",
            scene.axis.exact(marker.at)
        );
        response
            .on_hover_cursor(CursorIcon::PointingHand)
            .on_hover_text(tip);
    }
}

/// Shows the menu of a marker.
fn menu(response: &Response, marker: &Marker, requests: &mut Requests) {
    let menu = Popup::context_menu(response);
    // A click into the text field must not close the menu.
    let menu = menu.close_behavior(PopupCloseBehavior::CloseOnClickOutside);
    menu.show(|ui| {
        let mut ask = |command: Command| requests.commands.push(command);
        let mut name = marker.name.clone();
        let field = TextEdit::singleline(&mut name);
        let field = ui.add(field.hint_text(say!("Marker name")).desired_width(WIDTH));
        let label = say!("Name of marker {}", marker.number);
        field.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, &label));
        if name != marker.name {
            ask(Command::EditMarker(MarkerEdit::Rename(marker.number, name)));
        }
        if ui.button(say!("Go to the marker")).clicked() {
            ask(Command::Cursor(Cursor::At(marker.at)));
            ui.close();
        }
        if ui.button(say!("Remove marker")).clicked() {
            ask(Command::EditMarker(MarkerEdit::Remove(marker.number)));
            ui.close();
        }
        if ui.button(say!("Remove all markers")).clicked() {
            ask(Command::EditMarker(MarkerEdit::Clear));
            ui.close();
        }
    });
}

/// Draws the line of each marker through the lanes.
pub(super) fn paint_lines(painter: &Painter, height: Rangef, scene: &Scene<'_>) {
    let stroke = Stroke::new(1.0, scene.palette.text.gamma_multiply(0.75));
    for marker in scene.state.session.markers.all() {
        if scene.axis.shows(marker.at) {
            painter.vline(scene.axis.x(marker.at) + 0.5, height, stroke);
        }
    }
}
