//! Placement of player parts.

use egui::{Rect, Ui, UiBuilder};

/// Shows `content` in its own area.
pub fn show_in(ui: &mut Ui, room: Rect, content: impl FnOnce(&mut Ui)) {
    ui.scope_builder(UiBuilder::new().max_rect(room), content);
}
