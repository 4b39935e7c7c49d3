//! Sheets: windows in the middle of the screen, above all others.

use egui::{Align2, Ui, Window};

/// Free space to the left and right of a sheet together, points.
const SIDE_MARGINS: f32 = 48.0;

/// Shows a sheet with this title. Returns false if the user closes it.
pub fn sheet(ui: &Ui, title: &str, contents: impl FnOnce(&mut Ui)) -> bool {
    let mut is_open = true;
    Window::new(title)
        .open(&mut is_open)
        .collapsible(false)
        .resizable(false)
        .anchor(Align2::CENTER_CENTER, [0.0, 0.0])
        .show(ui.ctx(), contents);
    is_open
}

/// Returns the maximum width of the contents of a sheet, points.
pub fn max_width(ui: &Ui) -> f32 {
    ui.ctx().content_rect().width() - SIDE_MARGINS
}
