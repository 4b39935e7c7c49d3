//! Entries of a drop-down. One that is chosen closes it, by mouse or by key.

use egui::{Ui, WidgetText};

/// An entry; true if it was chosen now.
pub fn entry(ui: &mut Ui, is_chosen: bool, text: impl Into<WidgetText>) -> bool {
    let clicked = ui.selectable_label(is_chosen, text.into()).clicked();
    // By itself it closes only for a click of the pointer: after Enter it stayed open.
    if clicked {
        ui.close();
    }
    clicked
}

/// An entry that sets `current` to `value`.
pub fn value<V: PartialEq>(ui: &mut Ui, current: &mut V, value: V, text: impl Into<WidgetText>) {
    if entry(ui, *current == value, text) {
        *current = value;
    }
}
