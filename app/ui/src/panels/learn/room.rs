//! Where parts of the player stand.

use egui::{Rect, Ui, UiBuilder};

/// A part of the player that has a room of its own.
pub fn within(ui: &mut Ui, room: Rect, content: impl FnOnce(&mut Ui)) {
    ui.scope_builder(UiBuilder::new().max_rect(room), content);
}
