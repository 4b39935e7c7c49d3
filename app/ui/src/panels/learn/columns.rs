//! Columns of the player.

use egui::{Rect, Ui};

use crate::theme::space;

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
