//! Texts of lessons, and the areas of the player. `names` of PyTorch have a monospace font.

use egui::text::{LayoutJob, TextFormat};
use egui::{Color32, Label, Rect, Response, Ui, UiBuilder};
use loadscope_model::state::State;

use crate::theme::{Palette, heading, mono, sans, size, space};

/// Returns the text size of a lesson, points.
pub fn body(state: &State) -> f32 {
    match state.prefs.learned.lecture {
        true => size::LECTURE,
        false => size::LESSON,
    }
}

/// Formats a text that contains `names`.
pub fn rich(ui: &Ui, text: &str, points: f32, color: Color32) -> LayoutJob {
    let palette = Palette::of(ui);
    let mut job = LayoutJob::default();
    for (k, part) in text.split('`').enumerate() {
        let format = match k % 2 {
            0 => TextFormat::simple(sans(points), color),
            _ => TextFormat {
                background: palette.hovered(),
                ..TextFormat::simple(mono(points - 1.0), palette.strong)
            },
        };
        let format = TextFormat {
            line_height: Some((points * 1.42).round()),
            ..format
        };
        job.append(part, 0.0, format);
    }
    job
}

/// Returns the text without backquotes, for screen readers and button names.
pub fn plain(text: &str) -> String {
    text.replace('`', "")
}

/// Shows a paragraph.
pub fn paragraph(ui: &mut Ui, text: &str, points: f32, color: Color32) -> Response {
    let job = rich(ui, text, points, color);
    ui.add(Label::new(job).wrap().selectable(true))
}

/// Shows a short line in heading style.
pub fn line(ui: &mut Ui, text: &str, points: f32) -> Response {
    let strong = Palette::of(ui).strong;
    let mut job = LayoutJob::default();
    job.append(text, 0.0, TextFormat::simple(heading(points), strong));
    ui.add(Label::new(job).wrap())
}

pub(super) fn width_of_answers(width: f32) -> f32 {
    (width * 0.36).clamp(228.0, 440.0)
}

/// Returns the areas for the text and the answers, below a line of height `head`. Without answers, the right column contains only the
/// buttons.
pub(super) fn columns(ui: &Ui, head: f32, has_answers: bool) -> (Rect, Rect) {
    let mut room = ui.max_rect();
    room.min.y += head;
    let right = match has_answers {
        true => width_of_answers(room.width()),
        false => 250.0,
    };
    let (text, answers) = room.split_left_right_at_x(room.right() - right);
    let mut text = text;
    text.max.x -= space::GROUP;
    (text, answers)
}

/// Shows `content` in its own area.
pub fn show_in(ui: &mut Ui, room: Rect, content: impl FnOnce(&mut Ui)) {
    ui.scope_builder(UiBuilder::new().max_rect(room), content);
}
